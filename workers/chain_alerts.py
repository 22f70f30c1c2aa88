"""The log lines about states of one chain: each has a line when it begins, and not at every poll.

`specd_watcher_head_age_seconds` and `specd_watcher_unread_seconds` show how long a chain waits.
"""

from structlog.typing import FilteringBoundLogger

MAX_REMEMBERED = 1_000
"""So many states are remembered; the oldest one may have a second line after that."""


class Alerts:
    """The states that last, by event and subject."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._lasting: dict[tuple[str, object], None] = {}

    def begin(self, event: str, subject: object = None, **facts: object) -> None:
        """Log that a state begins, with `alert`, unless it lasts already."""
        if self._is_new(event, subject):
            self._log.error(event, alert=True, **facts)

    def warn(self, event: str, subject: object = None, **facts: object) -> None:
        """Log a state that needs nobody, as `begin` does, without `alert`."""
        if self._is_new(event, subject):
            self._log.warning(event, **facts)

    def end(self, event: str, subject: object = None) -> None:
        """Note that a state is over: the next one has a line again."""
        self._lasting.pop((event, subject), None)

    def _is_new(self, event: str, subject: object) -> bool:
        if (event, subject) in self._lasting:
            return False
        if len(self._lasting) >= MAX_REMEMBERED:
            del self._lasting[next(iter(self._lasting))]
        self._lasting[event, subject] = None
        return True
