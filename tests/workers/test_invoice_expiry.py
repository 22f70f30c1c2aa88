"""What time alone changes: expiry that no payment can overtake, and rows to be forgotten."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from adapters.chain.fake import GENESIS, FakeChain
from models.clock import FrozenClock
from models.payment.checkpoints import REMEMBERED_BLOCKS, count_known_blocks
from models.payment.tables import CheckoutSession, IdempotencyKey, Invoice
from tests.workers.ledger import CHAIN_ID, PROJECT_ID, Ledger, State, at, watch, watcher_of
from workers.invoice_expiry import InvoiceExpiry

WEEK = timedelta(days=7)


@pytest.fixture
def expiry(ledger: Ledger) -> InvoiceExpiry:
    return InvoiceExpiry(ledger.database, ledger.clock, key_retention=WEEK, batch=3)


def work(expiry: InvoiceExpiry) -> None:
    for _ in range(50):
        if not expiry.try_work_one():
            return
    raise AssertionError("the worker is still busy after 50 steps")


class TestExpiry:
    def test_an_unpaid_invoice_expires_once_clock_and_chain_are_past_it(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        invoice = ledger.invoice(lifetime=timedelta(seconds=100))
        watch(watcher_of(ledger, chain))
        clock.advance(seconds=200)
        work(expiry)
        assert ledger.state(invoice).status == "unpaid", "the chain's time is not past it yet"
        chain.mine(at=at(100))
        watch(watcher_of(ledger, chain))
        work(expiry)
        assert ledger.state(invoice).status == "unpaid", "the expiry itself is still on time"
        chain.mine(at=at(101))
        watch(watcher_of(ledger, chain))
        work(expiry)
        assert ledger.state(invoice) == State("expired", "none", 0, 0)
        assert ledger.events(invoice) == [("unpaid", "expired", "none")]

    def test_a_chain_that_runs_ahead_of_the_clock_expires_nothing(
        self, ledger: Ledger, chain: FakeChain, expiry: InvoiceExpiry
    ) -> None:
        invoice = ledger.invoice()
        chain.mine(at=at(7200))
        watch(watcher_of(ledger, chain))
        work(expiry)
        assert ledger.state(invoice).status == "unpaid"

    def test_a_part_payment_stays_told(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        invoice = ledger.invoice(1000)
        watch(watcher_of(ledger, chain))
        chain.pay(invoice.deposit_address, 400)
        chain.mine(at=at(2000))
        watch(watcher_of(ledger, chain))
        clock.advance(seconds=2000)
        work(expiry)
        assert ledger.state(invoice) == State("expired", "partial", 400, 0)

    def test_an_on_time_payment_that_is_not_read_yet_is_never_overtaken(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        """Neither by an old invoice's expiry nor by one whose own blocks are still unread."""
        watcher = watcher_of(ledger, chain)
        watch(watcher)
        chain.mine(at=at(4000))
        watch(watcher)
        late_comer = ledger.invoice(1000)  # the chain's clock is past its expiry from the start
        clock.advance(seconds=5000)
        work(expiry)
        assert ledger.state(late_comer).status == "unpaid"
        watch(watcher)
        work(expiry)
        assert ledger.state(late_comer).status == "expired"

    def test_many_expire_in_small_batches(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        invoices = [ledger.invoice() for _ in range(7)]
        chain.mine(at=at(4000))
        watch(watcher_of(ledger, chain))
        clock.advance(seconds=5000)
        batches = [expiry.try_expire_one() for _ in range(4)]
        assert batches == [True, True, True, False]
        assert {ledger.state(each).status for each in invoices} == {"expired"}

    def test_paid_processing_and_canceled_ones_stay(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        paid, processing, canceled = (
            ledger.invoice(1000),
            ledger.invoice(1000, confirmations=9),
            ledger.invoice(1000),
        )
        watch(watcher_of(ledger, chain))
        chain.pay(paid.deposit_address, 1000)
        chain.pay(processing.deposit_address, 1000)
        ledger.cancel(canceled)
        chain.mine(at=at(4000))
        watch(watcher_of(ledger, chain))
        clock.advance(seconds=5000)
        work(expiry)
        states = [ledger.state(each).status for each in (paid, processing, canceled)]
        assert states == ["paid", "processing", "canceled"]


class TestForgetting:
    def test_keys_are_kept_for_their_time_and_while_their_invoice_is_open(
        self, ledger: Ledger, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        open_one, closed = ledger.invoice(), ledger.invoice()
        ledger.cancel(closed)
        for name, invoice in (("open", open_one), ("closed", closed), ("refused", None)):
            self.use_key(ledger, name, invoice)
        clock.advance(seconds=WEEK.total_seconds())
        self.use_key(ledger, "young", closed)
        work(expiry)
        assert self.keys(ledger) == {"open", "closed", "refused", "young"}
        clock.advance(seconds=61)
        work(expiry)
        assert self.keys(ledger) == {"open", "young"}

    def test_sessions_are_forgotten_a_day_after_they_expired(
        self, ledger: Ledger, clock: FrozenClock, expiry: InvoiceExpiry
    ) -> None:
        invoice = ledger.invoice()
        for number in range(5):
            session = CheckoutSession(
                id=f"session-{number}",
                invoice_id=invoice.id,
                token_sha256=f"{number:064d}",
                created_at=GENESIS,
                expires_at=GENESIS + timedelta(hours=number),
            )
            ledger.database.run(lambda unit, row=session: unit.add(row))  # type: ignore[misc]
        clock.advance(seconds=timedelta(days=1, hours=3, minutes=5).total_seconds())
        work(expiry)
        assert self.count(ledger, CheckoutSession) == 1

    def test_old_checkpoints_are_forgotten_but_not_the_first_block(
        self, ledger: Ledger, chain: FakeChain, expiry: InvoiceExpiry
    ) -> None:
        watcher = watcher_of(ledger, chain, log_range=200)
        watch(watcher)
        for _ in range(12):
            chain.mine(200)
            watch(watcher)
        with ledger.database.reading() as reader:
            before = count_known_blocks(reader, CHAIN_ID)
        work(expiry)
        with ledger.database.reading() as reader:
            after = count_known_blocks(reader, CHAIN_ID)
        kept_leaps = REMEMBERED_BLOCKS // 200
        assert before > after >= kept_leaps
        chain.reorg(500)
        watch(watcher)
        assert ledger.checkpoint() == chain.height

    @staticmethod
    def use_key(ledger: Ledger, key: str, invoice: Invoice | None) -> None:
        row = IdempotencyKey(
            project_id=PROJECT_ID,
            key=key,
            operation="create_invoice",
            fingerprint="0" * 64,
            status=201,
            body=b"{}",
            invoice_id=invoice.id if invoice else None,
            created_at=ledger.clock.now(),
        )
        ledger.database.run(lambda session: session.add(row))

    @staticmethod
    def keys(ledger: Ledger) -> set[str]:
        with ledger.database.reading() as reader:
            return set(reader.scalars(select(IdempotencyKey.key)))

    @staticmethod
    def count(ledger: Ledger, table: type[CheckoutSession]) -> int:
        with ledger.database.reading() as reader:
            return int(reader.execute(select(func.count()).select_from(table)).scalar_one())
