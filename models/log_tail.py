"""The end of the event log, which a process follows once for all of its long polls.

A poll that waits holds no thread, no connection and no statement: the thread of `models.notifier`
looks for all of them, and wakes them on the event loop.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import structlog
from sqlalchemy import Connection

from models.database import Database
from models.errors import DatabaseUnavailable
from models.notifier import Logs, Notifier

Watched = TypeVar("Watched")
_log = structlog.get_logger("polls")


class LogTail(ABC, Generic[Watched]):
    """Used on the event loop, but for the looks; `_guard` protects what both threads use."""

    _database: Callable[[], Database]

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._notifier: Notifier | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def serve(self, database: Callable[[], Database]) -> None:
        """Serve the log of this database, before the first poll comes."""
        self._database = database

    @abstractmethod
    def _forget(self) -> None:
        """Forget how far the log was read: another is served now. The guard is held."""

    @abstractmethod
    def _watched(self, logs: Logs) -> Watched:
        """Return what is waited for in these logs. The guard is held."""

    @abstractmethod
    def _find(
        self, db: Connection, watched: Watched, notifier: Notifier
    ) -> Iterator[Callable[[], None]]:
        """Yield calls that tell of what is new, for as long as `_notifier` is `notifier`."""

    def _follow(self) -> None:
        self._loop, notifier = asyncio.get_running_loop(), self._database().notifier
        with self._guard:
            if notifier is not self._notifier:
                self._notifier = notifier
                self._forget()
        notifier.follow(self._look)

    def _look(self, logs: Logs) -> None:
        with self._guard:
            notifier, watched = self._notifier, self._watched(logs)
        if notifier is None or not watched:
            return
        try:
            with self._database().reading() as reader:
                for notify in self._find(reader, watched, notifier):
                    self._call_soon(self._notify, notifier, notify)
        except DatabaseUnavailable:
            pass  # the log has one line for the outage
        except Exception:
            _log.exception("log_not_read")

    def _notify(self, notifier: Notifier, notify: Callable[[], None]) -> None:
        if self._notifier is notifier:
            notify()

    def _call_soon(self, call: Callable[..., None], *args: object) -> None:
        """Have this called on the event loop, unless that has ended."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *args)
