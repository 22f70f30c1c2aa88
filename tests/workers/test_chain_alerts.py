"""A state of a chain is logged when it begins, not at every poll."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import structlog.testing

from models.payment.rescans import rescan_invoice
from specd.db import Database
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import Street, street
from tests.workers.test_refuted_logs import forged

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def keeper_is_silent(its: Street) -> str:
    its.endpoints[1].conduct = Conduct(fork=its.fork_of(depth=6, higher=3))
    its.endpoints[0].conduct = Conduct(patience=True)
    return "chain_waits_for_endpoint"


def other_branch(its: Street) -> str:
    its.endpoints[1].conduct = Conduct(fork=its.fork_of(depth=2, higher=60))
    its.mine(50)
    return "chain_endpoints_disagree"


def other_chain(its: Street) -> str:
    stranger = FakeChain(started_at=its.clock.now(), block_seconds=3)
    stranger._serial = 10**6
    stranger._blocks.clear()
    stranger._append(its.clock.now(), [])
    for endpoint in its.endpoints:
        endpoint.conduct = Conduct(fork=stranger)
    its.restart()
    return "chain_replaced"


def silence(its: Street) -> str:
    its.endpoints[0].conduct = Conduct(patience=True)
    return "chain_endpoint_passed_over"


def lag(its: Street) -> str:
    behind = FakeChain(started_at=its.clock.now())
    behind._blocks = its.chain._blocks[:-2]
    its.endpoints[0].conduct = Conduct(fork=behind)
    return "chain_endpoint_passed_over"


def all_lag(its: Street) -> str:
    behind = FakeChain(started_at=its.clock.now())
    behind._blocks = its.chain._blocks[:-2]
    for endpoint in its.endpoints:
        endpoint.conduct = Conduct(fork=behind)
    return "endpoint_is_behind"


def forged_log(its: Street) -> str:
    invoice = its.ledger.invoice(500)
    its.mine(2)
    its.endpoints[0].conduct = Conduct(forged=(forged(its, invoice, its.chain.height),))
    its.restart()
    its.ledger.invoice(500)
    for _ in range(5):
        its.ledger.database.run(lambda session: rescan_invoice(session, invoice.id))
        its.wait(4)
    return "chain_log_refuted"


@pytest.mark.parametrize(
    "begin", [keeper_is_silent, other_branch, other_chain, silence, lag, all_lag, forged_log]
)
def test_state_has_a_line_when_it_begins(
    database: Database, clock: FrozenClock, begin: Callable[[Street], str]
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice = its.ledger.invoice(1000)
        its.mine(3)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        with structlog.testing.capture_logs() as logs:
            event = begin(its)
            its.wait(120)
        told: Counter[Any] = Counter(
            each["event"] for each in logs if each["log_level"] in ("warning", "error")
        )
        assert told[event] == 1
        assert max(told.values()) == 1, "nothing else repeats"


def test_state_that_comes_again_has_another_line(database: Database, clock: FrozenClock) -> None:
    with street(database, clock, endpoints=2) as its:
        its.mine(3)
        with structlog.testing.capture_logs() as logs:
            for _ in range(3):
                silence(its)
                its.wait(40)
                its.endpoints[0].conduct = Conduct()
                its.wait(60)
        assert [each["event"] for each in logs].count("chain_endpoint_passed_over") == 3
