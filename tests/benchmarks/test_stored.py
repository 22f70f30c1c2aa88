"""The compared servers with a database give the same responses, and store rows equally safely. No
load here.
"""

import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import pytest

from benchmarks.engine.__main__ import ask
from benchmarks.engine.peers import NODE_MODULES, OURS, Peer
from benchmarks.load.figures import Figures
from benchmarks.load.processes import Server, free_port
from benchmarks.stored.__main__ import ratios_table
from benchmarks.stored.operations import OPERATIONS, disagreements
from benchmarks.stored.peers import PEERS, start

POSTS = 10


@contextmanager
def syncs_written(server: Server, file: Path) -> Iterator[None]:
    """Write a line to `file` for every call by which the server waits for the disk."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    processes = [str(server.pid), *children]
    command = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(file)]
    command += [word for process in processes for word in ("-p", process)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr is not None
        for _ in processes:
            if "attached" not in strace.stderr.readline():
                strace.kill()
                pytest.skip("strace may not trace processes here")
        try:
            yield
        finally:
            strace.send_signal(signal.SIGINT)


@pytest.fixture(params=PEERS, ids=lambda peer: peer.name)
def peer(request: pytest.FixtureRequest) -> Peer:
    peer: Peer = request.param
    for package in ("fastapi", "litestar"):
        if package in peer.app:
            pytest.importorskip(package, reason="the peers are not installed (extra: bench)")
    if peer.needs_node and not (NODE_MODULES.is_dir() and shutil.which("node")):
        pytest.skip("Fastify is not installed: scripts/tools install fastify")
    return replace(peer, port=free_port())


@pytest.fixture
def server(peer: Peer, tmp_path: Path) -> Iterator[Server]:
    with start(peer, tmp_path) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60) as connected:
        yield connected


def test_responses_equal_those_of_the_document(server: Server, client: httpx.Client) -> None:
    assert disagreements(server.name, partial(ask, client)) == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_every_post_waits_for_the_disk_once(
    server: Server, client: httpx.Client, tmp_path: Path
) -> None:
    post = OPERATIONS[-1].request
    ask(client, post)  # creates the write-ahead log
    syncs = tmp_path / "syncs"
    with syncs_written(server, syncs):
        for _ in range(POSTS):
            assert ask(client, post)[0] == 201
    with closing(sqlite3.connect(tmp_path / f"{server.port}.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    assert syncs.read_text().count("sync(") == POSTS


def test_ratios_above_one_are_faster() -> None:
    def row(ours: float, theirs: float) -> dict[str, Figures]:
        rates = {OURS: ours, "Peer": theirs}
        return {name: Figures(rate, 1.0, 1.0, 1.0, rounds=1) for name, rate in rates.items()}

    table = ratios_table({"GET": row(300, 200), "POST": row(100, 200)})

    assert table.splitlines()[0] == "| requests/s against | GET | POST |"
    assert table.splitlines()[2:] == ["| Peer | 1.50 x | 0.50 x |"]
