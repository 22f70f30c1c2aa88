"""How long the event loop stood still: a timer that notices its own lateness.

While one callback runs on the loop, no other request of the process moves. The timer is due every
`TICK_S`; what it is late by, somebody else took. A stall that begins between two ticks shows as up
to a tick shorter than it was.
"""

from __future__ import annotations

import asyncio

from prometheus_client import Histogram

TICK_S = 0.02
STALL_S = 0.02
"""The least lateness that counts: nothing that takes longer belongs on the loop."""

STALLS = Histogram(
    "specd_loop_stall_seconds",
    "How long the event loop of a process stood still, each time it was 20 ms or longer.",
    buckets=(0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)


class StallMeter:
    """Watches the loop it is started on, until it is stopped."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.due = 0.0

    def start(self) -> None:
        """Begin; the caller runs on the loop that is watched."""
        self._loop = asyncio.get_running_loop()
        self._await_tick(self._loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _await_tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self.due = loop.time() + TICK_S
        self._timer = loop.call_at(self.due, self._tick)

    def _tick(self) -> None:
        assert self._loop is not None
        late = self._loop.time() - self.due
        if late >= STALL_S:
            STALLS.observe(late)
        self._await_tick(self._loop)
