"""The figures of a run as one Markdown table, and the goals."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.webhooks.measures import Burst, Latency

BAD_ONES = "one hangs, one refuses, one is silent"
SLOWEST_PACE = 0.9
"""The minimum share of the intended rate at which a goal can be evaluated."""


@dataclass(frozen=True)
class Line:
    """A sender and its receivers. None means not measured."""

    sender: str
    receivers: str
    burst: Burst | None = None
    latency: Latency | None = None
    of_peer: float | None = None
    """Events per second from a backlog, as a share of the peer's."""
    is_judged: bool = False
    """Whether the goal for receivers with bad neighbors applies."""


def line_of(line: Line) -> str:
    burst, latency = line.burst, line.latency
    cells = [
        f"{burst.per_second:,.0f}" if burst else "",
        f"{line.of_peer:.0%}" if line.of_peer is not None else "",
        f"{burst.cpu_ms:.2f}" if burst else "",
        f"{latency.per_second:,.0f}" if latency else "",
        f"{latency.p50_ms:,.0f}" if latency else "",
        f"{latency.p99_ms:,.0f}" if latency else "",
        f"{latency.slowest_ms:,.0f}" if latency else "",
    ]
    return f"| {line.sender} | {line.receivers} | {' | '.join(cells)} |"


def table(lines: Sequence[Line]) -> str:
    heads = (
        "| sender | receivers | events/s from a backlog | of the peer | CPU ms each"
        " | events/s as they come | p50 ms from commit to receipt | p99 ms | slowest |"
    )
    return "\n".join([heads, "|---|---|---:|---:|---:|---:|---:|---:|---:|", *map(line_of, lines)])


def goal(
    lines: Sequence[Line], *, receivers: int, bound_ms: float, per_second: float
) -> tuple[str, bool]:
    """Return the goal for receivers with bad neighbors, and whether the worst line reaches it. If
    events came slower than intended, the machine was too busy to decide.
    """
    found = [line.latency for line in lines if line.is_judged and line.latency is not None]
    worst = max(latency.p99_ms for latency in found)
    pace = min(latency.per_second for latency in found)
    is_reached = worst <= bound_ms
    said = (
        f"Of {receivers} receivers {BAD_ONES}. At {pace:,.0f} events/s the p99 of the others from "
        f"commit to receipt is {worst:,.0f} ms; the goal is {bound_ms:,.0f} ms at most at "
        f"{per_second:,.0f} events/s: "
    )
    if pace < SLOWEST_PACE * per_second:
        return said + "not measured, the events came too slowly.", False
    return said + ("reached." if is_reached else "not reached."), is_reached
