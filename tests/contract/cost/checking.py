"""The limits of a request's cost in time, statements and bytes, and the measurements."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.contract.cost.meter import Cost, Meter
from tests.contract.cost.stage import Stage

COSTS = Path(__file__).with_name("costs.yaml")
CPU_S = 0.25
TURN_S = 0.02
HELD_S = 0.05
SMALL_S = 0.03
"""The growth of a smaller cost is not measured, because noise would dominate."""
LINEAR = 1.3
"""Maximum ratio of the complete cost to twice the half, or four times the quarter."""
KEPT_S = 0.05
FEW = 4
"""Up to this many additional statements depend on the kinds of objects, not on their number."""
MAX_ANSWERED = 24 * 1024 * 1024
"""Maximum bytes of a response: 10 MB of Markdown and HTML, as JSON and with search highlights."""
WRITTEN_FOR_SENT = 8
"""Bytes of rows for each byte of a request. Texts are stored as Markdown and HTML, and in events.
"""
WRITTEN_ANYWAY = 16 * 1024
WRITTEN_FOR_PERSON = 112
"""Additional bytes, once and for each user that a request can notify or name."""
MAX_LOGGED = 2 * 1024

Make = Callable[[float], httpx.Request]
"""A function that creates a request, filled to a share of the documented maximum."""


def allowed_statements() -> dict[str, int]:
    """Return operationId -> the maximum number of statements of one request."""
    costs = yaml.safe_load(COSTS.read_text())
    return {**costs["payment"], **costs["chat"]}


def writes_more() -> dict[str, str]:
    """Return operationId -> the reason why one request may write more than the limit."""
    reasons: dict[str, str] = yaml.safe_load(COSTS.read_text())["writes_more"]
    return reasons


@dataclass(frozen=True)
class Try:
    """A measured request: its place, its filling, its response and its cost."""

    operation: str
    place: str
    filling: str
    status: int
    cost: Cost
    request: httpx.Request | None = None
    """Stored only for the most expensive requests."""

    def __str__(self) -> str:
        cost = self.cost
        return (
            f"{cost.seconds * 1000:7.1f} ms  loop {cost.turn * 1000:6.1f} ms  "
            f"held {cost.held * 1000:6.1f} ms  {cost.statements:4} statements  {self.status}  "
            f"{self.operation}  {self.place}: {self.filling}{self.bytes}"
        )

    @property
    def bytes(self) -> str:
        cost = self.cost
        tables = ", ".join(f"{table} {size}" for table, size in cost.written.most_common(3))
        return (
            f"  (bytes: sent {cost.sent}, answered {cost.answered}, logged {cost.logged}, "
            f"written {cost.written.total()} {tables})"
        )


@dataclass
class CostChecker:
    """Measures requests and collects the findings. If `timed` is true, processor time is checked
    too.
    """

    stage: Stage
    meter: Meter
    timed: bool = True
    loud: bool = False
    tries: list[Try] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    usual: dict[str, int] = field(default_factory=dict)
    dear: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._allowed = allowed_statements()
        self._writes_more = writes_more()

    def check(self, operation: str, place: str, filling: str, make: Make) -> Try:
        """Measure a request at its maximum, and with smaller fillings if they are informative."""
        status, cost = self._measure(make, 1.0)
        if self.timed and (cost.seconds > CPU_S or cost.turn > TURN_S or cost.held > HELD_S):
            for _ in range(2):
                cost = cost.least(self._measure(make, 1.0)[1])
        request = make(1.0) if cost.seconds > KEPT_S else None
        tried = Try(operation, place, filling, status, cost, request)
        self.tries.append(tried)
        for fault in self._faults(operation, cost, make, status):
            self.findings.append(f"{fault}: {tried}")
            if self.loud:
                print(self.findings[-1], file=sys.stderr, flush=True)
        return tried

    def _faults(self, operation: str, cost: Cost, make: Make, status: int) -> list[str]:
        faults = []
        if status >= 500:
            faults.append("answered with a fault of its own")
        if cost.within:
            faults.append(f"a write waits for {', '.join(sorted(cost.within))}")
        if cost.statements > self._allowed.get(operation, 0):
            faults.append(f"more than {self._allowed.get(operation, 0)} statements")
        if cost.statements > self.usual.get(operation, cost.statements) + FEW:
            quarter = self._measure(make, 0.25)[1].statements
            if cost.statements - quarter > FEW:
                faults.append(f"statements grow from {quarter}")
        if self.timed:
            faults.extend(self._slow(cost, make))
        faults.extend(self._heavy(operation, cost))
        return faults

    def _heavy(self, operation: str, cost: Cost) -> list[str]:
        faults = []
        if cost.answered > MAX_ANSWERED:
            faults.append("too large an answer")
        if cost.logged > MAX_LOGGED:
            faults.append("too much in the log")
        most = WRITTEN_ANYWAY + WRITTEN_FOR_PERSON * self.stage.people
        if operation in self._writes_more:
            return faults
        if cost.written.total() > WRITTEN_FOR_SENT * cost.sent + most:
            faults.append("writes too much")
        return faults

    def _slow(self, cost: Cost, make: Make) -> list[str]:
        faults = []
        if cost.seconds > CPU_S:
            faults.append("too much processor time")
        if cost.turn > TURN_S:
            faults.append("too long on the event loop")
        if cost.held > HELD_S:
            faults.append("a write waits for Python")
        if cost.seconds > SMALL_S:
            whole = min(cost.seconds - cost.linkifying, self._least(make, 1.0))
            quarter, half = self._least(make, 0.25), self._least(make, 0.5)
            if whole > SMALL_S and whole > 4 * LINEAR * quarter and whole > 2 * LINEAR * half:
                faults.append(f"grows by {whole / quarter:.1f} from a quarter")
        return faults

    def _least(self, make: Make, part: float) -> float:
        costs = [self._measure(make, part)[1] for _ in range(3)]
        return min(cost.seconds - cost.linkifying for cost in costs)

    def _measure(self, make: Make, part: float) -> tuple[int, Cost]:
        request = make(part)
        cost, response = self.meter.measure(lambda: self.stage.send(request))
        cost.sent, cost.answered = size_of(request), len(response.content)
        return response.status_code, cost


def size_of(request: httpx.Request) -> int:
    """Return the bytes of a request as sent."""
    lines = sum(len(name) + len(value) + 4 for name, value in request.headers.raw)
    return len(request.method) + len(request.url.raw_path) + 12 + lines + len(request.content)


def worst(tries: list[Try], number: int = 10) -> list[Try]:
    """Return the most expensive requests, one for each operation and place."""
    found: dict[Any, Try] = {}
    for tried in sorted(tries, key=lambda t: -t.cost.seconds):
        found.setdefault((tried.operation, tried.place), tried)
    return list(found.values())[:number]


def heaviest(tries: list[Try]) -> list[Try]:
    """Return the successful requests that logged and wrote the most bytes, two for each."""
    found: list[Try] = []
    for weight in (
        lambda cost: cost.answered,
        lambda cost: cost.logged,
        lambda cost: cost.written.total() - WRITTEN_FOR_SENT * cost.sent,
    ):
        best: dict[str, Try] = {}
        for tried in sorted(tries, key=lambda t: -weight(t.cost)):
            best.setdefault(tried.operation, tried)
        found.extend(list(best.values())[:3])
    return found
