"""Counts the watcher's failed readings, pauses between attempts, and limits their number."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

TRIES = 5
"""The number of failures after which old blocks are skipped if newer ones can be read."""
MAX_TRIES = 30
"""The number of failures after which blocks are skipped in any case."""
RETRY_AFTER = timedelta(seconds=10)
MAX_RETRY_AFTER = timedelta(minutes=1)


@dataclass(slots=True)
class _Failures:
    count: int
    retry_at: datetime


class Patience:
    """The failed readings of a watcher, by name."""

    def __init__(self, now: Callable[[], datetime], retry_after: timedelta = RETRY_AFTER) -> None:
        self._now = now
        self._retry_after = retry_after
        self._failures: dict[str, _Failures] = {}

    def is_due(self, name: str) -> bool:
        """Return whether a reading is not paused after a failure."""
        failures = self._failures.get(name)
        return failures is None or self._now() >= failures.retry_at

    def note_failure(self, names: Iterable[str]) -> None:
        """Count a failure of each reading and start its pause."""
        for name in names:
            count = self.failures(name) + 1
            pause = min(self._retry_after * count, MAX_RETRY_AFTER)
            self._failures[name] = _Failures(count, self._now() + pause)

    def failures(self, name: str) -> int:
        """Return how often a reading has failed since its last success."""
        failures = self._failures.get(name)
        return failures.count if failures else 0

    def resume(self, names: Iterable[str]) -> None:
        """End the pause of readings, but keep their failure counts."""
        for name in names:
            if name in self._failures:
                self._failures[name].retry_at = self._now()

    def forget(self, names: Collection[str]) -> None:
        """Forget the failures of readings that succeeded or ended."""
        for name in names:
            self._failures.pop(name, None)
