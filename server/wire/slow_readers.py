"""Ends the connections of clients that do not read what they asked for.

uvicorn waits for them for ever, with the answer in memory and the connection open. Here one timer
per process looks at all connections now and then, so that a request costs nothing more.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import structlog

log = structlog.get_logger("specd.slow_readers")
LEAST_BYTES = 16 * 1024
"""What a client takes of an answer within the deadline, or all that is left of it."""
LOOKS = 4
"""How often a connection is looked at within the deadline."""


class Connection(Protocol):
    """What is looked at. `drains`: how often a full buffer has become empty enough to go on;
    `exchanges`: how many have begun.
    """

    transport: asyncio.Transport
    drains: int
    exchanges: int


@dataclass(frozen=True, slots=True)
class _Mark:
    """When a connection last went forward, and how it stood then."""

    at: float
    unread: int
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

    def watch(self) -> None:
        """Look from now on; there is a connection."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._deadline_s / LOOKS, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        self._marks = dict(self._waiting(now))
        for connection, mark in self._marks.items():
            if now - mark.at >= self._deadline_s:
                log.info("slow reader", unread=mark.unread)
                _reset(connection.transport)
        if self._connections:
            self.watch()

    def _waiting(self, now: float) -> Iterator[tuple[Connection, _Mark]]:
        """The connections with something unread, and since when they have not gone forward."""
        for connection in self._connections:
            unread = connection.transport.get_write_buffer_size()
            if not unread:
                continue
            found = _Mark(now, unread, connection.drains, connection.exchanges)
            last = self._marks.get(connection)
            is_stuck = (
                last is not None
                and (last.drains, last.exchanges) == (found.drains, found.exchanges)
                and unread > last.unread - LEAST_BYTES
            )
            yield connection, last if is_stuck and last is not None else found


def _reset(transport: asyncio.Transport) -> None:
    """Close at once, and have the kernel forget what is unread too."""
    with suppress(OSError, AttributeError):
        at_once = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    transport.abort()
