"""A paced load for an hour with a fault every half minute, on a chain with reorganizations.

Checks that nothing is lost, that no process grows, and that requests between the faults are as fast
as before them.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import httpx

from benchmarks.live.servers import pss
from benchmarks.soak.memory import Memory
from tests.live.cluster.load import Load
from tests.live.cluster.topology import MACHINES, Cluster, until
from wsgi import project

CALM_S = 180.0
"""Load without a fault, before the first fault."""
EVERY_S = 30.0
AGAIN_S = 5.0
"""The time after a fault in which requests may be slow."""
SLOWER = 2.0
"""The maximum ratio of the 99th percentiles between and before the faults."""
LEFT_OVER = 1.5
"""The maximum ratio of the number of threads after and before the faults."""
CONNECTIONS = 2 * 8 + 3
"""The maximum number of connections of a process to one database: twice SPECD_DATABASE_POOL_SIZE,
and three others.

A pool keeps all connections that it needed once.
"""
DEPTHS = (1, 2, 3)
PARTS = tuple(f"{word}-{name}" for name in MACHINES for word in ("serve", "worker"))
LOOK_S = 10.0


class Campaign:
    """The result of a campaign. `faults` are violated expectations."""

    def __init__(self, cluster: Cluster, load: Load) -> None:
        self._cluster, self._load = cluster, load
        self._memory = {part: Memory(part) for part in PARTS}
        self._troubled: list[tuple[float, float]] = []
        self.faults: list[str] = []
        self.done = 0

    def run(self, breaks: Mapping[str, Callable[[Cluster], None]], *, minutes: float) -> str:
        """Break one part after the other for `minutes`. Return the figures."""
        began = time.monotonic()
        with self._watching_memory():
            time.sleep(CALM_S)
            before = self._left()
            calm_until = time.monotonic()
            for depth, (name, break_it) in zip(
                itertools.cycle(DEPTHS), itertools.cycle(breaks.items()), strict=True
            ):
                if time.monotonic() - began > minutes * 60:
                    break
                self._endure(name, break_it, depth)
            time.sleep(CALM_S)
        after = self._left()
        self._judge_left(before, after)
        memory = ", ".join(self._grown(each) for each in self._memory.values())
        return (
            f"{self.done} faults; p99 {self._slowness(calm_until)}; {memory};"
            f" threads {before[0]} -> {after[0]}, connections {before[1]} -> {after[1]}"
        )

    def _endure(self, name: str, break_it: Callable[[Cluster], None], depth: int) -> None:
        began = time.monotonic()
        try:
            break_it(self._cluster)
            until(self._cluster.takes_writes, "a primary", 90)
            for machine in MACHINES:
                self._cluster.until_ready(machine)
            until(self._cluster.has_synchronous, "the synchronous replica", 90)
        except (TimeoutError, LookupError, httpx.HTTPError) as error:
            self.faults.append(f"{name}: {error!r}")
        self._troubled.append((began, time.monotonic() + AGAIN_S))
        self.done += 1
        self._load.reorganise(depth)
        time.sleep(max(began + EVERY_S - time.monotonic(), AGAIN_S))

    # --- the processes ------------------------------------------------------------------------

    @contextmanager
    def _watching_memory(self) -> Iterator[None]:
        stopping = threading.Event()

        def watch() -> None:
            began = time.monotonic()
            while not stopping.wait(LOOK_S):
                for part, memory in self._memory.items():
                    memory.samples.append((time.monotonic() - began, self._kib(part)))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()

    def _kib(self, part: str) -> int:
        return sum(pss(pid) for pid in self._cluster.programs[part].pids())

    def _grown(self, memory: Memory) -> str:
        if not memory.is_flat:
            self.faults.append(f"the memory of {memory.title} is not flat: {memory.growth:+.1%}")
        first, last = (memory.quarter(number) / 1024 for number in (2, 4))
        return f"{memory.title} {first:.1f} -> {last:.1f} MiB"

    def _left(self) -> tuple[int, int]:
        """Return the threads of all processes of specd, and its connections to the primary."""
        threads = sum(
            len(list(Path(f"/proc/{pid}/task").iterdir()))
            for part in PARTS
            for pid in self._cluster.programs[part].pids()
        )
        return threads, len(self._cluster.backends())

    def _judge_left(self, before: tuple[int, int], after: tuple[int, int]) -> None:
        if after[0] > before[0] * LEFT_OVER:
            self.faults.append(f"{after[0]} threads are left, {before[0]} were there before")
        if after[1] > CONNECTIONS * len(PARTS) * len(project.names):
            self.faults.append(f"{after[1]} connections are left, {before[1]} were there before")

    # --- the requests -------------------------------------------------------------------------

    def _slowness(self, calm_until: float) -> str:
        figures = []
        seen_of = {"create": self._load.invoices, "send": self._load.messages}
        for name, seen in seen_of.items():
            calm = _p99([took for at, took in seen.took if at < calm_until])
            later = [took for at, took in seen.took if at > calm_until and self._is_well(at)]
            between = _p99(later)
            figures.append(f"{name} {calm * 1000:.0f} -> {between * 1000:.0f} ms")
            if between > calm * SLOWER:
                self.faults.append(f"{name}: between faults p99 {between:.3f} s, before {calm:.3f}")
        return ", ".join(figures)

    def _is_well(self, moment: float) -> bool:
        return not any(begin - 1 <= moment <= end for begin, end in self._troubled)


def _p99(seconds: list[float]) -> float:
    return quantiles(seconds, n=100)[-1]
