"""Whether the time of a rejection reveals its reason: two kinds in random order, compared by
Welch's t-test.

Requests go directly to the application, without a network that would hide microseconds. Values
above the 90th percentile of both kinds are caused by the machine and are omitted, as in dudect.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

LIMIT = 4.5
"""Above this |t| the two are distinguishable (Reparaz, Balasch, Verbauwhede 2016)."""

Send = Callable[[], tuple[int, bytes]]
"""Sends one request and returns its status and body."""

REQUEST_ID = re.compile(rb'"request_id":"[^"]*"')


@dataclass(frozen=True)
class Comparison:
    """`difference_us`: the difference of the means. `t`: Welch's statistic of the remaining
    values.
    """

    samples: int
    kept: int
    t: float
    difference_us: float
    mean_us: float
    same_answer: bool

    @property
    def is_constant(self) -> bool:
        return abs(self.t) < LIMIT and self.same_answer


def compare(one: Send, other: Send, *, samples: int, seed: int = 1) -> Comparison:
    """Send `samples` requests of both kinds, each chosen at random."""
    chance = random.Random(seed)
    sends, answers = (one, other), (one(), other())
    for send in sends * 20:
        send()
    times: tuple[list[int], list[int]] = ([], [])
    for _ in range(samples):
        which = chance.getrandbits(1)
        before = time.perf_counter_ns()
        sends[which]()
        times[which].append(time.perf_counter_ns() - before)
    ceiling = statistics.quantiles([*times[0], *times[1]], n=10)[-1]
    first, second = ([t for t in kind if t <= ceiling] for kind in times)
    a, b = statistics.fmean(first), statistics.fmean(second)
    spread = statistics.variance(first) / len(first) + statistics.variance(second) / len(second)
    return Comparison(
        samples=samples,
        kept=len(first) + len(second),
        t=(a - b) / spread**0.5,
        difference_us=(a - b) / 1000,
        mean_us=(a + b) / 2000,
        same_answer=_without_id(answers[0]) == _without_id(answers[1]),
    )


def _without_id(answer: tuple[int, bytes]) -> tuple[int, bytes]:
    return answer[0], REQUEST_ID.sub(b"", answer[1])
