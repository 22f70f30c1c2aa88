"""The figures of a run as Markdown tables, and the goals."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.live.measures import Telling, Waiting
from benchmarks.load.checkout import HERE

Percentiles = tuple[float, float]


@dataclass(frozen=True)
class Latency:
    """p50 and p99 in milliseconds, of the clients that `where` describes."""

    where: str
    since_request: Percentiles
    since_answer: Percentiles


@dataclass
class Figures:
    """The figures of one server with `processes` processes."""

    name: str
    processes: int
    latencies: list[Latency]
    all_told_ms: list[float]
    waiting: Waiting | None = None

    @property
    def title(self) -> str:
        return f"{self.name}, {self.processes} process{'es' if self.processes > 1 else ''}"


def latencies_of(telling: Telling, processes: int) -> list[Latency]:
    cases: dict[str, bool | None] = {"all": None}
    if processes > 1:
        cases |= {"in the sender's process": True, "in the other process": False}
    found = []
    for where, near in cases.items():
        request = telling.percentiles(since="request", near=near)
        answer = telling.percentiles(since="answer", near=near)
        if request is not None and answer is not None:
            found.append(Latency(where, request, answer))
    return found


def latency_table(measured: Sequence[Figures], clients: int) -> str:
    lines = [
        f"| a message to {clients:,} waiting clients | clients | p50 ms since the answer | p99 ms |"
        " p50 ms since the request | p99 ms |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for it in measured:
        for latency in it.latencies:
            numbers = (*latency.since_answer, *latency.since_request)
            cells = " | ".join(f"{number:.1f}" for number in numbers)
            lines.append(f"| {it.title} | {latency.where} | {cells} |")
    return "\n".join(lines)


def fan_out_table(measured: Sequence[Figures], clients: int) -> str:
    lines = [
        f"| a message to {clients:,} waiting clients | all told, ms after the answer | slowest |",
        "|---|---:|---:|",
    ]
    lines += [
        f"| {it.title} | {median(it.all_told_ms):,.0f} | {max(it.all_told_ms):,.0f} |"
        for it in measured
        if it.all_told_ms
    ]
    return "\n".join(lines)


def doubts(found: Waiting) -> str:
    """Return reasons why the share of a core is higher than that of clients that only wait."""
    said = [] if found.at_rest else ["not at rest"]
    if found.tainted:
        said.append(f"{found.tainted:,} heartbeats")
    return f" ({', '.join(said)})" if said else ""


def waiting_table(measured: Sequence[Figures]) -> str:
    lines = [
        "| clients that wait | clients | in each process | KiB each | CPU of a core |"
        " with heartbeats | statements/s | all told, s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for it in measured:
        found = it.waiting
        if found is None:
            continue
        cells = (
            f"{found.clients:,}",
            " + ".join(f"{count:,}" for count in found.processes),
            f"{found.kib_each:.1f}",
            f"{found.idle_share:.1%}{doubts(found)}",
            "" if found.beating_share is None else f"{found.beating_share:.1%}",
            "" if found.statements is None else f"{found.statements:.1f}",
            f"{found.told_s:.1f}",
        )
        lines.append(f"| {it.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def goals_table(measured: Sequence[Figures]) -> tuple[str, bool]:
    """Return the goals, our slowest server's result and the peer's, and whether all are reached."""
    own = [it for it in measured if it.name.startswith(f"{HERE.name}, ")]
    peers = [it for it in measured if not it.name.startswith(HERE.name)]

    def answers(index: int, of: Sequence[Figures]) -> list[float]:
        return [latency.since_answer[index] for it in of for latency in it.latencies]

    def kib(of: Sequence[Figures]) -> list[float]:
        return [it.waiting.kib_each for it in of if it.waiting is not None]

    def idle(of: Sequence[Figures]) -> list[float]:
        return [it.waiting.idle_share * 100 for it in of if it.waiting is not None]

    def told(of: Sequence[Figures]) -> list[float]:
        return [time for it in of for time in it.all_told_ms]

    rows = (
        ("p50 since the answer, ms", 20, answers(0, own), answers(0, peers)),
        ("p99 since the answer, ms", 100, answers(1, own), answers(1, peers)),
        ("all subscribers told, ms", 1000, told(own), told(peers)),
        ("KiB of a client that waits", 40, kib(own), kib(peers)),
        ("CPU of a core while all wait, %", 5, idle(own), idle(peers)),
    )
    lines = ["| goal | at most | worst of ours | the peer | reached |", "|---|---:|---:|---:|---|"]
    reached_all = True
    for what, bound, ours, theirs in rows:
        if not ours:
            continue
        reached = max(ours) <= bound
        reached_all = reached_all and reached
        peer = f"{max(theirs):.1f}" if theirs else ""
        lines.append(
            f"| {what} | {bound} | {max(ours):.1f} | {peer} | {'yes' if reached else 'no'} |"
        )
    return "\n".join(lines), reached_all
