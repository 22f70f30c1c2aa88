"""python -m benchmarks.engine: start all peers, check that they agree, load them, tabulate."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from benchmarks.engine.agreement import disagreements
from benchmarks.engine.operations import OPERATIONS, Request
from benchmarks.engine.peers import FASTAPI, FLOOR, OURS, PEERS, STOCK, Peer
from benchmarks.load.figures import Figures, figures_table, write_json
from benchmarks.load.processes import Server
from benchmarks.load.rounds import alternate
from benchmarks.load.wrk import Load, run_wrk

SERVER_CORE, WRK_CORE = 0, 1
BY_NAME = {operation.name: operation for operation in OPERATIONS}

GOALS = (
    # what, peer, figure, does ours reach it?
    ("requests/s, at least 6 x stock connexion", STOCK, "per_second", 6.0),
    ("requests/s, at least 2 x FastAPI", FASTAPI, "per_second", 2.0),
    ("CPU per request, at most 1.5 x bare Starlette", FLOOR, "cpu_us", 1.5),
)


def read_arguments() -> argparse.Namespace:
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(prog="benchmarks.engine", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="length of one load")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--peer", action="append", choices=names, help="only these (repeatable)")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-engine.json"))
    return parser.parse_args()


def start(peer: Peer, directory: Path) -> Server:
    """A gunicorn with one worker, on the server core; its log, ours included, goes to a file."""
    command = [sys.executable, "-m", "gunicorn", "-c", "benchmarks/load/gunicorn.py"]
    command += ["-w", "1", "-k", peer.worker, "-b", f"127.0.0.1:{peer.port}", peer.app]
    return Server(
        peer.name,
        command,
        port=peer.port,
        log=directory / f"{peer.port}.log",
        env={"PROMETHEUS_MULTIPROC_DIR": str(directory)},
        core=SERVER_CORE,
    )


def ask(client: httpx.Client, request: Request) -> tuple[int, Any]:
    answer = client.request(
        request.method, request.path, headers=dict(request.headers), content=request.body or None
    )
    is_json = "json" in answer.headers.get("content-type", "")
    return answer.status_code, answer.json() if is_json else None


def check(peers: Sequence[Peer], servers: Sequence[Server]) -> None:
    """Leave with the list of wrong answers, if there is any."""
    wrong = []
    for peer, server in zip(peers, servers, strict=True):
        with httpx.Client(base_url=server.url, timeout=60) as client:
            wrong += disagreements(peer, lambda request, client=client: ask(client, request))
    if wrong:
        sys.exit("The servers do not agree, so nothing was measured:\n" + "\n".join(wrong))


def load_fixed(operation: str, server: Server, seconds: float, *, connections: int) -> Load:
    request = BY_NAME[operation].request
    headers = [part for pair in request.headers.items() for part in pair]
    return run_wrk(
        server.url + request.path,
        script="fixed.lua",
        arguments=[request.method, request.body, *headers],
        seconds=seconds,
        connections=connections,
        core=WRK_CORE,
    )


def ratios_table(table: dict[str, dict[str, Figures]]) -> tuple[str, bool]:
    """The goals, operation by operation, and whether all are reached."""
    lines = ["| goal | " + " | ".join(table) + " | reached |"]
    lines.append("|---|" + "---:|" * len(table) + "---|")
    reached_all = True
    for goal, peer, figure, bound in GOALS:
        ratios = [getattr(row[OURS], figure) / getattr(row[peer], figure) for row in table.values()]
        reached = [it >= bound if figure == "per_second" else it <= bound for it in ratios]
        reached_all = reached_all and all(reached)
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        lines.append(f"| {goal} | {cells} | {'yes' if all(reached) else 'no'} |")
    return "\n".join(lines), reached_all


def main() -> int:
    arguments = read_arguments()
    peers = [it for it in PEERS if not arguments.peer or it.name in arguments.peer]

    def load_once(operation: str, server: Server, seconds: float) -> Load:
        return load_fixed(operation, server, seconds, connections=arguments.connections)

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
    if {OURS, STOCK, FASTAPI, FLOOR} <= {peer.name for peer in peers}:
        goals, _ = ratios_table(table)
        print(goals)
    write_json(arguments.out, figures=table, arguments=vars(arguments) | {"out": ""})
    return 0


if __name__ == "__main__":
    sys.exit(main())
