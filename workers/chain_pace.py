"""When to ask a chain again: providers count questions, and shoppers count seconds.

While nobody waits for a chain (no invoice to be paid, no payment to be confirmed) it is asked
every `idle_s` seconds. Otherwise twice per block, as long as blocks take by their own timestamps,
and at most every `poll_s` seconds. Chains for development make blocks when they please, and are
asked every `poll_s` seconds.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from adapters.chain.reader import Block
from models.clock import Clock

HEADS = 32
"""So many of the newest heads tell how long a block takes."""

SLOWEST_S = 6.0
"""However long blocks take, a chain that somebody waits for is asked this often."""


class Pace:
    """The pace of one chain's watcher. `is_awaited` may ask the database."""

    def __init__(
        self,
        clock: Clock,
        is_awaited: Callable[[], bool],
        *,
        poll_s: float,
        idle_s: float,
        is_development: bool,
    ) -> None:
        self._clock = clock
        self._is_awaited = is_awaited
        self._poll_s, self._idle_s = poll_s, max(poll_s, idle_s)
        self._is_development = is_development
        self._heads: deque[tuple[int, datetime]] = deque(maxlen=HEADS)
        self._asked_at: datetime | None = None

    def is_due(self) -> bool:
        """Return whether to ask the chain now."""
        if self._asked_at is None:
            return True
        passed = (self._clock.now() - self._asked_at) / timedelta(seconds=1)
        # A poll may come a little early: a whole one later would be too late.
        if passed < self._pause() - self._poll_s / 2:
            return False
        return passed >= self._idle_s - self._poll_s / 2 or self._is_awaited()

    def note(self, head: Block | None) -> None:
        """Note that the chain was asked now, and which head it showed."""
        self._asked_at = self._clock.now()
        if head is not None and (not self._heads or self._heads[-1][0] < head.number):
            self._heads.append((head.number, head.timestamp))

    def _pause(self) -> float:
        if self._is_development or len(self._heads) < 2:
            return self._poll_s
        (first, since), (last, until) = self._heads[0], self._heads[-1]
        block_s = (until - since) / timedelta(seconds=1) / (last - first)
        return max(self._poll_s, min(block_s / 2, SLOWEST_S))
