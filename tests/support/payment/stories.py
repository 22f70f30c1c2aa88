"""The events in the life of an invoice, as steps of a story.

A `Story` is the chain, the clock and the merchant of one invoice. `STEPS` are all possible events.
`settle` applies the life cycle, and `find_stories` returns one story for each reachable state.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from models.payment import lifecycle
from models.payment.lifecycle import Settlement

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
EXPIRY = START + timedelta(minutes=30)
LATE = EXPIRY + timedelta(seconds=1)
AMOUNT = 1000
CONFIRMATIONS = 2
State = tuple[str, str]


@dataclass(frozen=True)
class StoryPayment:
    """A transfer in a block."""

    amount: int
    tx_hash: str
    block_number: int
    block_hash: str
    block_timestamp: datetime
    status: str = "pending"


@dataclass
class Story:
    """The events so far. It implements the invoice's side of the life cycle too."""

    payments: list[StoryPayment] = field(default_factory=list)
    head: int = 100
    checkpoint: datetime = START
    now: datetime = START
    status: str = "unpaid"
    exception: str = "none"
    paid_at: datetime | None = None
    canceled_at: datetime | None = None
    amount: int = AMOUNT
    confirmations_required: int = CONFIRMATIONS
    tolerance_ppm: int = 0
    expires_at: datetime = EXPIRY

    @property
    def state(self) -> State:
        return self.status, self.exception

    @property
    def living(self) -> list[int]:
        """The indexes of the payments whose blocks are part of the chain."""
        return [at for at, each in enumerate(self.payments) if each.status != "orphaned"]

    @property
    def received(self) -> int:
        return sum(self.payments[at].amount for at in self.living)

    def pay(self, amount: int, *, at: datetime = START, tx_hash: str = "") -> None:
        """Mine a block with a transfer."""
        self.head += 1
        number = len(self.payments)
        tx_hash = tx_hash or f"transaction {number}"
        block = f"block {self.head} {number}"
        self.payments.append(StoryPayment(amount, tx_hash, self.head, block, at))

    def drop(self, at: int) -> None:
        """Drop the block of a payment in a reorganization."""
        self.payments[at] = replace(self.payments[at], status="orphaned")

    def settle(self) -> Settlement:
        """Apply the life cycle, like the watcher after each step."""
        result = lifecycle.settle(
            self,
            self.payments,
            head_number=self.head,
            checkpoint_time=self.checkpoint,
            now=self.now,
        )
        self.status, self.exception = result.status, result.exception
        self.paid_at = result.paid_at
        return result


def _drop_newest(story: Story) -> None:
    if story.living:
        story.drop(story.living[-1])


def _drop_all(story: Story) -> None:
    for at in story.living:
        story.drop(at)


def _move_newest(story: Story) -> None:
    """Mine the newest payment's transaction again, in another block."""
    if story.living:
        moved = story.payments[story.living[-1]]
        story.drop(story.living[-1])
        story.pay(moved.amount, at=moved.block_timestamp, tx_hash=moved.tx_hash)


def _bring_back(story: Story) -> None:
    """Make dropped blocks part of the chain again."""
    for at, each in enumerate(story.payments):
        if each.status == "orphaned":
            story.payments[at] = replace(each, status="pending")


def _mine(story: Story) -> None:
    story.head += CONFIRMATIONS


def _expire(story: Story) -> None:
    story.now = story.checkpoint = LATE


def _take_time_back(story: Story) -> None:
    story.checkpoint = START


def _cancel(story: Story) -> None:
    if story.state == ("unpaid", "none") and story.now <= story.expires_at:
        story.status, story.canceled_at = "canceled", story.now


STEPS: Mapping[str, Callable[[Story], None]] = {
    "a part": lambda story: story.pay(400),
    "all": lambda story: story.pay(AMOUNT),
    "too much": lambda story: story.pay(AMOUNT + 500),
    "a late part": lambda story: story.pay(300, at=LATE),
    "all, late": lambda story: story.pay(AMOUNT, at=LATE),
    "confirmations": _mine,
    "a reorganisation of one": _drop_newest,
    "a reorganisation of all": _drop_all,
    "another block": _move_newest,
    "the dropped block again": _bring_back,
    "the expiry": _expire,
    "the chain's time goes back": _take_time_back,
    "a cancel": _cancel,
}


def tell(steps: tuple[str, ...]) -> Story:
    """Return the story of these steps, settled after each."""
    story = Story()
    for step in steps:
        STEPS[step](story)
        story.settle()
    return story


@cache
def find_stories(longest: int = 4) -> Mapping[State, tuple[str, ...]]:
    """Return a shortest story for each state that stories of up to `longest` steps reach."""
    found: dict[State, tuple[str, ...]] = {Story().state: ()}
    for steps in all_steps(longest):
        found.setdefault(tell(steps).state, steps)
    return found


def all_steps(longest: int) -> Iterator[tuple[str, ...]]:
    """Yield every sequence of steps, shorter ones first."""
    ends: list[tuple[str, ...]] = [()]
    for _ in range(longest):
        ends = [(*steps, step) for steps in ends for step in STEPS]
        yield from ends
