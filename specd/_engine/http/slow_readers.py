"""Ends the connections of clients that do not read their responses.

uvicorn waits for them forever, with the response in memory and the connection open. Here, one timer
per process checks all connections periodically, so that a request has no extra cost. There are also
limits for the unread data of all clients, and of each user. If they are exceeded, the connection
that has been full longest is ended.
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
"""The size in bytes that a client must read within the deadline, unless less remains."""
DEADLINES = 6
"""The number of deadlines within which a client must read a complete larger response."""
MAX_UNREAD = 32 * 1024 * 1024
"""The maximum unread bytes of all clients of the process."""
MAX_OF_ONE = MAX_UNREAD // 4
"""The maximum unread bytes of all connections of one user, so that one user cannot exhaust the
process.
"""
READER = "specd.reader"
"""The key of the ASGI scope with a function to which the reader of the response is passed."""
LOOKS = 4
"""The number of checks of a connection within the deadline."""


class Connection(Protocol):
    """A connection that is checked. `reader` is the client of its response. `drains` is the number
    of times that a full buffer was drained, and `exchanges` the number of exchanges that have
    begun.
    """

    transport: asyncio.Transport
    reader: Hashable
    drains: int
    exchanges: int


@dataclass(frozen=True, slots=True)
class _Mark:
    """The time of the last progress of a connection, and its state then. `whole` is the size that
    was unread at the first check of the exchange.
    """

    at: float
    unread: int
    whole: int
    drains: int
    exchanges: int


class SlowReaders:
    """Checks `connections`, a collection that changes, while there are any."""

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
        """Record that the connection's buffer is full, because its client reads too slowly."""
        self._full[connection] = None
        its = [each for each in self._full if each.reader == connection.reader]
        self._end_oldest(its, MAX_OF_ONE)
        self._end_oldest(list(self._full), MAX_UNREAD)

    def _end_oldest(self, waiting: list[Connection], most: int) -> None:
        """End the oldest connections until the unread data of the others are at most `most`. The
        last one, which has just become full, is not ended.
        """
        sizes = [each.transport.get_write_buffer_size() for each in waiting]
        unread = sum(sizes)
        for each, size in zip(waiting[:-1], sizes, strict=False):
            if unread <= most:
                return
            log.info("too much unread", unread=unread, most=most)
            self._end(each)
            unread -= size

    def note_drained(self, connection: Connection) -> None:
        """Record that the connection's buffer has room again, or that the connection has ended."""
        self._full.pop(connection, None)

    def watch(self) -> None:
        """Start the checks, because there is a connection."""
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
        """Yield connections with unread data, and their state at their last progress."""
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
    """Close the connection immediately, and discard unread data in the kernel too."""
    with suppress(OSError, AttributeError):
        at_once = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    transport.abort()
