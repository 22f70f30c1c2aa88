"""A transfer is one log of one transaction of one block, whatever number a node gives it."""

import pytest
from sqlalchemy import update

from models.database import Database
from models.payment.tables import Invoice
from tests.support.fake_chain import PAYER, TOKEN, FakeLog
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import State
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import street

STRANGER = "0x" + "8" * 40


@pytest.mark.parametrize("many", [500, 0])
def test_payments_of_one_block_count_when_each_transaction_numbers_its_logs(
    database: Database, clock: FrozenClock, many: int
) -> None:
    with street(database, clock, many=many) as its:
        its.chain.numbers_per_transaction = True
        first, second = its.ledger.invoice(1000), its.ledger.invoice(50)
        its.mine(2)
        its.chain.pay(STRANGER, 7, hold=True)
        its.chain.pay(first.deposit_address, 600, hold=True)
        its.chain.pay(first.deposit_address, 400, hold=True)
        its.chain.transact(
            [FakeLog(TOKEN, PAYER, second.deposit_address, each) for each in (20, 30)], hold=True
        )
        its.mine(3)
        assert its.ledger.state(first) == State("paid", "none", 1000, 0)
        assert its.ledger.state(second) == State("paid", "none", 50, 0)
        assert its.told(second) == [
            "payment_received",
            "payment_received",
            "processing",
            "paid",
        ]


@pytest.mark.parametrize("reading", ["newcomer", "read alone", "second reading"])
def test_head_that_an_endpoint_only_claims_confirms_nothing(
    database: Database, clock: FrozenClock, reading: str
) -> None:
    with street(database, clock) as its:
        (endpoint,) = its.endpoints
        endpoint.shows_blooms = False
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        paid = its.chain.pay(invoice.deposit_address, 1000, hold=True)
        endpoint.conduct = Conduct(hidden=frozenset([paid.hash]))
        its.mine()
        assert its.ledger.state(invoice) == State("unpaid", "none", 0, 0)
        endpoint.conduct = Conduct(above=60)
        if reading != "second reading":
            values = {"catch_up_block": 1, "rereads": int(reading == "read alone")}
            database.run(lambda session: session.execute(update(Invoice).values(values)))
        its.wait(90)
        assert its.ledger.state(invoice) == State("processing", "none", 0, 1000)
        endpoint.conduct = Conduct()
        its.mine()
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)
