"""The end of the event log, which a process follows once for all of its long polls.

A poll that waits holds no thread, no connection and no statement: the thread of `models.news` looks
for all of them, and what it finds is told on the event loop.
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
from models.news import Logs, News

Watched = TypeVar("Watched")
_log = structlog.get_logger("polls")


class LogTail(ABC, Generic[Watched]):
    """Used on the event loop, but for the looks; `_guard` protects what both threads use."""

    _database: Callable[[], Database]

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._news: News | None = None
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
    def _find(self, db: Connection, watched: Watched, news: News) -> Iterator[Callable[[], None]]:
        """Yield calls that tell of what is new, for as long as `_news` is `news`."""

    def _follow(self) -> None:
        self._loop, news = asyncio.get_running_loop(), self._database().news
        with self._guard:
            if news is not self._news:
                self._news = news
                self._forget()
        news.follow(self._look)

    def _look(self, logs: Logs) -> None:
        with self._guard:
            news, watched = self._news, self._watched(logs)
        if news is None or not watched:
            return
        try:
            with self._database().reading() as reader:
                for tell in self._find(reader, watched, news):
                    self._call_soon(self._tell, news, tell)
        except DatabaseUnavailable:
            pass  # the log has one line for the outage
        except Exception:
            _log.exception("log_not_read")

    def _tell(self, news: News, tell: Callable[[], None]) -> None:
        if self._news is news:
            tell()

    def _call_soon(self, call: Callable[..., None], *args: object) -> None:
        """Have this called on the event loop, unless that has ended."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *args)
