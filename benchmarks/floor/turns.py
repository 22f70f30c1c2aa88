"""The CPU time of consecutive requests."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.floor.wire import Ask


@dataclass(frozen=True, slots=True)
class Row:
    """CPU time of one operation, in microseconds per request; medians over the rounds."""

    operation: str
    statements: int
    bytes: int
    ours_us: float
    floor_us: float

    @property
    def ratio(self) -> float:
        return self.ours_us / self.floor_us


async def spent_us(ask: Ask, count: int) -> float:
    """Return the CPU time per request of this process with all its threads, over
    `count` requests.
    """
    began = time.process_time()
    for _ in range(count):
        await ask()
    return (time.process_time() - began) / count * 1e6


async def count_for(ask: Ask, seconds: float) -> int:
    """Return how many requests take about `seconds`, after warming up the application."""
    await spent_us(ask, 20)
    return max(5, round(seconds * 1e6 / await spent_us(ask, 10)))


async def take_turns(asks: Sequence[Ask], counts: Sequence[int], rounds: int) -> list[float]:
    """Return the median over the rounds for each of `asks`, which take turns."""
    spent: list[list[float]] = [[] for _ in asks]
    for _ in range(rounds):
        for times, ask, count in zip(spent, asks, counts, strict=True):
            times.append(await spent_us(ask, count))
    return [median(times) for times in spent]
