"""One merchant's ledger for worker tests: creates invoices and returns their states, on a scripted
chain.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.orm import Session

from adapters.chain.reader import ChainReader
from models.payment.checkpoints import find_checkpoint
from models.payment.settlement import cancel_invoice
from models.payment.tables import (
    Invoice,
    InvoiceEvent,
    Payment,
    PaymentMethod,
    Project,
    Wallet,
)
from specd.db import Database
from tests.support.fake_chain import GENESIS, TOKEN
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import ADA_XPUB
from workers.chain_watcher import ChainWatcher

CHAIN_ID = 31337
PROJECT_ID = "6f1f2f0e-0000-4000-8000-00000000cafe"
LIFETIME = timedelta(minutes=30)
MONITORING = timedelta(hours=24)


@dataclass(frozen=True)
class State:
    """The stored state that a merchant would see."""

    status: str
    exception: str
    paid: int
    pending: int


def address_of(index: int) -> str:
    """Return a unique deposit address. It has only digits, so that it equals its EIP-55 form."""
    return f"0x{index + 1:040d}"


class Identified(Protocol):
    """Return an invoice with the given differences from the default."""

    @property
    def id(self) -> str: ...


class Books:
    """The state of invoices in a database."""

    database: Database

    def state(self, invoice: Identified) -> State:
        with self.database.reading() as reader:
            row = reader.execute(
                select(
                    Invoice.status, Invoice.exception, Invoice.amount_paid, Invoice.amount_pending
                ).where(Invoice.id == invoice.id)
            ).one()
        return State(*row)

    def payments(self, invoice: Identified) -> list[tuple[str, int]]:
        """Return status and atoms of each payment row, in chain order."""
        with self.database.reading() as reader:
            rows = reader.execute(
                select(Payment.status, Payment.amount)
                .where(Payment.invoice_id == invoice.id)
                .order_by(Payment.block_number, Payment.log_index, Payment.id)
            )
            return [(row.status, row.amount) for row in rows]

    def events(self, invoice: Identified) -> list[tuple[str | None, str, str]]:
        """Return (from, to, exception) of each transition, oldest first."""
        with self.database.reading() as reader:
            rows = reader.execute(
                select(InvoiceEvent.from_status, InvoiceEvent.to_status, InvoiceEvent.exception)
                .where(InvoiceEvent.invoice_id == invoice.id)
                .order_by(InvoiceEvent.id)
            )
            return [(row.from_status, row.to_status, row.exception) for row in rows]

    def checkpoint(self) -> int | None:
        with self.database.reading() as reader:
            found = find_checkpoint(reader, CHAIN_ID)
        return found.block.number if found else None


class Ledger(Books):
    """A migrated database with one project and one method, and the actions of a test."""

    def __init__(self, database: Database, clock: FrozenClock) -> None:
        self.database = database
        self.clock = clock
        self._made = 0
        database.run(self._open)

    def offer(self, token: str) -> None:
        """Create another method, for another token of the chain."""
        self.database.run(lambda session: session.add(self._method(token[-4:], token)))

    def _open(self, session: Session) -> None:
        session.add(Wallet(xpub=ADA_XPUB, next_address_index=0))
        session.flush()
        now = self.clock.now()
        session.add(Project(id=PROJECT_ID, name="Shop", xpub=ADA_XPUB, created_at=now))
        session.flush()
        session.add(self._method("tusd", TOKEN))

    def _method(self, method_id: str, token: str) -> PaymentMethod:
        return PaymentMethod(
            project_id=PROJECT_ID,
            id=method_id,
            chain_id=CHAIN_ID,
            chain_name="Test",
            token_symbol="TUSD",
            token_address=token,
            decimals=6,
            confirmations_required=2,
            created_at=self.clock.now(),
        )

    def invoice(
        self,
        amount: int = 1000,
        *,
        confirmations: int = 2,
        lifetime: timedelta = LIFETIME,
        monitoring: timedelta = MONITORING,
        before_insert: Callable[[], object] = lambda: None,
        token: str = TOKEN,
    ) -> Invoice:
        """Create an unpaid invoice whose creation block is the checkpoint read by its transaction.

        `before_insert` runs between that read and the write, where a watcher's step may happen.
        """
        index = self._made
        self._made += 1
        now = self.clock.now()
        with self.database.reading() as reader:
            checkpoint = find_checkpoint(reader, CHAIN_ID)
        before_insert()
        invoice = Invoice(
            id=str(uuid.uuid4()),
            project_id=PROJECT_ID,
            external_order_id=f"order-{index}",
            attempt_no=1,
            status="unpaid",
            exception="none",
            payment_method_id="tusd",
            amount=amount,
            amount_paid=0,
            amount_pending=0,
            chain_id=CHAIN_ID,
            chain_name="Test",
            token_address=token,
            token_symbol="TUSD",
            decimals=6,
            deposit_address=address_of(index),
            address_index=index,
            confirmations_required=confirmations,
            creation_block=checkpoint.block.number if checkpoint else None,
            creation_time=checkpoint.block.timestamp if checkpoint else None,
            created_at=now,
            updated_at=now,
            expires_at=now + lifetime,
            monitoring_ends_at=now + monitoring,
        )
        self.database.run(lambda session: session.add(invoice))
        return invoice

    def cancel(self, invoice: Invoice) -> None:
        self.database.run(
            lambda session: cancel_invoice(
                session, project_id=PROJECT_ID, invoice_id=invoice.id, now=self.clock.now()
            )
        )


def watcher_of(
    ledger: Ledger,
    reader: ChainReader,
    *,
    log_range: int = 1000,
    many: int = 500,
    may_replace: bool = False,
) -> ChainWatcher:
    """Return another watcher, as of another process. It rescans without a delay."""
    reader.limits.width = reader.limits.widest = log_range
    return ChainWatcher(
        ledger.database,
        reader,
        ledger.clock,
        chain_id=CHAIN_ID,
        many=many,
        may_replace=may_replace,
        read_anew_every=timedelta(0),
        ended_every=timedelta(0),
    )


def watch(watcher: ChainWatcher, *, most: int = 200) -> int:
    """Poll until two consecutive polls find nothing to do, and return the number of steps before.

    More than `most` steps fail the test.
    """
    quiet = 0
    for done in range(most):
        quiet = 0 if watcher.try_watch_one() else quiet + 1
        if quiet == 2:
            return done - 1
    raise AssertionError(f"the watcher is still busy after {most} steps")


def at(seconds: float) -> datetime:
    """Return a time on the fake chain's clock, in seconds after its first block."""
    return GENESIS + timedelta(seconds=seconds)
