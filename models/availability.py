"""Whether a process can use its database now: what failed, what the log is told, who is woken.

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
"""How long a failure counts for those who ask whether the database is ready."""
_log = structlog.get_logger("database")


class Availability:
    """What one process knows of one database. Thread-safe."""

    def __init__(self) -> None:
        self.is_silent = False
        """Nobody is to wait for an answer: the database gives none, or cannot be written to."""
        self.is_failing = False
        self.is_doubtful = False
        self.doubted = threading.Event()
        """Set when the connections had better be looked at now."""
        self.ended = 0
        """How many outages are over."""
        self._guard = threading.Lock()
        self._began_at = self._failed_at = 0.0
        self._calls: list[Callable[[], None]] = []

    def on_return(self, call: Callable[[], None]) -> None:
        """Have something small done whenever an outage is over."""
        self._calls.append(call)

    @property
    def has_just_failed(self) -> bool:
        """Is it no use to ask? So it is while the database is silent, and for a moment after a
        failure that no success has followed: whether that lasts, only the next requests can tell.
        """
        failed_s = time.monotonic() - self._failed_at
        return self.is_silent or (self.is_failing and failed_s < FAILED_S)

    def doubt(self) -> None:
        """Have the heartbeat throw all connections away, because one leads to the wrong node."""
        self.is_doubtful = True
        self.doubted.set()

    def note_slow(self, cause: BaseException) -> None:
        """The database is there, and has not answered in time."""
        _log.warning("database_slow", kind=type(cause).__name__, cause=str(cause).strip())

    def note_failure(self, cause: BaseException, ended: int) -> None:
        """The database could not be used. `ended` is what it was when the attempt began, because
        an attempt that fails after the outage in which it began says nothing new.
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
        """The database does not answer its heartbeat: refuse at once until `note_answer`."""
        self.is_silent = True
        self.note_failure(cause, self.ended)

    def note_success(self) -> None:
        """A unit of work or a read has succeeded."""
        if not self.is_silent and time.monotonic() - self._failed_at >= QUIET_S:
            self._return()

    def note_answer(self) -> None:
        """The heartbeat is answered, after it was not."""
        self.is_silent = False
        self._return()

    def _return(self) -> None:
        with self._guard:
            if not self.is_failing:
                return
            self.is_failing = False
            self.ended += 1
            seconds = time.monotonic() - self._began_at
        _log.warning("database_available", after_s=round(seconds, 1))
        for call in self._calls:
            call()
