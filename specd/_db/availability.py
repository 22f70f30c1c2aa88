"""Tracks whether a process can use its database. Outages are logged, and their end wakes workers.

Each process logs one line when an outage begins and one when it ends, regardless of how many
requests and worker steps fail meanwhile.
"""

import threading
import time
from collections.abc import Callable

import structlog

QUIET_S = 1.0
"""A success ends an outage only this long after its last failure, because some connections may
still work during an outage.
"""
FAILED_S = 3.0
"""How long a failure counts for readiness probes."""
_log = structlog.get_logger("database")


class Availability:
    """Whether one database is available to one process. Thread-safe."""

    def __init__(self) -> None:
        self.is_silent = False
        """New statements are refused, because the database does not respond or does not accept
        writes.
        """
        self.is_failing = False
        self.is_doubtful = False
        self.doubted = threading.Event()
        """Set to make the heartbeat check the database immediately."""
        self.ended = 0
        """The number of outages that have ended."""
        self._guard = threading.Lock()
        self._began_at = self._failed_at = 0.0
        self._calls: list[Callable[[], None]] = []

    def on_return(self, call: Callable[[], None]) -> None:
        """Call `call()`, which must be short, whenever an outage ends."""
        self._calls.append(call)

    @property
    def begun(self) -> int:
        """The number of outages that have begun."""
        with self._guard:
            return self.ended + self.is_failing

    @property
    def has_just_failed(self) -> bool:
        """Whether readiness probes see the database as unavailable: while it is silent, and for
        `FAILED_S` after the last failure of an outage.
        """
        failed_s = time.monotonic() - self._failed_at
        return self.is_silent or (self.is_failing and failed_s < FAILED_S)

    def doubt(self) -> None:
        """Make the heartbeat shut down all connections, because one of them is to a node without
        writes.
        """
        self.is_doubtful = True
        self.doubted.set()

    def note_slow(self, cause: BaseException) -> None:
        """Log that a statement exceeded its time limit."""
        _log.warning("database_slow", kind=type(cause).__name__, cause=str(cause).strip())

    def note_failure(self, cause: BaseException, ended: int) -> None:
        """Begin an outage. `ended` is the value of `self.ended` when the attempt began: if an
        outage has ended since then, the failure is not a new outage.
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
        """Refuse statements until `note_answer`, because the heartbeat got no response."""
        self.is_silent = True
        self.note_failure(cause, self.ended)

    def note_success(self) -> None:
        """End an outage, because a unit of work or a read has succeeded."""
        if not self.is_silent and time.monotonic() - self._failed_at >= QUIET_S:
            self._end_outage()

    def note_answer(self) -> None:
        """End an outage, because the heartbeat gets responses again."""
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
