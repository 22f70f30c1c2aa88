"""The polling intervals of a chain, a compromise between providers' prices and shoppers' waits.

If no invoice waits for payment and no payment for confirmation, the chain is polled every `idle_s`
seconds. Otherwise it is polled twice per block interval, which is computed from block timestamps,
but not more often than every `poll_s` seconds. Development chains, which have no regular interval,
are polled every `poll_s` seconds.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from adapters.chain.reader import Block
from specd.db import Clock

HEADS = 32
"""The number of recent heads from which the block interval is computed."""

SLOWEST_S = 6.0
"""The maximum interval while blocks are awaited, even if they are slower."""


class Pace:
    """The polling schedule of a chain's watcher. `is_awaited` may query the database."""

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
        self._polled_at: datetime | None = None

    def is_due(self) -> bool:
        """Return whether to poll the chain now."""
        if self._polled_at is None:
            return True
        passed = (self._clock.now() - self._polled_at) / timedelta(seconds=1)
        # Polls are up to half an interval early, because the next one would be too late.
        if passed < self._pause() - self._poll_s / 2:
            return False
        return passed >= self._idle_s - self._poll_s / 2 or self._is_awaited()

    def note(self, head: Block | None) -> None:
        """Record that the chain was polled now, and its head."""
        self._polled_at = self._clock.now()
        if head is not None and (not self._heads or self._heads[-1][0] < head.number):
            self._heads.append((head.number, head.timestamp))

    def _pause(self) -> float:
        if self._is_development or len(self._heads) < 2:
            return self._poll_s
        (first, since), (last, until) = self._heads[0], self._heads[-1]
        block_s = (until - since) / timedelta(seconds=1) / (last - first)
        return max(self._poll_s, min(block_s / 2, SLOWEST_S))
