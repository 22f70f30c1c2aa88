"""A block's header refutes forged logs of an endpoint, and no log of one endpoint stops a chain."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from sqlalchemy import select, update

from adapters.chain.reader import Transfer
from models.payment.rescans import rescan_invoice
from models.payment.tables import Invoice
from specd.db import Database
from tests.support.fake_chain import PAYER, TOKEN
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import State
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import Street, street

STRANGER = "0x" + "8" * 40


def forged(its: Street, invoice: Invoice, number: int) -> Transfer:
    return Transfer(
        token=TOKEN,
        sender=PAYER,
        receiver=invoice.deposit_address,
        amount=1000,
        tx_hash="0x" + "f" * 64,
        log_index=7,
        block_number=number,
        block_hash=its.chain._blocks[number].block.hash,
    )


@pytest.mark.parametrize("has_other_logs", [False, True])
@pytest.mark.parametrize("takes_hashes", [True, False])
def test_a_forged_log_pays_no_invoice(
    database: Database, clock: FrozenClock, has_other_logs: bool, takes_hashes: bool
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice, honest = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(2)
        clock.advance(seconds=2)
        if has_other_logs:
            its.chain.pay(STRANGER, 5, at=clock.now())
        else:
            its.chain.mine(at=clock.now())
        log = forged(its, invoice, its.chain.height)
        for endpoint in its.endpoints:
            endpoint.conduct = Conduct(forged=(log,), takes_hashes=takes_hashes)
        its.watch()
        its.chain.pay(honest.deposit_address, 1000, hold=True)
        its.mine(5)
        its.ledger.database.run(lambda session: rescan_invoice(session, invoice.id))
        its.mine(60)
        assert its.told(invoice) == []
        assert its.ledger.state(honest) == State("paid", "none", 1000, 0)
        assert its.ledger.checkpoint() == its.chain.height


def test_a_log_counts_on_a_chain_that_shows_no_blooms(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        its.endpoints[0].shows_blooms = False
        invoice = its.ledger.invoice(1000)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_log_of_a_block_that_is_not_on_the_chain_stops_nothing(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        invoice, honest = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(2)
        log = replace(forged(its, invoice, 2), block_hash="0x" + "e" * 64, block_number=5)
        its.endpoints[0].conduct = Conduct(forged=(log,), takes_hashes=False)
        its.chain.pay(honest.deposit_address, 1000, hold=True)
        its.mine(20)
        assert its.told(invoice) == []
        assert its.ledger.state(honest) == State("paid", "none", 1000, 0)
        assert its.ledger.checkpoint() == its.chain.height


def test_a_log_that_was_hidden_in_a_range_is_found_by_the_second_reading_soon(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, block_seconds=12) as its:
        its.endpoints[0].conduct = Conduct(takes_hashes=False)
        invoice = its.ledger.invoice(1000)
        its.mine(30)
        paid = its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.endpoints[0].conduct.hidden = frozenset({paid.hash})
        its.mine(2)
        its.endpoints[0].conduct.hidden = frozenset()
        its.mine(40)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize("lie", ["two branches", "ever another branch", "no block"])
def test_forged_logs_of_unknown_blocks_hold_up_no_invoice(
    database: Database, clock: FrozenClock, lie: str
) -> None:
    """Whatever one endpoint returns, new blocks and new invoices are read."""
    with street(database, clock, endpoints=2) as its:
        first, honest = its.endpoints[0], its.ledger.invoice(1000)
        its.mine(6)
        target = its.ledger.invoice(1000)
        number = its.chain.height + 1
        real, answers = first.ask, count()

        def ask(method: str, params: list[Any]) -> Any:
            if method == "eth_getBlockByNumber" and lie == "no block" and params[0] == hex(number):
                return None
            if method == "eth_getLogs":
                log = forged(its, target, 1)
                some = [replace(log, block_number=number + each, log_index=each) for each in (0, 1)]
                hashes = [f"0x{each:064x}" for each in (1, 2)]
                if lie == "ever another branch":
                    hashes = [f"0x{next(answers) + 10**6:064x}" for _ in some]
                if lie == "no block" and number <= its.chain.height:
                    hashes[0] = its.chain._blocks[number].block.hash
                first.conduct.forged = tuple(
                    replace(each, block_hash=its_hash)
                    for each, its_hash in zip(some, hashes, strict=True)
                )
            return real(method, params)

        first.ask = ask  # type: ignore[method-assign]
        first.conduct = Conduct(takes_hashes=False)
        its.restart()
        its.mine(8)
        new = its.ledger.invoice(1000)
        its.chain.pay(honest.deposit_address, 1000, hold=True)
        its.mine(12)
        its.chain.pay(new.deposit_address, 1000, hold=True)
        its.mine(12)
        assert its.ledger.state(honest) == State("paid", "none", 1000, 0)
        assert its.ledger.state(new) == State("paid", "none", 1000, 0)
        assert its.told(target) == []


@pytest.mark.parametrize("reading", ["newcomers", "read alone"])
def test_forged_log_of_a_block_that_its_endpoint_lacks_holds_up_no_invoice(
    database: Database, clock: FrozenClock, reading: str
) -> None:
    with street(database, clock, endpoints=2) as its:
        first = its.endpoints[0]
        target, new = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(10)
        log, real = forged(its, target, 5), first.ask

        def ask(method: str, params: list[Any]) -> Any:
            is_hidden = method == "eth_getBlockByNumber" and params[0] == hex(5)
            return None if is_hidden else real(method, params)

        first.ask = ask  # type: ignore[method-assign]
        first.conduct = Conduct(forged=(log,))
        its.restart()
        column = "catch_up_block" if reading == "newcomers" else "reread_block"
        database.run(lambda session: session.execute(update(Invoice).values({column: 1})))
        its.chain.pay(new.deposit_address, 1000, hold=True)
        its.mine(4)
        assert its.ledger.state(new) == State("paid", "none", 1000, 0)
        for _ in range(10):
            its.wait(20, every=10)
            its.mine()
        with database.reading() as reader:
            waiting = reader.execute(select(Invoice.catch_up_block, Invoice.reread_block)).all()
        assert waiting == [(None, None)] * 2, "both readings have ended"
        assert its.told(target) == []
