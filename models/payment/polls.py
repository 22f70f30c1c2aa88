"""The long polls of one process, by the project whose events they wait for.

One query finds the projects that have new events and wakes their polls. Each poll then reads with
its filters.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from sqlalchemy import Connection

from models.log_tail import Logs, LogTail
from models.payment.event_list import find_heads
from models.payment.event_log import log_of

Woken = asyncio.Future[None]
"""Done as soon as the project may have an event newer than the future."""


class Polls:
    """The polls of one process, by project id. Set `tail.database` before the first poll."""

    def __init__(self) -> None:
        self.tail = LogTail(self._watched, self._read)
        self._lock = threading.Lock()
        self._waiting: dict[str, set[Woken]] = defaultdict(set)
        self._heads: dict[str, int] = {}

    @contextmanager
    def joined(self, project_id: str) -> Iterator[Woken]:
        """Yield a future that the next event completes, even an event before the first read."""
        woken: Woken = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting[project_id].add(woken)
        self.tail.follow()
        try:
            yield woken
        finally:
            with self._lock:
                self._waiting[project_id].discard(woken)
                if not self._waiting[project_id]:
                    del self._waiting[project_id]
                    self._heads.pop(project_id, None)

    def _watched(self, logs: Logs) -> list[str]:
        with self._lock:
            return [p for p in self._waiting if logs is None or log_of(p) in logs]

    def _read(self, db: Connection, watched: list[str]) -> Iterator[Callable[[], None]]:
        """Yield the call that wakes the polls of the projects whose newest event has changed."""
        heads = find_heads(db, watched)
        with self._lock:
            heads = {p: head for p, head in heads.items() if p in self._waiting}
            grown = [p for p, head in heads.items() if self._heads.get(p) != head]
            self._heads |= heads
        if grown:
            yield partial(self._wake, grown)

    def _wake(self, project_ids: list[str]) -> None:
        for project_id in project_ids:
            for woken in self._waiting.get(project_id, ()):
                if not woken.done():
                    woken.set_result(None)
