"""Where "now" comes from: the system in production, a frozen value in tests."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Anything that tells the time as an aware UTC datetime."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock, cut to milliseconds: what every column and every answer resolves."""

    def now(self) -> datetime:
        at = datetime.now(UTC)
        return at.replace(microsecond=at.microsecond // 1000 * 1000)
