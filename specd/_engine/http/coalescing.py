"""Answers of one turn of the event loop that go out together.

A write to a socket wakes whoever sleeps at its other end, and that costs the writer several times
what a write to somebody awake costs. Where many connections are busy, one turn of the loop answers
many requests. The first answer goes out at once. Answers that follow it closely wait for the end of
the turn, so that their readers are woken once. An answer that took long waits for nobody.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

CLOSE_S = 0.0001
"""How closely a write has to follow the one before to wait."""
WAIT_S = 0.0003
"""How long writes wait at most, and one request more."""
MAX_BYTES = 64 * 1024
"""What waits on one connection at most: beyond it, the transport has to know how much there is."""

PIECE = 256 * 1024
"""How much is given to the transport at a time."""


class Coalescer:
    """The transports of one event loop that hold something back."""

    __slots__ = ("_holding", "_is_called", "_loop", "last", "since")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._holding: list[CoalescingTransport] = []
        self._is_called = False
        self.last = 0.0
        """When something was last written."""
        self.since = 0.0
        """Since when something waits."""

    def hold(self, transport: CoalescingTransport, now: float) -> None:
        """Let `transport` write what it holds at the end of this turn."""
        if not self._holding:
            self.since = now
        self._holding.append(transport)
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._end_turn)

    def flush(self) -> None:
        """Write all that waits, in its order."""
        holding, self._holding = self._holding, []
        for transport in holding:
            transport.flush()

    def _end_turn(self) -> None:
        self._is_called = False
        self.flush()


class CoalescingTransport(asyncio.Transport):
    """A transport that writes through another one, at once or at the end of the turn.

    Everything else is the other's. What is held back goes out before the connection closes.
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
        """Write what is held back."""
        if not self._held:
            return
        held, self._held, self._size = self._held, [], 0
        self._write(held[0] if len(held) == 1 else b"".join(held))

    def _write(self, data: Any) -> None:
        """In pieces, because the transport keeps the whole of a piece until its last byte is gone:
        of a large answer that is read slowly, what has been read is let go.
        """
        for start in range(0, len(data), PIECE):
            if self._transport.is_closing():  # uvloop raises where the peer has gone
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
