"""Whether a process can use its database now. Outages are logged, and their end wakes workers.

An outage is one line in the log of each process when it begins and one when it is over, however
many requests and steps of workers fail meanwhile.
"""

import threading
import time
from collections.abc import Callable

import structlog

QUIET_S = 1.0
"""A success ends an outage only so long after its last failure, because some connections outlive
others.
"""
FAILED_S = 3.0
"""How long a failure counts for readiness probes."""
_log = structlog.get_logger("database")


class Availability:
    """Whether one database is available to one process. Thread-safe."""

    def __init__(self) -> None:
        self.is_silent = False
        """New statements are refused: the database does not answer, or cannot be written to."""
        self.is_failing = False
        self.is_doubtful = False
        self.doubted = threading.Event()
        """Set when the heartbeat is to check the database now."""
        self.ended = 0
        """How many outages are over."""
        self._guard = threading.Lock()
        self._began_at = self._failed_at = 0.0
        self._calls: list[Callable[[], None]] = []

    def on_return(self, call: Callable[[], None]) -> None:
        """Have something small done whenever an outage is over."""
        self._calls.append(call)

    @property
    def begun(self) -> int:
        """Return how many outages have begun."""
        with self._guard:
            return self.ended + self.is_failing

    @property
    def has_just_failed(self) -> bool:
        """Return whether the database counts as unavailable: while it is silent, and for a moment
        after a failure that no success has followed.
        """
        failed_s = time.monotonic() - self._failed_at
        return self.is_silent or (self.is_failing and failed_s < FAILED_S)

    def doubt(self) -> None:
        """Have the heartbeat shut all connections, because one leads to the wrong node."""
        self.is_doubtful = True
        self.doubted.set()

    def note_slow(self, cause: BaseException) -> None:
        """Log that a statement has not ended in time."""
        _log.warning("database_slow", kind=type(cause).__name__, cause=str(cause).strip())

    def note_failure(self, cause: BaseException, ended: int) -> None:
        """Begin an outage. `ended` is its value when the attempt began, because an attempt that
        fails after the outage in which it began is no new outage.
        """
        with self._guard:
            if ended != self.ended:
                return
            self._failed_at = time.monotonic()
            if self.is_failing:
                return
            self.is_failing, self._began_at = True, self._failed_at
        self.doubted.set()
        _log.warning("database_unavailable", kind=type(cause).__name__, cause=str(cause).strip())

    def note_silence(self, cause: BaseException) -> None:
        """Refuse statements until `note_answer`, because the heartbeat is not answered."""
        self.is_silent = True
        self.note_failure(cause, self.ended)

    def note_success(self) -> None:
        """End an outage, because a unit of work or a read has succeeded."""
        if not self.is_silent and time.monotonic() - self._failed_at >= QUIET_S:
            self._end_outage()

    def note_answer(self) -> None:
        """End an outage, because the heartbeat is answered again."""
        self.is_silent = False
        self._end_outage()

    def _end_outage(self) -> None:
        with self._guard:
            if not self.is_failing:
                return
            self.is_failing = False
            self.ended += 1
            seconds = time.monotonic() - self._began_at
        _log.warning("database_available", after_s=round(seconds, 1))
        for call in self._calls:
            call()
