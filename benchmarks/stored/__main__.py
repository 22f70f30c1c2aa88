"""python -m benchmarks.stored: a service with a database. All servers are asked the same first."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from benchmarks.engine.__main__ import SERVER_CORE, WRK_CORE, ask, peers_table
from benchmarks.engine.operations import JSON, Operation, Request
from benchmarks.engine.peers import FASTAPI, OURS, STOCK, Peer
from benchmarks.load.checkout import HERE, Checkout, add_beside
from benchmarks.load.figures import figures_beside, figures_table, write_json
from benchmarks.load.processes import Server
from benchmarks.load.rounds import alternate
from benchmarks.load.wrk import Load, run_wrk
from benchmarks.stored.tables import URL, VERSION, fill

LISTED = 20
PEERS = (
    Peer(OURS, "benchmarks.stored.app:app()", 8720, worker="specd._engine.serving.worker.Worker"),
    Peer(f"{STOCK} + SQLAlchemy", "benchmarks.peers.stored_connexion:app()", 8721),
    Peer(f"{FASTAPI} + SQLAlchemy", "benchmarks.peers.stored_fastapi:app()", 8722),
)


def _task(number: int) -> dict[str, Any]:
    return {"id": number, "text": f"task {number}", "completed": number % 2 == 0}


def _post(text: str) -> Request:
    return Request("POST", "/v1/tasks", JSON, f'{{"text": "{text}"}}')


OPERATIONS = (
    Operation(
        name="constant",
        title="GET, a constant",
        request=Request("GET", "/v1/version"),
        status=200,
        answer={"version": VERSION},
        refused={},
    ),
    Operation(
        name="key",
        title="GET, one row by its key",
        request=Request("GET", "/v1/tasks/42"),
        status=200,
        answer=_task(42),
        refused={"out of range": Request("GET", "/v1/tasks/0")},
    ),
    Operation(
        name="list",
        title=f"GET, {LISTED} rows",
        request=Request("GET", f"/v1/tasks?limit={LISTED}"),
        status=200,
        answer={"tasks": [_task(number) for number in range(1, LISTED + 1)]},
        refused={"out of range": Request("GET", "/v1/tasks?limit=0")},
    ),
    Operation(
        name="create",
        title="POST, one row",
        request=_post("new"),
        status=201,
        answer={"text": "new", "completed": False},
        refused={"empty": _post(""), "long": _post("x" * 201)},
    ),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}


def disagreements(name: str, asks: Callable[[Request], tuple[int, Any]]) -> list[str]:
    """Return a sentence for every wrong response of a server. The id of a new row is ignored."""
    wrong = []
    for operation in OPERATIONS:
        status, answer = asks(operation.request)
        if operation.name == "create" and isinstance(answer, dict):
            answer.pop("id", None)
        if (status, answer) != (operation.status, operation.answer):
            wrong.append(f"{name} {operation.name}: answered {status} {answer}")
        for case, request in operation.refused.items():
            status, _ = asks(request)
            if not 400 <= status < 500:
                wrong.append(f"{name} {operation.name}, {case}: answered {status}")
    return wrong


def start(peer: Peer, directory: Path) -> Server:
    """Start gunicorn with one worker and a separate database, on the server core."""
    place = directory / str(peer.port)
    place.mkdir()
    url = f"sqlite:///{place / 'tasks.db'}"
    fill(url)
    command = [sys.executable, "-m", "gunicorn", "-c", "benchmarks/load/gunicorn.py"]
    command += ["-w", "1", "-k", peer.worker, "-b", f"127.0.0.1:{peer.port}", peer.app]
    return Server(
        peer.name,
        command,
        port=peer.port,
        log=directory / f"{peer.port}.log",
        env={"PROMETHEUS_MULTIPROC_DIR": str(place), URL: url},
        core=SERVER_CORE,
        checkout=peer.checkout,
    )


def load_once(operation: str, server: Server, seconds: float) -> Load:
    request = BY_NAME[operation].request
    return run_wrk(
        server.url + request.path,
        script="fixed.lua",
        arguments=[request.method, request.body, *(x for p in request.headers.items() for x in p)],
        seconds=seconds,
        connections=16,
        core=WRK_CORE,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.stored", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="length of one load")
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-stored.json"))
    arguments = parser.parse_args()
    peers: list[Peer] = list(PEERS)
    beside: Checkout | None = arguments.beside
    if beside:
        peers.insert(1, replace(PEERS[0], name=beside.name, port=8723, checkout=beside))
    names: Sequence[str] = list(BY_NAME)
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        servers = [stack.enter_context(start(peer, Path(directory))) for peer in peers]
        wrong = []
        for server in servers:
            with httpx.Client(base_url=server.url, timeout=60) as client:
                wrong += disagreements(server.name, partial(ask, client))
        if wrong:
            sys.exit("The servers do not agree, so nothing was measured:\n" + "\n".join(wrong))
        alternate(servers, names, rounds=1, seconds=1, load_once=load_once)  # warm-up
        measured = alternate(
            servers,
            names,
            rounds=arguments.rounds,
            seconds=arguments.seconds,
            load_once=load_once,
        )
    table = measured.tabulated(names, [peer.name for peer in peers])
    for name, row in table.items():
        print(figures_table(BY_NAME[name].title, row) + "\n")
    print(peers_table(table))
    if beside:
        titled = {BY_NAME[name].title: row for name, row in table.items()}
        print("\n" + figures_beside("With a database", titled, beside.name, HERE.name))
    write_json(arguments.out, figures=table, arguments=vars(arguments) | {"out": ""})
    return 0


if __name__ == "__main__":
    sys.exit(main())
