"""A merchant with real deposit addresses on a real chain, and its watchers in this process."""

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from adapters.chain.rpc_reader import RpcChainReader
from models.payment.invoice_view import InvoiceView
from models.payment.settlement import cancel_invoice
from specd.db import Database
from tests.live.chain_fixture import LocalChain
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import CHAIN_ID, make_invoice, make_merchant
from tests.workers.ledger import Books
from workers.chain_watcher import ChainWatcher
from workers.payment import expire_invoices

LIFETIME = timedelta(minutes=30)


class Shop(Books):
    """Creates invoices and returns their states.

    The clock stands still unless a test moves it with the chain's.
    """

    def __init__(self, database: Database, chain: LocalChain) -> None:
        self.database = database
        self.chain = chain
        self.clock = FrozenClock(datetime.now(UTC).replace(microsecond=0))
        self.merchant = database.run(lambda session: make_merchant(session, now=self.clock.now()))
        self.invoices: list[InvoiceView] = []

    def invoice(self, atoms: int = 1000, *, lifetime: timedelta = LIFETIME) -> InvoiceView:
        whole, fraction = divmod(atoms, 10**6)

        def create(session: Session) -> InvoiceView:
            return make_invoice(
                session,
                self.merchant,
                now=self.clock.now(),
                amount=f"{whole}.{fraction:06d}",
                lifetime=lifetime,
                is_reread=False,
            )

        invoice = self.database.run(create)
        self.invoices.append(invoice)
        return invoice

    def cancel(self, invoice: InvoiceView) -> None:
        self.database.run(
            lambda session: cancel_invoice(
                session,
                project_id=self.merchant.id,
                invoice_id=invoice.id,
                now=self.clock.now(),
            )
        )

    def watcher(self, *, log_range: int = 1000, many: int = 500) -> ChainWatcher:
        """Return another watcher with a separate connection."""
        reader = RpcChainReader(
            [self.chain.url],
            CHAIN_ID,
            10.0,
            lambda: watcher.least_head(),
            genesis=lambda: watcher.genesis_hash(),
            widest=log_range,
        )
        watcher = ChainWatcher(
            self.database,
            reader,
            self.clock,
            chain_id=CHAIN_ID,
            many=many,
            read_anew_every=timedelta(0),
            ended_every=timedelta(0),
        )
        return watcher

    def expire(self) -> None:
        """Run the expiry worker until it has finished."""
        while expire_invoices(self.database, self.clock):
            pass

    def pass_time(self, seconds: int) -> None:
        """Advance the clock immediately, and the chain's time with its next block."""
        self.clock.advance(seconds=seconds)
        self.chain.advance_clock(seconds)
