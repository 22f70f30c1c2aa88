"""Logs the problems of a chain once when they begin, instead of at every poll.

The metrics `specd_watcher_head_age_seconds` and `specd_watcher_unread_seconds` show how long a
chain has been waiting.
"""

from structlog.typing import FilteringBoundLogger

MAX_REMEMBERED = 1_000
"""The maximum number of remembered states. The oldest is forgotten, and may be logged again."""


class Alerts:
    """The current states, by event and subject."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._lasting: dict[tuple[str, object], None] = {}

    def begin(self, event: str, subject: object = None, **facts: object) -> None:
        """Log the beginning of a state with `alert`, unless it has already been logged."""
        if self._is_new(event, subject):
            self._log.error(event, alert=True, **facts)

    def warn(self, event: str, subject: object = None, **facts: object) -> None:
        """Log the beginning of a state that needs no operator, without `alert`."""
        if self._is_new(event, subject):
            self._log.warning(event, **facts)

    def end(self, event: str, subject: object = None) -> None:
        """End a state, so that it is logged again when it begins again."""
        self._lasting.pop((event, subject), None)

    def _is_new(self, event: str, subject: object) -> bool:
        if (event, subject) in self._lasting:
            return False
        if len(self._lasting) >= MAX_REMEMBERED:
            del self._lasting[next(iter(self._lasting))]
        self._lasting[event, subject] = None
        return True
