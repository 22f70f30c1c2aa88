"""Writes responses of one turn of the event loop together.

A write to a socket wakes a reader that is sleeping at the other end, which costs the writer several
times more than a write to a running reader. If many connections are busy, one turn of the loop
responds to many requests. The first response is written immediately. Responses that follow it
closely wait for the end of the turn, so that their readers are woken once. A response that took
long does not wait.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

CLOSE_S = 0.0001
"""A write waits if it follows the previous one within this time."""
WAIT_S = 0.0003
"""The longest time that writes wait, plus the time of one request."""
MAX_BYTES = 64 * 1024
"""The maximum size that waits on one connection. More must be written, because the transport
controls the flow by the size of its buffer.
"""

PIECE = 256 * 1024
"""The size of the pieces that are passed to the transport."""


class Coalescer:
    """The transports of one event loop that have waiting writes."""

    __slots__ = ("_holding", "_is_called", "_loop", "last", "since")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._holding: list[CoalescingTransport] = []
        self._is_called = False
        self.last = 0.0
        """The time of the last write."""
        self.since = 0.0
        """The time since which writes have been waiting."""

    def hold(self, transport: CoalescingTransport, now: float) -> None:
        """Flush `transport` at the end of this turn."""
        if not self._holding:
            self.since = now
        self._holding.append(transport)
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._end_turn)

    def flush(self) -> None:
        """Flush all waiting transports in order."""
        holding, self._holding = self._holding, []
        for transport in holding:
            transport.flush()

    def _end_turn(self) -> None:
        self._is_called = False
        self.flush()


class CoalescingTransport(asyncio.Transport):
    """A transport that writes to another transport, immediately or at the end of the turn.

    All other calls are passed on. Waiting data are written before the connection closes.
    """

    __slots__ = ("_coalescer", "_held", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, coalescer: Coalescer) -> None:
        self._transport = transport
        self._coalescer = coalescer
        self._held: list[bytes] = []
        self._size = 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def write(self, data: Any) -> None:
        coalescer = self._coalescer
        now = perf_counter()
        is_close = now - coalescer.last < CLOSE_S
        coalescer.last = now
        if not is_close:
            coalescer.flush()
            self._write(data)
            return
        if not self._held:
            coalescer.hold(self, now)
        self._held.append(bytes(data))
        self._size += len(data)
        if self._size > MAX_BYTES or now - coalescer.since > WAIT_S:
            coalescer.flush()

    def flush(self) -> None:
        """Write the waiting data."""
        if not self._held:
            return
        held, self._held, self._size = self._held, [], 0
        self._write(held[0] if len(held) == 1 else b"".join(held))

    def _write(self, data: Any) -> None:
        """Write data in pieces. The transport keeps a piece until its last byte is sent, so the
        parts of a large response that a slow client has read can be freed.
        """
        for start in range(0, len(data), PIECE):
            if self._transport.is_closing():  # uvloop raises if the peer has disconnected
                return
            self._transport.write(data if len(data) <= PIECE else data[start : start + PIECE])

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size() + self._size

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        self._held.clear()
        self._transport.abort()
