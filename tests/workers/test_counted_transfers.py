"""A transfer is one log of one transaction of one block, whatever number a node gives it."""

import pytest

from models.database import Database
from tests.support.fake_chain import PAYER, TOKEN, FakeLog
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import State
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
