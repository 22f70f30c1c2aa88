"""The end of the event log, which a process follows once for all of its long polls.

A poll that waits holds no thread, no connection and no statement: the thread of
`specd._db.notifier` reads the log for all of them, and wakes them on the event loop.
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
"""The logs that have grown, or None if any of them can have grown."""
_log = structlog.get_logger("polls")


class LogTail(Generic[Watched]):
    """Follows the log from the first `follow` on, which is called on the event loop.

    `watched(logs)` returns what is waited for in these logs. `read(connection, watched)` yields
    calls for the event loop, which hand out what is new. Both run in the notifier's thread.
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
        """Follow the log from now on; a second call changes nothing."""
        self._loop = asyncio.get_running_loop()
        self.database.notifier.follow(self.look)

    def look(self, logs: Logs) -> None:
        """Read what is new in these logs."""
        watched = self._watched(logs)
        if not watched:
            return
        try:
            with self.database.reading() as reader:
                for call in self._read(reader, watched):
                    self.call_soon(call)
        except DatabaseUnavailable:
            pass  # the log has one line for the outage
        except Exception:
            _log.exception("log_not_read")

    def call_soon(self, call: Callable[[], None]) -> None:
        """Have this called on the event loop, unless that has ended."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)
