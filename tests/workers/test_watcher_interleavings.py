"""Whatever falls between any two questions of a watcher's step, nothing is missed or counted twice.

Every case ends the same way: the books must equal a recount of the chain as it then stands.
"""

import random
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from copy import copy, deepcopy
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from adapters.chain.reader import Block, EndpointsUnavailable, Transfer
from models.database import Database
from models.payment.tables import Invoice
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import CHAIN_ID, Ledger, State, address_of, at, watch, watcher_of
from tests.workers.recount import differences
from workers.chain_watcher import ChainWatcher

LONG = timedelta(days=2)


class Killed(BaseException):
    """The process is gone: nothing after this point happens."""


class Meddled:
    """A reader that lets something happen right before its n-th answer (counted from 0)."""

    def __init__(self, chain: FakeChain, nth: int, meddle: Callable[[], object]) -> None:
        self._chain = chain
        self._nth = nth
        self._meddle = meddle
        self.answers = 0

    def _answer(self) -> None:
        self.answers += 1
        if self.answers == self._nth + 1:
            self._meddle()

    def head(self) -> Block:
        self._answer()
        return self._chain.head()

    def block(self, number: int) -> Block | None:
        self._answer()
        return self._chain.block(number)

    def transfers(
        self, token: str, receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        self._answer()
        return self._chain.transfers(token, receivers, first, last)


class Story:
    """One chain and one ledger in the middle of a merchant's day."""

    def __init__(self, ledger: Ledger, chain: FakeChain) -> None:
        self.ledger = ledger
        self.chain = chain
        self.invoices: list[Invoice] = []
        watch(watcher_of(ledger, chain))
        self.new_invoice_paid()
        self.chain.mine(3)
        watch(watcher_of(ledger, chain))
        # What the meddled step will find: one invoice waiting, one just paid, one new.
        self.new_invoice()
        watch(watcher_of(ledger, chain))
        self.new_invoice_paid()
        self.new_invoice()

    def copied(self, database: Database) -> "Story":
        """The same story over a copy of its database, to be ended differently."""
        copied = copy(self)
        copied.ledger = copy(self.ledger)
        copied.ledger.database = database
        copied.chain = deepcopy(self.chain)
        copied.invoices = list(self.invoices)
        return copied

    def new_invoice(self) -> Invoice:
        invoice = self.ledger.invoice(1000, lifetime=LONG, monitoring=LONG)
        self.invoices.append(invoice)
        return invoice

    def new_invoice_paid(self) -> None:
        self.chain.pay(self.new_invoice().deposit_address, 1000)

    def pay_all(self) -> None:
        for invoice in self.invoices:
            self.chain.pay(invoice.deposit_address, 1000)

    def check(self) -> None:
        """Let the watcher finish, and compare."""
        watch(watcher_of(self.ledger, self.chain))
        assert self.ledger.checkpoint() == self.chain.height
        assert self.wrong() == {}

    def wrong(self) -> dict[str, object]:
        stamps = {
            number: block.timestamp
            for number in range(self.chain.height + 1)
            if (block := self.chain.block(number))
        }
        transfers = self.chain.canonical_transfers()
        return dict(
            differences(self.ledger, self.invoices, transfers, stamps, head=self.chain.height)
        )


@pytest.fixture
def story(ledger: Ledger, chain: FakeChain) -> Story:
    return Story(ledger, chain)


def other_watcher(story: Story) -> None:
    watch(watcher_of(story.ledger, story.chain))


def reorganise(story: Story) -> None:
    story.chain.reorg(3)


def reorganise_and_mine_again(story: Story) -> None:
    story.chain.reorg(4)
    story.chain.mine()


def reorganise_deeper_than_all_that_was_read(story: Story) -> None:
    story.chain.reorg(story.chain.height)
    story.chain.mine()


def shrink(story: Story) -> None:
    story.chain.reorg(4, length=2)
    story.chain.pay(story.new_invoice().deposit_address, 1000)


def sell_and_be_paid(story: Story) -> None:
    story.new_invoice_paid()


def sell_and_be_paid_and_be_overtaken(story: Story) -> None:
    story.new_invoice_paid()
    other_watcher(story)


def be_paid(story: Story) -> None:
    story.pay_all()


def start_another_chain(story: Story) -> None:
    story.chain.restart()
    story.pay_all()


def die(story: Story) -> None:
    raise Killed


MEDDLERS = [
    other_watcher,
    reorganise,
    reorganise_and_mine_again,
    reorganise_deeper_than_all_that_was_read,
    shrink,
    sell_and_be_paid,
    sell_and_be_paid_and_be_overtaken,
    be_paid,
    start_another_chain,
    die,
]


@pytest.mark.parametrize("meddle", MEDDLERS, ids=lambda each: each.__name__)
def test_something_between_any_two_questions(
    meddle: Callable[[Story], None], sqlite_template: Path, memory: Path, clock: FrozenClock
) -> None:
    first_pages = memory / f"{meddle.__name__}.db"
    shutil.copy(sqlite_template, first_pages)
    with closing(Database(f"sqlite:///{first_pages}")) as database:
        so_far = Story(Ledger(database, clock), FakeChain())
    meddled_calls = 0
    for nth in range(12):
        shutil.copy(first_pages, pages := memory / f"{meddle.__name__}-{nth}.db")
        database = Database(f"sqlite:///{pages}")
        story = so_far.copied(database)
        chain = story.chain
        reader = Meddled(chain, nth, lambda story=story: meddle(story))  # type: ignore[misc]
        watcher = ChainWatcher(database, reader, clock, chain_id=CHAIN_ID, log_range=1000)
        with suppress(Killed, EndpointsUnavailable):
            watch(watcher)
        meddled_calls += reader.answers > nth
        story.check()
        database.dispose()
    assert meddled_calls >= 8, "the steps ask less than that: the cases cover nothing"


def test_an_invoice_whose_transaction_straddles_a_step(ledger: Ledger, chain: FakeChain) -> None:
    """It read checkpoint 0; the watcher moved on; only then it is stored, and paid at once."""
    watcher = watcher_of(ledger, chain)
    watch(watcher)

    def watch_on() -> None:
        chain.mine(5)
        watch(watcher)

    invoice = ledger.invoice(1000, before_insert=watch_on)
    assert (invoice.creation_block, ledger.checkpoint()) == (0, 5)
    chain.pay(invoice.deposit_address, 1000)
    chain.mine()
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_payment_in_the_creation_block(ledger: Ledger, chain: FakeChain) -> None:
    """Whoever knows the address beforehand may pay in the block that is the newest at creation."""
    watcher = watcher_of(ledger, chain)
    chain.mine(5)
    chain.pay("0x" + f"{1:040d}", 1000)  # the address of the ledger's first invoice
    watch(watcher)
    invoice = ledger.invoice(1000)
    assert invoice.creation_block == chain.height == ledger.checkpoint()
    chain.mine()
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_an_invoice_stored_while_the_chain_shrinks(ledger: Ledger, chain: FakeChain) -> None:
    """Its creation block is above the block that pays it."""
    watcher = watcher_of(ledger, chain)
    chain.mine(40)
    watch(watcher)

    def shrink() -> None:
        chain.reorg(30, length=1)
        watch(watcher)

    invoice = ledger.invoice(1000, before_insert=shrink)
    chain.pay(invoice.deposit_address, 1000, at=at(60))
    assert invoice.creation_block is not None
    assert invoice.creation_block > chain.height
    chain.mine()
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_newcomers_without_end_do_not_stop_the_others(ledger: Ledger, chain: FakeChain) -> None:
    watcher = watcher_of(ledger, chain)
    first = ledger.invoice(1000)
    watch(watcher)
    chain.pay(first.deposit_address, 1000)
    chain.mine()
    for _ in range(4):
        ledger.invoice(1000)
        watcher.try_watch_one()
    assert ledger.state(first).status == "paid"


def test_a_newcomer_is_not_expired_before_its_own_blocks_are_read(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock
) -> None:
    """Without a watcher until long after: the first blocks bring a part, later ones the rest."""
    invoice = ledger.invoice(1000)
    chain.pay(invoice.deposit_address, 300, at=at(10))
    chain.mine(250)
    chain.pay(invoice.deposit_address, 700, at=at(1700))
    chain.mine(250, at=at(4000))
    clock.advance(seconds=5000)
    watch(watcher_of(ledger, chain, log_range=100))
    assert ledger.events(invoice) == [("unpaid", "paid", "none")]


class Flapping:
    """A chain behind a balancer: logs come from a node with other newest blocks."""

    def __init__(self, chain: FakeChain, other: FakeChain) -> None:
        self.chain = chain
        self.other = other

    def head(self) -> Block:
        return self.chain.head()

    def block(self, number: int) -> Block | None:
        return self.chain.block(number)

    def transfers(
        self, token: str, receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        found = self.other.transfers(token, receivers, first, min(last, self.other.height))
        self.other = self.chain
        return found


def test_a_payment_on_another_branch_is_never_written(ledger: Ledger, chain: FakeChain) -> None:
    invoice = ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    other = deepcopy(chain)
    chain.mine()
    other.pay(invoice.deposit_address, 1000)
    reader = Flapping(chain, other)
    watcher = ChainWatcher(ledger.database, reader, ledger.clock, chain_id=CHAIN_ID, log_range=100)
    watch(watcher)
    watch(watcher)
    assert ledger.payments(invoice) == []
    assert ledger.checkpoint() == chain.height


def test_a_payment_that_a_lagging_node_hid_is_found_with_the_next_block(
    ledger: Ledger, chain: FakeChain
) -> None:
    invoice = ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    other = deepcopy(chain)
    chain.pay(invoice.deposit_address, 1000)
    reader = Flapping(chain, other)
    watcher = ChainWatcher(ledger.database, reader, ledger.clock, chain_id=CHAIN_ID, log_range=100)
    watch(watcher)
    assert ledger.payments(invoice) == [], "the story is not told as it should be"
    chain.mine()
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize("nth", range(1, 7))
def test_an_invoice_paid_beforehand_that_another_watcher_joins_meanwhile(
    ledger: Ledger, chain: FakeChain, nth: int
) -> None:
    """The step under way does not know the invoice and must not claim its blocks."""
    watch(watcher_of(ledger, chain))
    ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    chain.pay(address_of(1), 1000)
    chain.mine(6)  # or the next step would read it again anyway

    def sell() -> None:
        invoices.append(ledger.invoice(1000))
        watcher_of(ledger, chain).try_watch_one()

    invoices: list[Invoice] = []
    reader = Meddled(chain, nth, sell)
    watch(ChainWatcher(ledger.database, reader, ledger.clock, chain_id=CHAIN_ID, log_range=1000))
    if not invoices:
        sell()
    watch(watcher_of(ledger, chain))
    assert invoices[0].deposit_address == address_of(1)
    assert ledger.state(invoices[0]) == State("paid", "none", 1000, 0)


def test_a_creation_block_above_the_payment(ledger: Ledger, chain: FakeChain) -> None:
    """The chain shrank while the invoice's transaction ran, and others had their turn first."""
    watcher = watcher_of(ledger, chain)
    chain.mine(40)
    watch(watcher)

    def shrink() -> None:
        chain.reorg(30, length=1)
        chain.mine(at=at(60))
        watch(watcher)
        ledger.invoice()
        watcher.try_watch_one()  # the newcomers' turn is over now

    invoice = ledger.invoice(1000, before_insert=shrink)
    assert (invoice.creation_block, ledger.checkpoint()) == (40, 12)
    chain.pay(invoice.deposit_address, 1000)
    watch(watcher)
    chain.mine()
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_reorganisation_below_what_a_newcomer_has_read(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock
) -> None:
    """It is half-way through its past when that past changes; nor is it settled before its end."""
    invoice = ledger.invoice(1000, lifetime=timedelta(seconds=150))
    chain.mine(4)
    chain.pay(invoice.deposit_address, 200)
    chain.mine(195)
    clock.advance(seconds=400)
    watcher = watcher_of(ledger, chain, log_range=20)
    for _ in range(5):
        watcher.try_watch_one()
    assert ledger.payments(invoice) == [("pending", 200)]
    assert ledger.events(invoice) == []
    chain.reorg(198, length=1, lose=True)
    chain.pay(invoice.deposit_address, 1000, at=at(140))
    chain.mine(250, at=at(500))
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)
    assert ledger.events(invoice) == [("unpaid", "paid", "none")]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("nth", range(1, 14, 2))
def test_a_deeper_reorganisation_while_an_earlier_one_is_walked_back(
    ledger: Ledger, chain: FakeChain, nth: int
) -> None:
    invoice = ledger.invoice(1000)
    watcher = watcher_of(ledger, chain)
    for number in range(10):
        chain.mine(10)
        if number == 5:
            chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
    assert ledger.state(invoice).status == "paid"
    chain.reorg(20)
    reader = Meddled(chain, nth, lambda: chain.reorg(70, lose=True))
    watch(ChainWatcher(ledger.database, reader, ledger.clock, chain_id=CHAIN_ID, log_range=5))
    if reader.answers <= nth:
        chain.reorg(70, lose=True)
    watch(watcher)
    assert ledger.state(invoice) == State("unpaid", "reorged", 0, 0)
    assert ledger.checkpoint() == chain.height


def test_a_step_whose_tip_is_gone_at_its_end_writes_nothing(
    ledger: Ledger, chain: FakeChain
) -> None:
    invoice = ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    chain.pay(invoice.deposit_address, 1000)
    # head, base, logs, the payment's block; the fifth answer is the tip once more
    reader = Meddled(chain, 4, lambda: chain.reorg(1))
    watcher = ChainWatcher(ledger.database, reader, ledger.clock, chain_id=CHAIN_ID, log_range=100)
    assert not watcher.try_watch_one()
    assert reader.answers == 5
    assert ledger.payments(invoice) == []


def test_confirmations_by_a_head_that_is_gone_do_not_count(
    ledger: Ledger, chain: FakeChain
) -> None:
    """Far behind, with the head read first: it shrinks while the step reads below it."""
    invoice = ledger.invoice(1000, confirmations=3, lifetime=LONG, monitoring=LONG)
    watcher = watcher_of(ledger, chain, log_range=100)
    watch(watcher)
    chain.mine(99)
    chain.pay(invoice.deposit_address, 1000)
    chain.mine(100)
    chain.on_transfers.append(lambda: chain.reorg(100, length=1))
    watch(watcher)
    watch(watcher)
    assert chain.height == 101
    assert ledger.state(invoice) == State("processing", "none", 0, 1000)


@pytest.mark.parametrize("seed", range(2))
def test_a_storm_with_two_watchers(ledger: Ledger, chain: FakeChain, seed: int) -> None:
    """Random payments, reorganisations, deaths and invoices; both watchers at random moments."""
    rng = random.Random(seed)
    story = Story(ledger, chain)

    def happen() -> None:
        match rng.choice(["sell", "pay", "hold", "mine", "reorg", "reorg", "lose", "watch"]):
            case "sell":
                story.new_invoice()
            case "pay":
                chain.pay(rng.choice(story.invoices).deposit_address, rng.choice([300, 700, 1000]))
            case "hold":
                chain.pay(rng.choice(story.invoices).deposit_address, 500, hold=True)
            case "mine":
                chain.mine(rng.randint(1, 4))
            case "reorg":
                chain.reorg(rng.randint(1, min(10, chain.height)))
                if rng.random() < 0.5:
                    chain.mine(rng.randint(1, 2))
            case "lose":
                chain.reorg(rng.randint(1, min(3, chain.height)), lose=True)
            case "watch":
                watcher_of(ledger, chain).try_watch_one()

    for _ in range(40):
        happen()
        meddle = rng.choice([happen, happen, lambda: None, lambda: die(story)])
        reader = Meddled(chain, rng.randint(0, 8), meddle)
        watcher = ChainWatcher(
            ledger.database,
            reader,
            ledger.clock,
            chain_id=CHAIN_ID,
            log_range=rng.choice([2, 5, 1000]),
            many=rng.choice([2, 500]),
        )
        with suppress(Killed, EndpointsUnavailable):
            for _ in range(rng.randint(0, 4)):
                watcher.try_watch_one()
    story.check()
    chain.mine(3)
    story.check()


def test_two_watchers_at_the_same_time(ledger: Ledger, chain: FakeChain) -> None:
    """Real threads, real transactions: of two that write, one finds its revision gone."""
    story = Story(ledger, chain)
    lock = threading.Lock()
    done = threading.Event()
    failures: list[BaseException] = []

    class Locked(Meddled):
        def _answer(self) -> None:
            with lock:
                self.answers += 1

    def work() -> None:
        reader = Locked(chain, -1, lambda: None)
        watcher = ChainWatcher(
            ledger.database, reader, ledger.clock, chain_id=CHAIN_ID, log_range=1000
        )
        try:
            while not done.is_set():
                watcher.try_watch_one()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    rng = random.Random(7)
    try:
        for _ in range(40):
            with lock:
                story.new_invoice_paid()
                if rng.random() < 0.3:
                    chain.reorg(2)
                    chain.mine()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []
    story.check()


def test_the_recount_itself_tells_a_wrong_state(story: Story) -> None:
    """A judge that never finds anything proves nothing."""
    story.chain.mine(2)
    assert story.wrong() != {}
    story.check()
    assert isinstance(story.invoices[0].expires_at, datetime)
