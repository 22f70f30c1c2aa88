"""Ends the connections of clients that do not read their answers.

uvicorn waits for them for ever, with the answer in memory and the connection open. Here one timer
per process checks all connections now and then, so that a request costs nothing more. There are
also bounds for what all clients together, and those of one user, leave unread: beyond them, the
connection that has been full longest ends.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Collection, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

log = structlog.get_logger("specd.slow_readers")
LEAST_BYTES = 16 * 1024
"""What a client takes of an answer within the deadline, or all that is left of it."""
DEADLINES = 6
"""Within so many deadlines it takes the whole of an answer that is larger than that."""
MAX_UNREAD = 32 * 1024 * 1024
"""Bytes that all clients of the process together may leave unread."""
MAX_OF_ONE = MAX_UNREAD // 4
"""Bytes that all connections of one user may leave unread, so that nobody fills the process."""
READER = "specd.reader"
"""Key of the ASGI scope: a function that takes the reader of the answer."""
LOOKS = 4
"""How often a connection is checked within the deadline."""


class Connection(Protocol):
    """A connection that is checked. `reader`: the client of its answer; `drains`: how often a full
    buffer has become empty enough to go on; `exchanges`: how many have begun.
    """

    transport: asyncio.Transport
    reader: Hashable
    drains: int
    exchanges: int


@dataclass(frozen=True, slots=True)
class _Mark:
    """When a connection last went forward, and how it stood then. `whole`: what was unread of the
    exchange when it was first looked at.
    """

    at: float
    unread: int
    whole: int
    drains: int
    exchanges: int


class SlowReaders:
    """Watches `connections`, a living collection, as long as there are any."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connections: Collection[Connection],
        *,
        deadline_s: float,
    ) -> None:
        self._loop = loop
        self._connections = connections
        self._deadline_s = deadline_s
        self._marks: dict[Connection, _Mark] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._full: dict[Connection, None] = {}

    def note_full(self, connection: Connection) -> None:
        """Note that the connection's buffer is full, because its client reads too slowly."""
        self._full[connection] = None
        its = [each for each in self._full if each.reader == connection.reader]
        self._end_oldest(its, MAX_OF_ONE)
        self._end_oldest(list(self._full), MAX_UNREAD)

    def _end_oldest(self, waiting: list[Connection], most: int) -> None:
        """Until the others have no more unread than that; the last one has just become full."""
        sizes = [each.transport.get_write_buffer_size() for each in waiting]
        unread = sum(sizes)
        for each, size in zip(waiting[:-1], sizes, strict=False):
            if unread <= most:
                return
            log.info("too much unread", unread=unread, most=most)
            self._end(each)
            unread -= size

    def note_drained(self, connection: Connection) -> None:
        """Note that the connection's buffer has room again, or that the connection has ended."""
        self._full.pop(connection, None)

    def watch(self) -> None:
        """Check from now on, because there is a connection."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._deadline_s / LOOKS, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        self._marks = dict(self._waiting(now))
        for connection, mark in self._marks.items():
            if now - mark.at >= self._deadline_s:
                log.info("slow reader", unread=mark.unread)
                self._end(connection)
        if self._connections:
            self.watch()

    def _waiting(self, now: float) -> Iterator[tuple[Connection, _Mark]]:
        """Yield connections with something unread, and how they stood when they last progressed."""
        for connection in self._connections:
            unread = connection.transport.get_write_buffer_size()
            if not unread:
                continue
            found = _Mark(now, unread, unread, connection.drains, connection.exchanges)
            last = self._marks.get(connection)
            if last and (last.drains, last.exchanges) == (found.drains, found.exchanges):
                least = max(LEAST_BYTES, last.whole // DEADLINES)
                is_stuck = unread > last.unread - least
                found = last if is_stuck else replace(found, whole=last.whole)
            yield connection, found

    def _end(self, connection: Connection) -> None:
        self.note_drained(connection)
        _reset(connection.transport)


def _reset(transport: asyncio.Transport) -> None:
    """Close at once, and have the kernel forget what is unread too."""
    with suppress(OSError, AttributeError):
        at_once = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    transport.abort()
