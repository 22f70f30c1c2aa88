"""The CPU time of requests that are asked one after the other."""

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
    """CPU time of this process and all its threads for one request, of so many."""
    began = time.process_time()
    for _ in range(count):
        await ask()
    return (time.process_time() - began) / count * 1e6


async def count_for(ask: Ask, seconds: float) -> int:
    """How many requests take about so long, of an application that is warm."""
    await spent_us(ask, 20)
    return max(5, round(seconds * 1e6 / await spent_us(ask, 10)))


async def take_turns(asks: Sequence[Ask], counts: Sequence[int], rounds: int) -> list[float]:
    """The median over the rounds, for each of those who take turns."""
    spent: list[list[float]] = [[] for _ in asks]
    for _ in range(rounds):
        for times, ask, count in zip(spent, asks, counts, strict=True):
            times.append(await spent_us(ask, count))
    return [median(times) for times in spent]
