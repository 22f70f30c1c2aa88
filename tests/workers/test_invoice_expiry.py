"""Changes by time alone: an expiry that no payment can overtake."""

from datetime import timedelta

from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import Ledger, State, at, watch, watcher_of
from workers.payment import expire_invoices


def expire(ledger: Ledger) -> None:
    for _ in range(50):
        if not expire_invoices(ledger.database, ledger.clock, limit=3):
            return
    raise AssertionError("the worker is still busy after 50 steps")


class TestExpiry:
    def test_an_unpaid_invoice_expires_once_clock_and_chain_are_past_it(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        invoice = ledger.invoice(lifetime=timedelta(seconds=100))
        watch(watcher_of(ledger, chain))
        clock.advance(seconds=200)
        expire(ledger)
        assert ledger.state(invoice).status == "unpaid", "the chain's time is not past it yet"
        chain.mine(at=at(100))
        watch(watcher_of(ledger, chain))
        expire(ledger)
        assert ledger.state(invoice).status == "unpaid", "the expiry itself is still on time"
        chain.mine(at=at(101))
        watch(watcher_of(ledger, chain))
        expire(ledger)
        assert ledger.state(invoice) == State("expired", "none", 0, 0)
        assert ledger.events(invoice) == [("unpaid", "expired", "none")]

    def test_a_chain_that_runs_ahead_of_the_clock_expires_nothing(
        self, ledger: Ledger, chain: FakeChain
    ) -> None:
        invoice = ledger.invoice()
        chain.mine(at=at(7200))
        watch(watcher_of(ledger, chain))
        expire(ledger)
        assert ledger.state(invoice).status == "unpaid"

    def test_a_part_payment_stays_told(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        invoice = ledger.invoice(1000)
        watch(watcher_of(ledger, chain))
        chain.pay(invoice.deposit_address, 400)
        chain.mine(at=at(2000))
        clock.advance(seconds=2000)
        watch(watcher_of(ledger, chain))
        expire(ledger)
        assert ledger.state(invoice) == State("expired", "partial", 400, 0)

    def test_an_on_time_payment_that_is_not_read_yet_is_never_overtaken(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        """Neither an old invoice's expiry nor an invoice with unread blocks delays it."""
        watcher = watcher_of(ledger, chain)
        watch(watcher)
        chain.mine(at=at(4000))
        watch(watcher)
        late_comer = ledger.invoice(1000)  # the chain's clock is past its expiry from the start
        clock.advance(seconds=5000)
        expire(ledger)
        assert ledger.state(late_comer).status == "unpaid"
        watch(watcher)
        expire(ledger)
        assert ledger.state(late_comer).status == "expired"

    def test_many_expire_in_small_batches(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        invoices = [ledger.invoice() for _ in range(7)]
        chain.mine(at=at(4000))
        clock.advance(seconds=5000)
        watch(watcher_of(ledger, chain))
        batches = [expire_invoices(ledger.database, ledger.clock, limit=3) for _ in range(4)]
        assert batches == [True, True, True, False]
        assert {ledger.state(each).status for each in invoices} == {"expired"}

    def test_paid_processing_and_canceled_ones_stay(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
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
        clock.advance(seconds=5000)
        watch(watcher_of(ledger, chain))
        expire(ledger)
        states = [ledger.state(each).status for each in (paid, processing, canceled)]
        assert states == ["paid", "processing", "canceled"]

    def test_on_a_chain_that_makes_no_blocks_time_passes_too(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        """Development nodes mine a block for each transaction."""
        invoice = ledger.invoice(lifetime=timedelta(seconds=100))
        watcher = watcher_of(ledger, chain)
        watch(watcher)
        for _ in range(20):
            clock.advance(seconds=5)
            watch(watcher)
            expire(ledger)
        assert ledger.state(invoice).status == "unpaid"
        for _ in range(6):
            clock.advance(seconds=5)
            watch(watcher)
            expire(ledger)
        assert ledger.state(invoice) == State("expired", "none", 0, 0)

    def test_a_chain_that_travels_ahead_makes_nothing_late(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        """The time of test chains can jump. A payment seen before the expiry is on time."""
        watcher = watcher_of(ledger, chain)
        chain.mine(at=at(3 * 86400))
        watch(watcher)
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)
