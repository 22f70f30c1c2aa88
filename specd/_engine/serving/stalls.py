"""Measures stalls of the event loop, by the delay of a timer, and the duration of garbage
collections, which are one cause of stalls.

While a callback runs on the loop, no other request of the process makes progress. The timer is due
every `TICK_S`, and its delay is the time that another callback took. A stall that begins between
two ticks is measured as up to one tick shorter than it was, so a stall of 20 ms is always counted,
and one of 15 ms may be counted.
"""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

from prometheus_client import Histogram

TICK_S = 0.005
STALL_S = 0.02
"""Callbacks on the loop must not take longer."""
LEAST_LATENESS_S = STALL_S - TICK_S

STALLS = Histogram(
    "specd_loop_stall_seconds",
    "How long the event loop of a process stood still, each time it was 20 ms or longer.",
    buckets=(0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
PAUSES = Histogram(
    "specd_gc_pause_seconds",
    "How long a process stood still for each collection of garbage.",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1),
)


class StallMeter:
    """Measures the loop on which it is started, and the process's garbage collector, until it is
    stopped.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._collecting_since = 0.0
        self._pauses: list[float] = []
        self.due = 0.0

    def start(self) -> None:
        """Start measuring. The caller runs on the measured loop."""
        self._loop = asyncio.get_running_loop()
        self._await_tick(self._loop)
        gc.callbacks.append(self._on_collection)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            gc.callbacks.remove(self._on_collection)

    def _await_tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self.due = loop.time() + TICK_S
        self._timer = loop.call_at(self.due, self._tick)

    def _tick(self) -> None:
        assert self._loop is not None
        late = self._loop.time() - self.due
        if late >= LEAST_LATENESS_S:
            STALLS.observe(late)
        while self._pauses:
            PAUSES.observe(self._pauses.pop())
        self._await_tick(self._loop)

    def _on_collection(self, phase: str, _: dict[str, Any]) -> None:
        """Record the pause for `_tick`, because Prometheus may be locked during a collection."""
        if phase == "start":
            self._collecting_since = time.perf_counter()
        else:
            self._pauses.append(time.perf_counter() - self._collecting_since)
