"""A transfer is one log of one transaction of one block, whatever number a node gives it."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from models.payment.rescans import rescan_invoice
from models.payment.tables import ChainHead, Invoice
from specd.db import Database
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
        is_deep = reading == "second reading"
        invoice = its.ledger.invoice(1000, confirmations=60 if is_deep else 2)
        its.mine(3)
        paid = its.chain.pay(invoice.deposit_address, 1000, hold=True)
        endpoint.conduct = Conduct(hidden=frozenset([paid.hash]))
        for _ in range(50 if is_deep else 1):
            its.chain.mine(at=clock.now())
            its.watch()
        assert its.ledger.state(invoice) == State("unpaid", "none", 0, 0)
        endpoint.conduct = Conduct(above=60)
        if not is_deep:
            values = {"catch_up_block": 1, "rereads": int(reading == "read alone")}
            database.run(lambda session: session.execute(update(Invoice).values(values)))
        its.wait(90)
        assert its.ledger.state(invoice) == State("processing", "none", 0, 1000)
        endpoint.conduct = Conduct()
        its.mine(10 if is_deep else 1)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_head_that_an_endpoint_only_claims_is_not_stored_and_confirms_nothing_at_expiry(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        (endpoint,) = its.endpoints
        invoice = its.ledger.invoice(1000, confirmations=40, lifetime=timedelta(seconds=20))
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 300, hold=True)
        its.mine(4)
        endpoint.conduct = Conduct(above=60)
        its.ledger.invoice(1000)
        its.wait(30)
        endpoint.conduct = Conduct()
        its.mine(8)
        endpoint.conduct = Conduct(above=60)
        its.wait(60)
        while its.expire():
            pass
        assert its.ledger.state(invoice) == State("expired", "partial", 0, 300)
        with database.reading() as reader:
            head = reader.scalar(select(ChainHead.head_number))
        assert head == its.ledger.checkpoint()


def test_head_that_an_endpoint_only_claims_makes_no_block_deep(
    database: Database, clock: FrozenClock
) -> None:
    """A second reading of young blocks would be the last one for half an hour."""
    with street(database, clock) as its:
        (endpoint,) = its.endpoints
        endpoint.shows_blooms = False
        invoice = its.ledger.invoice(1000)
        its.mine(12)
        paid = its.chain.pay(invoice.deposit_address, 1000, hold=True)
        endpoint.conduct = Conduct(hidden=frozenset([paid.hash]))
        its.mine(2)
        endpoint.conduct = Conduct(hidden=frozenset([paid.hash]), above=60)
        its.wait(120)
        endpoint.conduct = Conduct()
        its.mine(45)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_head_that_continues_the_chain_and_that_nobody_mined_confirms_nothing(
    database: Database, clock: FrozenClock
) -> None:
    """An endpoint without requests by hash proves a block only by its number."""
    with street(database, clock) as its:
        (endpoint,) = its.endpoints
        invoice = its.ledger.invoice(1000)
        endpoint.conduct = Conduct(takes_hashes=False)
        its.mine(5)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine()
        assert its.ledger.state(invoice) == State("processing", "none", 0, 1000)
        real, newest = endpoint.ask, its.chain.head()

        def ask(method: str, params: list[Any]) -> Any:
            answer = real(method, params)
            if params[:1] == ["latest"]:
                number = hex(newest.number + 1)
                answer |= {"number": number, "hash": "0x" + "e" * 64, "parentHash": newest.hash}
            return answer

        endpoint.ask = ask  # type: ignore[method-assign]
        its.restart()
        its.wait(30)
        assert its.ledger.state(invoice) == State("processing", "none", 0, 1000)
        endpoint.ask = real  # type: ignore[method-assign]
        its.restart()
        its.mine(3)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize("other", [0, 1])
def test_log_counts_once_although_endpoints_number_it_in_different_ways(
    database: Database, clock: FrozenClock, other: int
) -> None:
    with street(database, clock, endpoints=2) as its:
        its.endpoints[other].numbers_from = 1
        its.restart()
        first, second = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(3)
        # One transaction pays the first invoice twice and the second one once, with equal amounts.
        receivers = [first.deposit_address, first.deposit_address, second.deposit_address]
        its.chain.transact([FakeLog(TOKEN, PAYER, each, 400) for each in receivers], hold=True)
        its.mine(3)
        its.mine(50)
        for invoice in (second, first):
            database.run(lambda session, its_id=invoice.id: rescan_invoice(session, its_id))
        its.wait(20, every=5)
        assert its.ledger.state(first) == State("unpaid", "partial", 800, 0)
        assert its.ledger.state(second) == State("unpaid", "partial", 400, 0)
        assert its.told(first).count("payment_received") == 2


def test_log_counts_although_another_invoice_has_its_number(
    database: Database, clock: FrozenClock
) -> None:
    """At an earlier reading, a node gave this number to a log of the same transaction and
    amount.
    """
    with street(database, clock) as its:
        (endpoint,) = its.endpoints
        endpoint.shows_blooms = False
        hidden, seen = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(3)
        logs = [FakeLog(TOKEN, PAYER, each.deposit_address, 1000) for each in (hidden, seen)]
        its.chain.transact(logs, hold=True)
        real = endpoint.ask

        def ask(method: str, params: list[Any]) -> Any:
            answer = real(method, params)
            return answer[1:] if method == "eth_getLogs" else answer

        endpoint.ask = ask  # type: ignore[method-assign]
        its.restart()
        its.mine(3)
        assert its.ledger.state(seen) == State("paid", "none", 1000, 0)
        endpoint.ask = real  # type: ignore[method-assign]
        endpoint.numbers_from = 1
        its.restart()
        database.run(lambda session: rescan_invoice(session, hidden.id))
        its.wait(10)
        for invoice in (hidden, seen):
            assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)
            assert its.told(invoice).count("payment_received") == 1
