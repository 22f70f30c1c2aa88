"""A permanently failing reading ends, and does not delay other invoices, lists or chains
meanwhile.
"""

from datetime import timedelta

import pytest
from sqlalchemy import select

from models.payment.rescans import rescan_invoice
from models.payment.tables import ChainHead
from specd.db import Database
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from tests.workers.ledger import State
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import Street, street

MINUTE = timedelta(minutes=1)
PRUNED = Conduct(keeps=30)
FIRST, LAST = "0x" + "0" * 39 + "1", "0x" + "9" * 40
"""Tokens, in order among others."""


def given_up(its: Street) -> int:
    with its.ledger.database.reading() as reader:
        return reader.scalar(select(ChainHead.readings_given_up)) or 0


@pytest.fixture(autouse=True)
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.chain_books.NEWCOMERS_AT_ONCE", 3)


def test_a_new_invoice_is_read_while_many_cannot_be_read_again(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=2, block_seconds=12) as its:
        old = [its.ledger.invoice(lifetime=MINUTE, monitoring=3 * MINUTE) for _ in range(5)]
        for endpoint in its.endpoints:
            endpoint.conduct = Conduct(keeps=3)
        its.mine(12)
        new = its.ledger.invoice(1000)
        its.chain.pay(new.deposit_address, 1000, at=clock.now())
        its.mine()
        assert its.ledger.state(new) == State("paid", "none", 1000, 0)
        its.mine(64)
        assert {its.ledger.state(each).status for each in old} == {"expired"}
        assert [its.told(each) for each in old] == [["expired"]] * 5
        assert given_up(its) >= 5
        asked = its.endpoints[0].asked["eth_getLogs"]
        its.wait(60, every=12)
        assert its.endpoints[0].asked["eth_getLogs"] == asked, "nobody tries again"


def test_blocks_that_are_left_are_read_after_those_that_are_deleted(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, block_seconds=10) as its:
        its.endpoints[0].shows_blooms = False
        late = its.ledger.invoice(1000, lifetime=5 * MINUTE, monitoring=10 * MINUTE)
        its.mine(28)
        paid = its.chain.pay(late.deposit_address, 1000, at=clock.now())
        its.endpoints[0].conduct = Conduct(keeps=20, hidden=frozenset({paid.hash}))
        its.mine()
        assert its.told(late) == []
        its.endpoints[0].conduct = Conduct(keeps=20)
        its.mine(16)
        assert its.ledger.state(late) == State("paid", "none", 1000, 0)


def test_an_endpoint_that_keeps_its_logs_is_enough(database: Database, clock: FrozenClock) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000, lifetime=MINUTE, monitoring=3 * MINUTE)
        its.mine(20)
        its.endpoints[0].conduct = PRUNED
        its.mine(40)
        assert its.ledger.state(invoice) == State("expired", "none", 0, 0)
        assert given_up(its) == 0


@pytest.mark.parametrize("many", [500, 0], ids=["addresses", "all receivers"])
def test_blocks_that_were_deleted_before_they_were_read_do_not_stop_a_chain(
    database: Database, clock: FrozenClock, many: int
) -> None:
    with street(database, clock, many=many) as its:
        old = its.ledger.invoice(1000)
        clock.advance(seconds=200)
        for _ in range(80):
            its.chain.mine(at=clock.now())
        its.endpoints[0].conduct = PRUNED
        its.watch()
        its.wait(110)
        its.chain.pay(old.deposit_address, 1000, at=clock.now())
        its.mine()
        assert its.ledger.state(old) == State("paid", "none", 1000, 0)


def test_all_endpoints_are_read_when_an_operator_asks_for_a_rescan(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000)
        its.mine(2)
        paid = its.chain.pay(invoice.deposit_address, 1000, at=clock.now())
        its.endpoints[0].always_hides.add(paid.hash)
        for endpoint in its.endpoints:
            endpoint.shows_blooms = False
        its.mine(5)
        assert its.ledger.state(invoice) == State("unpaid", "none", 0, 0)
        its.ledger.database.run(lambda session: rescan_invoice(session, invoice.id))
        its.watch()
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize(
    ("bad", "many"), [(FIRST, 500), (LAST, 0), in_all(FIRST, 0), in_all(LAST, 500)]
)
def test_token_that_always_fails_does_not_stop_others(
    database: Database, clock: FrozenClock, bad: str, many: int
) -> None:
    with street(database, clock, endpoints=2, many=many, block_seconds=12) as its:
        its.ledger.offer(bad)
        stuck, good = its.ledger.invoice(token=bad), its.ledger.invoice()
        its.mine(2)
        for endpoint in its.endpoints:
            endpoint.conduct = Conduct(refused_token=bad)
        its.chain.pay(good.deposit_address, 1000, at=clock.now())
        its.chain.pay(stuck.deposit_address, 1000, token=bad, at=clock.now())
        its.mine(6)
        assert its.ledger.state(good) == State("paid", "none", 1000, 0)
        later = [its.ledger.invoice(token=bad), its.ledger.invoice()]
        for invoice in later:
            its.chain.pay(
                invoice.deposit_address, 1000, token=invoice.token_address, at=clock.now()
            )
        its.mine(4)
        assert its.ledger.state(later[1]) == State("paid", "none", 1000, 0)
        assert its.told(stuck) == its.told(later[0]) == []
        for endpoint in its.endpoints:
            endpoint.conduct = Conduct()
        its.mine(30)
        for invoice in (stuck, later[0]):
            assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)
        assert given_up(its) == 0


@pytest.mark.parametrize("above", [2, in_all(40), 5000])
def test_head_that_nobody_has_mined_stops_no_chain_and_confirms_nothing(
    database: Database, clock: FrozenClock, above: int
) -> None:
    with street(database, clock, endpoints=2, block_seconds=12) as its:
        invoice = its.ledger.invoice(1000, confirmations=4)
        its.mine(2)
        its.endpoints[0].conduct = Conduct(above=above)
        its.chain.pay(invoice.deposit_address, 1000, at=clock.now())
        its.watch()
        assert its.ledger.state(invoice).paid == 0
        its.mine(12)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)
