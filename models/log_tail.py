"""The end of the event log. A process follows it once for all of its long polls.

A waiting poll uses no thread, connection or statement: the thread of `specd._db.notifier` reads the
log for all polls, and wakes them on the event loop.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import structlog
from sqlalchemy import Connection

from specd.db import Database
from specd.errors import DatabaseUnavailable

Watched = TypeVar("Watched")
Logs = frozenset[int] | None
"""The logs with new entries, or None if every log may have new entries."""
_log = structlog.get_logger("polls")


class LogTail(Generic[Watched]):
    """Follows the log after the first call of `follow`, which must be on the event loop.

    `watched(logs)` returns what to read of these logs. If that is empty, nothing is read.
    `read(connection, watched)` yields calls for the event loop that deliver new entries. Both
    run in the notifier's thread.
    """

    database: Database

    def __init__(
        self,
        watched: Callable[[Logs], Watched],
        read: Callable[[Connection, Watched], Iterator[Callable[[], None]]],
    ) -> None:
        self._watched, self._read = watched, read
        self._loop: asyncio.AbstractEventLoop | None = None

    def follow(self) -> None:
        """Follow the log from now on. A second call has no effect."""
        self._loop = asyncio.get_running_loop()
        self.database.notifier.follow(self.look)

    def look(self, logs: Logs) -> None:
        """Read the new entries of these logs."""
        watched = self._watched(logs)
        if not watched:
            return
        try:
            with self.database.reading() as reader:
                for call in self._read(reader, watched):
                    self.call_soon(call)
        except DatabaseUnavailable:
            pass  # the outage is logged only once
        except Exception:
            _log.exception("log_not_read")

    def call_soon(self, call: Callable[[], None]) -> None:
        """Schedule a call on the event loop, unless the loop is closed."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)
