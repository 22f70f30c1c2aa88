"""The present time."""

from datetime import UTC, datetime


class Clock:
    """The clock of the machine. A test passes a subclass whose `now` is frozen."""

    def now(self) -> datetime:
        """Return the present time in UTC, cut to milliseconds as columns store it."""
        at = datetime.now(UTC)
        return at.replace(microsecond=at.microsecond // 1000 * 1000)
