"""A part of a worker's step that runs only at intervals."""

from collections.abc import Callable
from datetime import timedelta

from specd.db import Clock


class PeriodicStep:
    """A step that is repeated until there is no more work, and then again after `every`."""

    def __init__(self, clock: Clock, every: timedelta, step: Callable[[], bool]) -> None:
        self._clock, self._every, self._step = clock, every, step
        self._due_at = clock.now()

    def try_one(self) -> bool:
        """Do the step if it is due. Return whether there was any work."""
        if self._clock.now() < self._due_at:
            return False
        if self._step():
            return True
        self._due_at = self._clock.now() + self._every
        return False
