"""The long polls of one process: who waits for events of which project.

A poll that waits holds no thread, no connection and no statement. The thread of `models.news` looks
which projects have new events, once for all polls, and wakes theirs; each then reads what its own
filters want.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import structlog

from models.database import Database
from models.errors import DatabaseUnavailable
from models.news import Logs
from models.payment.event_list import find_heads
from models.payment.event_log import log_of

_log = structlog.get_logger("polls")
Woken = asyncio.Future[None]
"""Done as soon as the project may have an event that was not there when it was made."""


class Polls:
    """The polls of one process. Used on its event loop, but for `_look`."""

    def __init__(self) -> None:
        self._database: Callable[[], Database] = _not_serving
        self._guard = threading.Lock()
        self._waiting: dict[str, set[Woken]] = defaultdict(set)
        self._heads: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def serve(self, database: Callable[[], Database]) -> None:
        """Serve the events of this database; until then there are none."""
        self._database = database

    @contextmanager
    def joined(self, project_id: str) -> Iterator[Woken]:
        """Whoever has joined and then finds nothing in the log is woken by what comes."""
        loop = self._loop = asyncio.get_running_loop()
        woken: Woken = loop.create_future()
        with self._guard:
            self._waiting[project_id].add(woken)
        self._database().news.follow(self._look)
        try:
            yield woken
        finally:
            with self._guard:
                self._waiting[project_id].discard(woken)
                if not self._waiting[project_id]:
                    del self._waiting[project_id]
                    self._heads.pop(project_id, None)

    def _look(self, logs: Logs) -> None:
        """Wake the polls of the projects whose newest event is another than at the last look."""
        with self._guard:
            watched = [p for p in self._waiting if logs is None or log_of(p) in logs]
        if not watched:
            return
        try:
            with self._database().reading() as reader:
                heads = find_heads(reader, watched)
        except DatabaseUnavailable:
            return  # the log has one line for the outage
        except Exception:
            _log.exception("log_not_read")
            return
        with self._guard:
            heads = {p: head for p, head in heads.items() if p in self._waiting}
            grown = [p for p, head in heads.items() if self._heads.get(p) != head]
            self._heads |= heads
        loop = self._loop
        if grown and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake, grown)

    def _wake(self, project_ids: list[str]) -> None:
        with self._guard:
            woken = [one for p in project_ids for one in self._waiting.get(p, ())]
        for one in woken:
            if not one.done():
                one.set_result(None)


def _not_serving() -> NoReturn:
    raise RuntimeError("the polls have not been given a database")
