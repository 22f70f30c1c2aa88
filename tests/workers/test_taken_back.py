"""Reported payments are revoked only if the chain has another block at the payment's position."""

from datetime import timedelta
from typing import Any

import pytest

from specd.db import Database
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import State
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import street

PAID = ["payment_received", "processing", "paid"]


@pytest.mark.parametrize("first_null", range(1, 12))
def test_a_balancer_that_lacks_blocks_takes_nothing_back(
    database: Database, clock: FrozenClock, first_null: int
) -> None:
    """The newest block comes from a current node, others from a node without them, and logs from a
    lagging node.
    """
    with street(database, clock) as its:
        (endpoint,) = its.endpoints
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        assert its.told(invoice) == PAID
        real, asked = endpoint.ask, [0]

        def ask(method: str, params: list[Any]) -> Any:
            if method == "eth_getBlockByNumber" and params[0] != "latest" and params[0] != "0x0":
                asked[0] += 1
                if first_null <= asked[0] < first_null + 3:
                    return None
            return real(method, params)

        endpoint.ask = ask  # type: ignore[method-assign]
        endpoint.conduct = Conduct(lag=8, takes_hashes=False)
        its.restart()
        for count in (1, 6, 1, 7, 1, 1):
            clock.advance(seconds=2 * count)
            its.chain.mine(count, at=clock.now())
            its.watch()
        its.mine(5)
        assert its.told(invoice) == PAID
        assert its.ledger.checkpoint() == its.chain.height


def test_nodes_that_are_behind_at_random_take_nothing_back(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        its.endpoints[0].conduct = Conduct(lag=10, block_lag=10)
        invoices = []
        for _ in range(12):
            invoice = its.ledger.invoice(1000)
            invoices.append(invoice)
            its.mine(2)
            its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(150)
        for invoice in invoices:
            told = its.told(invoice)
            assert told[-1] == "paid"
            assert told.count("payment_received") == 1
            assert "payment_reorged" not in told


def test_a_head_that_went_back_takes_nothing_back(database: Database, clock: FrozenClock) -> None:
    with street(database, clock) as its:
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        assert its.told(invoice) == PAID
        # A reorganization that has only reached a block below the payment.
        its.chain.reorg(5, length=1, lose=True)
        its.watch()
        assert its.told(invoice) == PAID
        its.restart()
        its.mine(1)
        assert its.told(invoice)[3:] == [], "the block with the payment's number is not there yet"
        its.mine(4)
        assert its.told(invoice)[3:] == ["payment_reorged", "reorged"]


def test_a_transaction_that_moved_to_a_lower_block_counts_once(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        its.chain.reorg(5, length=1)
        its.mine(1)
        assert its.ledger.state(invoice) == State("processing", "reorged", 0, 1000)
        its.mine(3)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_fallback_on_another_branch_waits_for_the_endpoint_that_is_silent(
    database: Database, clock: FrozenClock, is_restarted: bool
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        first, second = its.endpoints
        fork = its.fork_of(depth=6, higher=3)
        second.conduct = Conduct(fork=fork)
        its.watch()
        assert its.told(invoice) == PAID
        first.conduct = Conduct(patience=True)
        if is_restarted:
            its.restart()
        its.wait(120, every=10)
        assert its.told(invoice) == PAID
        first.conduct = Conduct()
        its.wait(60, every=10)
        its.mine(3)
        assert its.told(invoice) == PAID
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_silence_ends_after_some_minutes(database: Database, clock: FrozenClock) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000, lifetime=timedelta(hours=2))
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        its.endpoints[1].conduct = Conduct(fork=its.fork_of(depth=6, higher=3))
        its.endpoints[0].conduct = Conduct(patience=True)
        its.wait(280, every=20)
        assert its.told(invoice) == PAID
        its.wait(120, every=20)
        assert its.told(invoice)[3:] == ["payment_reorged", "reorged"]


def test_a_payment_that_is_mined_again_after_the_expiry_is_reorged_and_late(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        invoice = its.ledger.invoice(1000, lifetime=timedelta(seconds=20))
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        its.chain.reorg(4)
        clock.advance(seconds=20)
        its.mine(4)
        assert its.told(invoice) == [
            *PAID,
            "payment_reorged",
            "payment_received",
            "reorged",
            "expired",
            "paid_late",
        ]
        assert its.ledger.state(invoice) == State("expired", "late", 1000, 0)
