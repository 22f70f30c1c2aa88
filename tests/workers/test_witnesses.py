"""A transfer that only one endpoint returns does not count while another endpoint disputes it."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import structlog.testing

from models.payment.rescans import rescan_invoice
from models.payment.tables import Invoice
from specd.db import Database
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from tests.workers.ledger import State
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import Street, street
from tests.workers.test_refuted_logs import STRANGER, forged

PAID = State("paid", "none", 1000, 0)
UNPAID = State("unpaid", "none", 0, 0)


def alerts_of(logs: Iterable[Mapping[str, Any]]) -> set[str]:
    return {each["event"] for each in logs if each.get("alert")}


def behind(its: Street, blocks: int) -> FakeChain:
    """Return the chain as seen by an endpoint that lags by some blocks."""
    chain = FakeChain(started_at=its.chain._blocks[0].block.timestamp)
    chain._blocks = its.chain._blocks[: its.chain.height + 1 - blocks]
    return chain


def mine_with(its: Street, invoice: Invoice, amount: int) -> str:
    """Mine two blocks and then one with a payment, which is not read yet. Return its hash."""
    its.mine(2)
    its.clock.advance(seconds=2)
    return its.chain.pay(invoice.deposit_address, amount, at=its.clock.now()).hash


@pytest.mark.parametrize(
    ("liar", "takes_hashes"), [(0, True), (1, False), in_all(0, False), in_all(1, True)]
)
def test_an_inflated_amount_pays_no_invoice_and_stops_no_other(
    database: Database, clock: FrozenClock, liar: int, takes_hashes: bool
) -> None:
    with (
        street(database, clock, endpoints=2, block_seconds=12) as its,
        structlog.testing.capture_logs() as logs,
    ):
        invoice, honest = its.ledger.invoice(1000), its.ledger.invoice(1000)
        tx_hash = mine_with(its, invoice, 10)
        for endpoint in its.endpoints:
            endpoint.conduct = Conduct(takes_hashes=takes_hashes)
        its.endpoints[liar].conduct.inflated = {tx_hash: 100}
        its.watch()
        its.chain.pay(honest.deposit_address, 1000, hold=True)
        its.mine(3)
        assert its.ledger.state(honest) == PAID
        its.mine(20)
        assert its.told(invoice) == []
        assert its.ledger.checkpoint() == its.chain.height
        assert "chain_log_disputed" in alerts_of(logs)
        # As after an alert: the operator has removed the forging endpoint.
        its.endpoints[liar].conduct = Conduct()
        its.ledger.database.run(lambda session: rescan_invoice(session, invoice.id))
        its.watch()
        assert its.ledger.state(invoice) == State("unpaid", "partial", 10, 0)


@pytest.mark.parametrize("liar", [0, 1, 2])
def test_two_endpoints_overrule_one(database: Database, clock: FrozenClock, liar: int) -> None:
    with street(database, clock, endpoints=3, block_seconds=12) as its:
        invoice = its.ledger.invoice(1000)
        tx_hash = mine_with(its, invoice, 10)
        its.endpoints[liar].conduct = Conduct(inflated={tx_hash: 100})
        its.watch()
        its.mine(3)
        assert its.ledger.state(invoice) == State("unpaid", "partial", 10, 0)
        its.mine(20)
        assert its.ledger.state(invoice) == State("unpaid", "partial", 10, 0)


def test_a_log_that_no_other_endpoint_shows_pays_nothing_where_blooms_prove_nothing(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=2, block_seconds=12) as its:
        for endpoint in its.endpoints:
            endpoint.shows_blooms = False
        invoice = its.ledger.invoice(1000)
        its.mine(2)
        clock.advance(seconds=2)
        its.chain.pay(STRANGER, 5, at=clock.now())
        its.endpoints[0].conduct = Conduct(forged=(forged(its, invoice, its.chain.height),))
        its.mine(20)
        assert its.told(invoice) == []
        assert its.ledger.checkpoint() == its.chain.height


def test_a_payment_counts_when_the_other_endpoint_only_hides_the_log(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000)
        tx_hash = mine_with(its, invoice, 1000)
        its.endpoints[1].always_hides = {tx_hash}
        its.watch()
        its.mine(2)
        assert its.ledger.state(invoice) == PAID


def test_a_payment_waits_for_an_endpoint_that_is_a_little_behind(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000, confirmations=1)
        mine_with(its, invoice, 1000)
        its.endpoints[1].conduct = Conduct(fork=behind(its, 2))
        its.watch()
        assert its.ledger.state(invoice) == UNPAID
        its.endpoints[1].conduct = Conduct()
        its.wait(4)
        assert its.ledger.state(invoice) == PAID


@pytest.mark.parametrize(
    "conduct", [Conduct(patience=True), Conduct(failing=1.0), Conduct(keeps=0)]
)
def test_a_payment_counts_immediately_when_no_other_endpoint_can_answer(
    database: Database, clock: FrozenClock, conduct: Conduct
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000, confirmations=1)
        mine_with(its, invoice, 1000)
        its.endpoints[1].conduct = conduct
        its.watch()
        assert its.ledger.state(invoice) == PAID


def test_an_endpoint_that_stays_behind_holds_up_a_payment_for_two_minutes_at_most(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000, confirmations=1)
        mine_with(its, invoice, 1000)
        its.endpoints[1].conduct = Conduct(fork=behind(its, 2))
        its.wait(120)
        assert its.ledger.state(invoice) == PAID


def test_forged_blocks_of_one_endpoint_pay_no_invoice(
    database: Database, clock: FrozenClock
) -> None:
    with (
        street(database, clock, endpoints=2, block_seconds=12) as its,
        structlog.testing.capture_logs() as logs,
    ):
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        fork = behind(its, 0)
        fork._serial = 10**6
        fork.pay(invoice.deposit_address, 1000, at=clock.now())
        its.endpoints[0].conduct = Conduct(fork=fork)
        for _ in range(20):
            fork.mine(at=clock.now())
            its.mine()
        assert its.told(invoice) == []
        assert "chain_endpoints_disagree" in alerts_of(logs)


def test_forged_blocks_stop_no_chain_that_two_endpoints_show(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, endpoints=3) as its:
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        # It continues the chain, so no earlier reading contradicts it.
        fork = behind(its, 0)
        fork._serial = 10**6
        its.endpoints[0].conduct = Conduct(fork=fork)
        for number in range(30):
            if number == 10:
                its.chain.pay(invoice.deposit_address, 1000, hold=True)
            fork.mine(at=clock.now())
            its.mine()
        assert its.ledger.state(invoice) == PAID
        assert its.ledger.checkpoint() == its.chain.height
