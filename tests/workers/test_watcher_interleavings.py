"""An event between any two requests of a watcher's step causes no missed or doubled payment.

Every case ends in the same way: the stored state must equal a recount of the chain at that time.
"""

import random
import shutil
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from copy import copy, deepcopy
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from adapters.chain.question_limits import QuestionLimits
from adapters.chain.reader import Block, BlockUnreadable, EndpointsUnavailable, Transfer
from models.payment.tables import Invoice
from specd.db import Database
from tests.support.databases import Lent, Places
from tests.support.fake_chain import GENESIS, FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from tests.workers.ledger import Ledger, State, address_of, at, watch, watcher_of
from tests.workers.recount import differences

LONG = timedelta(days=2)
PATIENCE_S = 20.0


class Killed(BaseException):
    """Simulates that the process is killed: nothing after this point happens."""


class Meddled:
    """A reader that calls a function right before its n-th response (counted from 0)."""

    def __init__(self, chain: FakeChain, nth: int, meddle: Callable[[], object]) -> None:
        self._chain = chain
        self._nth = nth
        self._meddle = meddle
        self.answers = 0

    def _answer(self) -> None:
        self.answers += 1
        if self.answers == self._nth + 1:
            self._meddle()

    @property
    def limits(self) -> QuestionLimits:
        return self._chain.limits

    def head(self) -> Block:
        self._answer()
        return self._chain.head()

    @property
    def narrowest(self) -> int:
        return self._chain.narrowest

    def others(self, at_least: int | None = None) -> Generator[Block]:
        return self._chain.others(at_least)

    def is_disputed(self, number: int, block_hash: str) -> bool:
        return self._chain.is_disputed(number, block_hash)

    def transfers_of(
        self, tx_hash: str, tokens: Sequence[str], block: Block
    ) -> list[Transfer] | None:
        return self._chain.transfers_of(tx_hash, tokens, block)

    def genesis(self) -> Block | None:
        return self._chain.genesis()

    def block(self, number: int) -> Block | None:
        self._answer()
        return self._chain.block(number)

    def is_kept_elsewhere(self, number: int, block_hash: str) -> bool:
        self._answer()
        return self._chain.is_kept_elsewhere(number, block_hash)

    def may_be_kept_elsewhere(self) -> bool:
        return False

    def transfers(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        self._answer()
        return self._chain.transfers(tokens, receivers, first, last)

    def transfers_in(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        self._answer()
        return self._chain.transfers_in(tokens, receivers, block)


class Story:
    """One chain and one ledger in the middle of a merchant's day."""

    def __init__(self, ledger: Ledger, chain: FakeChain, *, behind: int = 0) -> None:
        """`behind`: the number of additional blocks that the next step finds."""
        self.ledger = ledger
        self.chain = chain
        self.invoices: list[Invoice] = []
        watch(watcher_of(ledger, chain))
        self.new_invoice_paid()
        self.chain.mine(3)
        watch(watcher_of(ledger, chain))
        # The next step finds one waiting invoice, one that was just paid, and one new invoice.
        self.new_invoice()
        watch(watcher_of(ledger, chain))
        self.new_invoice_paid()
        self.new_invoice()
        chain.mine(behind)

    def copied(self, database: Database) -> "Story":
        """Return the same story on a copy of its database, for another ending."""
        copied = copy(self)
        copied.ledger = copy(self.ledger)
        copied.ledger.database = database
        copied.ledger.clock = FrozenClock(self.ledger.clock.now())
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
        self.ledger.clock.advance(seconds=60)  # dropped blocks are not waited for any more
        watch(watcher_of(self.ledger, self.chain, may_replace=True))
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
    watch(watcher_of(story.ledger, story.chain, may_replace=True))


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


@pytest.mark.parametrize(("behind", "questions"), [in_all(0, 4), (3, 6), (10, 8)])
@pytest.mark.parametrize("meddle", MEDDLERS, ids=lambda each: each.__name__)
def test_change_between_any_two_questions_is_counted_once(
    meddle: Callable[[Story], None],
    behind: int,
    questions: int,
    sqlite_template: Path,
    memory: Path,
    places: Places,
    lent: Lent,
) -> None:
    """With one new block, with a few that are read one by one, and with a range of them."""
    first_pages = memory / f"{meddle.__name__}-{behind}.db"
    shutil.copy(sqlite_template, first_pages)
    with closing(Database(f"sqlite:///{first_pages}")) as database:
        so_far = Story(Ledger(database, FrozenClock(GENESIS)), FakeChain(), behind=behind)
    meddled_calls = 0
    for nth in range(12):
        with places.one(first_pages) as url, lent.one(url, PATIENCE_S) as database:
            story = so_far.copied(database)
            reader = Meddled(story.chain, nth, partial(meddle, story))
            watcher = watcher_of(story.ledger, reader, may_replace=True)
            with suppress(Killed, EndpointsUnavailable):
                watch(watcher)
            story.check()
        if reader.answers <= nth:
            break  # the step has no later request either
        meddled_calls += 1
    assert meddled_calls >= questions, "the steps ask less than that: the cases cover nothing"


def test_an_invoice_whose_transaction_straddles_a_step(ledger: Ledger, chain: FakeChain) -> None:
    """The invoice reads checkpoint 0, the watcher advances, then the invoice is stored and
    immediately paid.
    """
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


def test_what_was_there_before_the_invoice_is_not_its(ledger: Ledger, chain: FakeChain) -> None:
    """A payer who knows the address in advance may pay in the newest block at the creation."""
    watcher = watcher_of(ledger, chain)
    chain.mine(5)
    chain.pay("0x" + f"{1:040d}", 1000)  # the address of the ledger's first invoice
    watch(watcher)
    invoice = ledger.invoice(1000)
    assert invoice.creation_block == chain.height == ledger.checkpoint()
    chain.mine(100)
    watch(watcher)
    assert ledger.payments(invoice) == []
    chain.pay(invoice.deposit_address, 1000)
    chain.mine()
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_payment_on_the_other_branch_of_the_creation_block(
    ledger: Ledger, chain: FakeChain
) -> None:
    """The payment is mined below the newest block at the creation, but after that time."""
    watcher = watcher_of(ledger, chain)
    chain.mine(20)
    watch(watcher)
    invoice = ledger.invoice(1000)
    chain.reorg(10, length=1)
    chain.pay(invoice.deposit_address, 1000)
    assert invoice.creation_block is not None
    assert chain.height < invoice.creation_block
    chain.mine(20, at=at(60))
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def note_head(ledger: Ledger, invoice: Invoice, block: Block) -> None:
    """The chain showed this block at the creation, before any watcher read it."""

    def write(session: Session) -> None:
        stored = session.get_one(Invoice, invoice.id)
        stored.creation_head, stored.creation_head_hash = block.number, block.hash

    ledger.database.run(write)


def test_what_no_watcher_has_seen_before_the_invoice_is_not_its(
    ledger: Ledger, chain: FakeChain
) -> None:
    """The chain showed its newest block at the creation."""
    watch(watcher_of(ledger, chain))
    chain.pay("0x" + f"{1:040d}", 1000)
    invoice = ledger.invoice(1000)
    note_head(ledger, invoice, chain.mine(50))
    watch(watcher_of(ledger, chain))
    assert ledger.payments(invoice) == []
    chain.pay(invoice.deposit_address, 1000)
    chain.mine()
    watch(watcher_of(ledger, chain))
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize("is_higher", [False, True])
def test_a_newest_block_that_was_of_another_branch_takes_nothing_away(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock, is_higher: bool
) -> None:
    """The endpoint that showed it was on a fork, or reported a wrong height."""
    watch(watcher_of(ledger, chain))
    chain.mine(9)
    invoice = ledger.invoice(1000)
    fork = deepcopy(chain)
    fork.reorg(5)
    note_head(ledger, invoice, fork.mine(10**4 if is_higher else 1))
    chain.pay(invoice.deposit_address, 1000)
    chain.mine(3)
    watch(watcher_of(ledger, chain))
    clock.advance(seconds=60)
    watch(watcher_of(ledger, chain))
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_chain_whose_clock_is_behind_takes_nothing_away(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock
) -> None:
    """The newest block is gone, and the blocks after it have times days before."""
    clock.advance(seconds=3 * 86_400)
    chain.mine(5)
    invoice = ledger.invoice(1000)
    note_head(ledger, invoice, chain.head())
    chain.reorg(3)
    chain.pay(invoice.deposit_address, 1000)
    chain.mine(3)
    watch(watcher_of(ledger, chain))
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
    """Without a watcher for a long time: the first blocks contain a part, later ones the
    remainder.
    """
    invoice = ledger.invoice(1000)
    chain.pay(invoice.deposit_address, 300, at=at(10))
    chain.mine(250)
    chain.pay(invoice.deposit_address, 700, at=at(1700))
    chain.mine(250, at=at(4000))
    clock.advance(seconds=5000)
    watch(watcher_of(ledger, chain, log_range=100))
    assert ledger.events(invoice) == [("unpaid", "paid", "none")]


class Flapping(Meddled):
    """A chain behind a load balancer: the first response with logs comes from a node with other
    blocks.
    """

    def __init__(self, chain: FakeChain, other: FakeChain) -> None:
        super().__init__(chain, -1, lambda: None)
        self.other = other

    def transfers(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        last = min(last, self.other.height)
        found = self.other.transfers(tokens, receivers, first, last) if first <= last else []
        self.other = self._chain
        return found

    def transfers_in(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        node, self.other = self.other, self._chain
        if node.block(block.number) != block:
            raise BlockUnreadable("unknown block")
        return node.transfers_in(tokens, receivers, block)


@pytest.mark.parametrize("blocks", [1, 10])
def test_a_payment_on_another_branch_is_never_written(
    ledger: Ledger, chain: FakeChain, blocks: int
) -> None:
    invoice = ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    other = deepcopy(chain)
    chain.mine(blocks)
    other.pay(invoice.deposit_address, 1000)
    watcher = watcher_of(ledger, Flapping(chain, other), log_range=100)
    watch(watcher)
    watch(watcher)
    assert ledger.payments(invoice) == []
    assert ledger.checkpoint() == chain.height


def test_a_payment_that_a_lagging_node_hides_is_found_at_the_next_poll(
    ledger: Ledger, chain: FakeChain
) -> None:
    invoice = ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    lagging = deepcopy(chain)
    chain.pay(invoice.deposit_address, 1000)
    watcher = watcher_of(ledger, Flapping(chain, lagging), log_range=100)
    assert not watcher.try_watch_one()
    assert ledger.payments(invoice) == []
    watch(watcher)
    assert ledger.state(invoice) == State("processing", "none", 0, 1000)


def test_a_payment_in_a_range_that_a_lagging_node_hides_is_found_by_the_second_reading(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock
) -> None:
    """A node without some blocks returns the known part of a range, which cannot be detected."""
    invoice = ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    lagging = deepcopy(chain)
    chain.pay(invoice.deposit_address, 1000)
    chain.mine(9)
    watcher = watcher_of(ledger, Flapping(chain, lagging), log_range=100)
    watch(watcher)
    assert ledger.payments(invoice) == [], "the story is not told as it should be"
    for _ in range(10):
        clock.advance(seconds=10)
        chain.mine(10)
        watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_payment_that_nobody_showed_is_found_before_the_invoice_expires(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock
) -> None:
    """Neither the first nor the second reading returned it, but the invoice's last reading does."""
    invoice = ledger.invoice(1000, lifetime=timedelta(seconds=300))
    watch(watcher_of(ledger, chain))
    hiding = deepcopy(chain)
    chain.pay(invoice.deposit_address, 1000)
    hiding.mine()
    hiding._blocks[-1].block = chain._blocks[-1].block  # the same block, without the log
    for each in (chain, hiding):
        each.mine(9)
    for mined, others in zip(hiding._blocks, chain._blocks, strict=True):
        mined.block = others.block
    watcher = watcher_of(ledger, hiding)
    for _ in range(12):
        clock.advance(seconds=20)
        hiding.mine(10)
        watch(watcher)
    assert ledger.state(invoice) == State("unpaid", "none", 0, 0)
    transfers = chain._blocks[1].transfers
    hiding._blocks[1].transfers.extend(transfers)
    clock.advance(seconds=100)
    hiding.mine(at=clock.now())
    watch(watcher)
    assert ledger.state(invoice) == State("paid", "none", 1000, 0)


@pytest.mark.parametrize("nth", range(1, 7))
def test_an_invoice_paid_at_once_that_another_watcher_joins_meanwhile(
    ledger: Ledger, chain: FakeChain, nth: int
) -> None:
    """The current step does not know the invoice and must not mark its blocks as read."""
    watch(watcher_of(ledger, chain))
    ledger.invoice(1000)
    watch(watcher_of(ledger, chain))
    chain.mine(6)

    def sell() -> None:
        invoices.append(ledger.invoice(1000))
        chain.pay(address_of(1), 1000)
        chain.mine(6)
        watcher_of(ledger, chain).try_watch_one()

    invoices: list[Invoice] = []
    watch(watcher_of(ledger, Meddled(chain, nth, sell)))
    if not invoices:
        sell()
    watch(watcher_of(ledger, chain))
    assert invoices[0].deposit_address == address_of(1)
    assert ledger.state(invoices[0]) == State("paid", "none", 1000, 0)


def test_a_reorganisation_below_what_a_newcomer_has_read(
    ledger: Ledger, chain: FakeChain, clock: FrozenClock
) -> None:
    """It has read half of its past when that past changes. It is not settled before the end."""
    invoice = ledger.invoice(1000, lifetime=timedelta(seconds=150))
    chain.mine(4)
    chain.pay(invoice.deposit_address, 200)
    chain.mine(195)
    clock.advance(seconds=400)
    watcher = watcher_of(ledger, chain, log_range=1)
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
@pytest.mark.parametrize("nth", [1, 5, 9, 13, *map(in_all, (3, 7, 11))])
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
    watch(watcher_of(ledger, reader, log_range=5))
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
    chain.mine(9)
    # head, base, logs, the payment's block; the fifth response is the tip again
    reader = Meddled(chain, 4, lambda: chain.reorg(10))
    watcher = watcher_of(ledger, reader, log_range=100)
    assert not watcher.try_watch_one()
    assert reader.answers == 5
    assert ledger.payments(invoice) == []


def test_confirmations_by_a_head_that_is_gone_do_not_count(
    ledger: Ledger, chain: FakeChain
) -> None:
    """Far behind, with the head read first: the chain shrinks while the step reads below it."""
    invoice = ledger.invoice(1000, confirmations=3, lifetime=LONG, monitoring=LONG)
    watcher = watcher_of(ledger, chain, log_range=100)
    watch(watcher)
    chain.mine(99)
    chain.pay(invoice.deposit_address, 1000)
    chain.mine(100)
    chain.on_transfers.append(lambda: chain.reorg(100, length=1))
    with suppress(EndpointsUnavailable):
        watch(watcher)
    watch(watcher)
    assert chain.height == 101
    assert ledger.state(invoice) == State("processing", "none", 0, 1000)


@pytest.mark.parametrize("seed", [0, in_all(1)])
def test_a_storm_with_two_watchers(ledger: Ledger, chain: FakeChain, seed: int) -> None:
    """Random payments, reorganizations, kills and invoices, with both watchers at random times."""
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
        watcher = watcher_of(
            ledger, reader, log_range=rng.choice([2, 5, 1000]), many=rng.choice([2, 500])
        )
        with suppress(Killed, EndpointsUnavailable):
            for _ in range(rng.randint(0, 4)):
                watcher.try_watch_one()
    story.check()
    chain.mine(3)
    story.check()


def test_two_watchers_at_the_same_time(ledger: Ledger, chain: FakeChain) -> None:
    """Real threads and transactions: one of two writers finds that the revision has changed."""
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
        watcher = watcher_of(ledger, reader)
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


class Passed(Meddled):
    """A reader that calls a function right after its first head."""

    def head(self) -> Block:
        head = self._chain.head()
        self._answer()
        return head


@pytest.mark.parametrize("steps", range(1, 5))
def test_another_watcher_passes_the_head_that_this_one_saw(story: Story, steps: int) -> None:
    """Payments of new invoices count from the newest block, even if no other block follows."""

    def meddle() -> None:
        other = watcher_of(story.ledger, story.chain)
        story.new_invoice_paid()
        for _ in range(steps):
            other.try_watch_one()
        story.new_invoice_paid()
        story.chain.mine(4)
        other.try_watch_one()

    watcher_of(story.ledger, Passed(story.chain, 0, meddle)).try_watch_one()
    story.check()


def test_the_recount_itself_tells_a_wrong_state(story: Story) -> None:
    """A check that never finds an error proves nothing."""
    story.chain.mine(2)
    assert story.wrong() != {}
    story.check()
    assert isinstance(story.invoices[0].expires_at, datetime)
