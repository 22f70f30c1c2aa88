"""A clock that stands still until a test moves it."""

from datetime import datetime, timedelta

from specd.db import Clock


class FrozenClock(Clock):
    """A clock that stands still until it is advanced."""

    def __init__(self, at: datetime) -> None:
        if at.tzinfo is None:
            raise ValueError("a clock needs an aware datetime")
        self._at = at

    def now(self) -> datetime:
        return self._at

    def advance(self, *, seconds: float) -> None:
        self._at += timedelta(seconds=seconds)
