"""The current time."""

from datetime import UTC, datetime


class Clock:
    """The clock of the machine. A test passes a subclass whose `now` is frozen."""

    def now(self) -> datetime:
        """Return the current time in UTC, truncated to milliseconds, the precision of
        stored times.
        """
        at = datetime.now(UTC)
        return at.replace(microsecond=at.microsecond // 1000 * 1000)
