"""The cost of one block in statements, requests to the chain, rows and database steps.

It does not grow with closed invoices, nor with open ones if there are many.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, insert

from models.payment.tables import Invoice, Payment
from specd.db import Database
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import CHAIN_ID, Ledger, State, at, watch, watcher_of
from workers.chain_watcher import ChainWatcher

COUNTS = (10, 1_000, 10_000)
STEPS_PER_TICK = 50


@dataclass
class Cost:
    """`work` is in ticks of 50 SQLite virtual machine instructions; 0 on PostgreSQL."""

    statements: int = 0
    questions: int = 0
    receivers_asked_for: int = 0
    work: int = 0


@contextmanager
def counted(database: Database, chain: FakeChain) -> Iterator[Cost]:
    """Count statements and work until the end of the block, on connections opened inside."""
    cost = Cost()

    def on_statement(*_: Any) -> None:
        cost.statements += 1

    def on_connect(connection: Any, _: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_progress_handler(tick, STEPS_PER_TICK)

    def tick() -> int:
        cost.work += 1
        return 0

    database.dispose()
    event.listen(Engine, "before_cursor_execute", on_statement)
    event.listen(Engine, "connect", on_connect)
    asked = len(chain.asked)
    try:
        yield cost
    finally:
        event.remove(Engine, "before_cursor_execute", on_statement)
        event.remove(Engine, "connect", on_connect)
        database.dispose()
    questions = chain.asked[asked:]
    cost.questions = len(questions)
    cost.receivers_asked_for = sum(len(receivers or ()) for _, receivers, _, _ in questions)


def open_many(ledger: Ledger, count: int, *, closed: bool) -> None:
    """Insert invoices like the API, `closed` ones with a confirmed payment each."""
    first = ledger.invoice(1000)
    now = ledger.clock.now()
    begin = now - timedelta(days=9) if closed else now
    columns = {column.name: getattr(first, column.name) for column in Invoice.__table__.columns}
    rows = [
        columns
        | {
            "id": f"{number:08d}-0000-4000-8000-0000000000{'cc' if closed else '00'}",
            "external_order_id": f"{'old' if closed else 'new'}-{number}",
            "deposit_address": f"0x{'1' if closed else '2'}{number:039d}",
            "status": "paid" if closed else "unpaid",
            "paid_at": begin if closed else None,
            "catch_up_block": None,
            "rereads": 2 if closed else 0,
            "created_at": begin,
            "expires_at": begin + timedelta(hours=1),
            "monitoring_ends_at": begin + timedelta(hours=24),
        }
        for number in range(count)
    ]
    payments = [
        {
            "invoice_id": row["id"],
            "chain_id": row["chain_id"],
            "block_number": 1,
            "block_hash": f"0x{number:064d}",
            "block_timestamp": begin,
            "tx_hash": f"0x{number:064d}",
            "log_index": 0,
            "from_address": row["deposit_address"],
            "amount": 1000,
            "status": "confirmed",
            "late": False,
            "detected_at": begin,
        }
        for number, row in enumerate(rows)
    ]
    ledger.database.run(lambda session: session.execute(insert(Invoice.__table__), rows))
    if closed:
        ledger.database.run(lambda session: session.execute(insert(Payment), payments))


def cost_of_a_block(ledger: Ledger, *, count: int, closed: bool) -> Cost:
    """Return the cost of one block with one payment, with that many other invoices."""
    chain = FakeChain()
    watcher = watcher_of(ledger, chain)
    payer = ledger.invoice(1000)
    watch(watcher)
    open_many(ledger, count, closed=closed)
    watch(watcher)
    chain.pay(payer.deposit_address, 1000, at=at(60))
    with counted(ledger.database, chain) as cost:
        watch(watcher)
    chain.mine()
    watch(watcher)
    assert ledger.state(payer) == State("paid", "none", 1000, 0)
    return cost


@pytest.fixture
def costs(
    sqlite_template: Path,
    memory: Path,
    clock: FrozenClock,
) -> Callable[[bool], list[Cost]]:
    def measure(closed: bool) -> list[Cost]:
        found = []
        for count in COUNTS:
            path = memory / f"cost-{closed}-{count}.db"
            shutil.copy(sqlite_template, path)
            ledger = Ledger(Database(f"sqlite:///{path}"), clock)
            found.append(cost_of_a_block(ledger, count=count, closed=closed))
            ledger.database.dispose()
            print(f"{count:>6} {'closed' if closed else 'open'} invoices: {found[-1]}")
        return found

    return measure


def test_a_block_costs_the_same_however_many_invoices_are_closed(
    costs: Callable[[bool], list[Cost]],
) -> None:
    few, some, many = costs(True)
    assert astuple(few)[:3] == astuple(some)[:3] == astuple(many)[:3]
    assert many.work <= few.work + 2, "the database reads closed invoices"
    assert many.receivers_asked_for <= 3


def test_a_block_costs_nearly_the_same_however_many_invoices_are_open(
    costs: Callable[[bool], list[Cost]],
) -> None:
    few, some, many = costs(False)
    assert few.receivers_asked_for == 12
    assert some.receivers_asked_for == many.receivers_asked_for == 0, "whole blocks are read"
    assert astuple(some)[:3] == astuple(many)[:3]
    assert many.work <= some.work * 1.1, "ten times the open invoices, the same work"
    assert many.statements <= few.statements + 4


def test_a_quiet_poll_is_two_reads(ledger: Ledger, chain: FakeChain) -> None:
    watcher = ChainWatcher(ledger.database, chain, ledger.clock, chain_id=CHAIN_ID)
    ledger.invoice(1000)
    watch(watcher)
    with counted(ledger.database, chain) as cost:
        assert not watcher.try_watch_one()
    assert cost.questions == 0
    assert cost.statements - pragmas(ledger.database) <= 2


def pragmas(database: Database) -> int:
    """Return the statements for opening a connection, in which the dialect reads its version
    once.
    """
    return 0 if database.dialect == "sqlite" else 5
