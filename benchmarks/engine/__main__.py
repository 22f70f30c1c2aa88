"""python -m benchmarks.engine: start all peers, check that they agree, load them, tabulate."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from benchmarks.engine.agreement import disagreements
from benchmarks.engine.operations import OPERATIONS, Request
from benchmarks.engine.peers import (
    BLACKSHEEP,
    FALCON,
    FASTAPI,
    LITESTAR,
    NODE_MODULES,
    OURS,
    PEERS,
    STARLETTE,
    STOCK,
    Peer,
    ours_of,
)
from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import add_beside
from benchmarks.load.figures import Figures, figures_beside, figures_table, write_json
from benchmarks.load.processes import Server
from benchmarks.load.rounds import alternate
from benchmarks.load.wrk import Load, run_wrk

SERVER_CORE, WRK_CORE = 0, 1
BY_NAME = {operation.name: operation for operation in OPERATIONS}

GOALS: dict[str, tuple[float, float, float]] = {
    STOCK: (9.0, 9.0, 9.0),
    FASTAPI: (4.0, 4.0, 4.0),
    LITESTAR: (1.0, 1.0, 1.0),
    FALCON: (1.0, 1.0, 1.0),
    BLACKSHEEP: (1.0, 1.0, 1.0),
    STARLETTE: (1.4, 1.9, 1.9),
}
"""The goals: the minimum ratio of our requests/s to the peer's, for each of `OPERATIONS`."""


def read_arguments() -> argparse.Namespace:
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(prog="benchmarks.engine", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="length of one load")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--peer", action="append", choices=names, help="only these (repeatable)")
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-engine.json"))
    return parser.parse_args()


def start(peer: Peer, directory: Path, **environment: str) -> Server:
    """Start a peer on the server core. All logs go to a file."""
    metrics = directory / f"{peer.port}"
    metrics.mkdir()
    return Server(
        peer.name,
        peer.command,
        port=peer.port,
        log=directory / f"{peer.port}.log",
        env={
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
            "NODE_PATH": str(NODE_MODULES),
            **environment,
        },
        core=SERVER_CORE,
        checkout=peer.checkout,
    )


def ask(client: httpx.Client, request: Request) -> tuple[int, Any]:
    answer = client.request(
        request.method, request.path, headers=dict(request.headers), content=request.body or None
    )
    is_json = "json" in answer.headers.get("content-type", "")
    return answer.status_code, answer.json() if is_json else None


def check(peers: Sequence[Peer], servers: Sequence[Server]) -> None:
    """Exit with the list of wrong responses, if there are any."""
    wrong = []
    for peer, server in zip(peers, servers, strict=True):
        with httpx.Client(base_url=server.url, timeout=60) as client:
            wrong += disagreements(peer, partial(ask, client))
    if wrong:
        sys.exit("The servers do not agree, so nothing was measured:\n" + "\n".join(wrong))


def load_fixed(request: Request, server: Server, seconds: float, *, connections: int) -> Load:
    headers = [part for pair in request.headers.items() for part in pair]
    return run_wrk(
        server.url + request.path,
        script="fixed.lua",
        arguments=[request.method, request.body, *headers],
        seconds=seconds,
        connections=connections,
        core=WRK_CORE,
    )


def peers_table(table: dict[str, dict[str, Figures]]) -> str:
    """Return a table with a line per server: requests/s and CPU time of each operation."""
    heads = " | ".join(f"{operation} requests/s | CPU us" for operation in table)
    lines = [f"| server | {heads} |", "|---|" + "---:|" * 2 * len(table)]
    for peer in next(iter(table.values())):
        figures = [row[peer] for row in table.values()]
        cells = " | ".join(f"{it.per_second:,.0f} | {it.cpu_us:.0f}" for it in figures)
        lines.append(f"| {peer} | {cells} |")
    return "\n".join(lines)


def goals_table(table: dict[str, dict[str, Figures]]) -> str:
    """Return our requests/s and CPU time as ratios to each peer's, by operation."""
    lines = ["| by | figure | " + " | ".join(table) + " | goal | reached |"]
    lines.append("|---|---|" + "---:|" * len(table) + "---|---|")
    for peer, bounds in GOALS.items():
        ours_and_theirs = [(row[OURS], row[peer]) for row in table.values()]
        ratios = [ours.per_second / theirs.per_second for ours, theirs in ours_and_theirs]
        reached = all(ratio >= bound for ratio, bound in zip(ratios, bounds, strict=True))
        goal = " / ".join(f"{bound:g}" for bound in bounds)
        lines.append(_row(peer, "requests/s", ratios, goal, "yes" if reached else "no"))
        ratios = [ours.cpu_us / theirs.cpu_us for ours, theirs in ours_and_theirs]
        lines.append(_row(peer, "CPU us/request", ratios, "", ""))
    return "\n".join(lines)


def _row(peer: str, figure: str, ratios: Sequence[float], *rest: str) -> str:
    return f"| {' | '.join((peer, figure, *(f'{ratio:.2f}' for ratio in ratios), *rest))} |"


def main() -> int:
    arguments = read_arguments()
    peers = [it for it in PEERS if not arguments.peer or it.name in arguments.peer]
    other = arguments.beside and ours_of(arguments.beside)
    if other:
        peers.insert(1, other)

    def load_once(operation: str, server: Server, seconds: float) -> Load:
        request = BY_NAME[operation].request
        return load_fixed(request, server, seconds, connections=arguments.connections)

    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        servers = [stack.enter_context(start(peer, Path(directory))) for peer in peers]
        check(peers, servers)
        alternate(servers, list(BY_NAME), rounds=1, seconds=1, load_once=load_once)  # warm-up
        measured = alternate(
            servers,
            list(BY_NAME),
            rounds=arguments.rounds,
            seconds=arguments.seconds,
            load_once=load_once,
        )
    table = measured.tabulated(list(BY_NAME), [peer.name for peer in peers])
    for name, row in table.items():
        print(figures_table(BY_NAME[name].title, row) + "\n")
    print(peers_table(table) + "\n")
    if {OURS, *GOALS} <= {peer.name for peer in peers}:
        print(goals_table(table))
    if other and OURS in {peer.name for peer in peers}:
        titled = {BY_NAME[name].title: row for name, row in table.items()}
        print("\n" + figures_beside("The engine", titled, other.name, OURS))
    draw_chart("engine", peers_table(table), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=table, arguments=vars(arguments) | {"out": ""})
    return 0


if __name__ == "__main__":
    sys.exit(main())
