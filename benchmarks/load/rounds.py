"""The order of a run: every operation with every peer, round after round."""

import sys
from collections.abc import Callable, Sequence

from benchmarks.load.figures import Rounds
from benchmarks.load.processes import Server
from benchmarks.load.wrk import Load

LoadOnce = Callable[[str, Server, float], Load]


def alternate(
    servers: Sequence[Server],
    operations: Sequence[str],
    *,
    rounds: int,
    seconds: float,
    load_once: LoadOnce,
) -> Rounds:
    """Load each server with each operation `rounds` times, and return all measurements.

    Servers take turns within an operation, and the first turn moves by one each round, so that a
    slow minute of the machine affects all of them equally.
    """
    measured = Rounds()
    for position in range(rounds):
        first = position % len(servers)
        for operation in operations:
            for server in (*servers[first:], *servers[:first]):
                before = server.cpu_seconds()
                load = load_once(operation, server, seconds)
                measured.add(operation, server.name, load, server.cpu_seconds() - before)
                print(
                    f"round {position + 1} {operation:<8} {server.name:<28}"
                    f"{load.per_second:>9,.0f}/s  p99 {load.p99_ms:.2f} ms",
                    file=sys.stderr,
                )
    return measured
