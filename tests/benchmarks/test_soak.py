"""Every step of the mixed load succeeds, and memory and tails are reported. Without load."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shutil import copy

import pytest

from benchmarks import tails
from benchmarks.chat.databases import databases, filled, founded
from benchmarks.chat.realm import LEAST_MESSAGES, Stage
from benchmarks.load.checkout import HERE
from benchmarks.load.paced import Connection, Refused, pace, to_bytes
from benchmarks.load.processes import Server
from benchmarks.payment.contestants import prepare_ours
from benchmarks.soak.__main__ import serve, soak
from benchmarks.soak.memory import Memory, memory_table
from benchmarks.soak.turns import turns

ROUND = 16
"""The number of steps in which each kind occurs once."""


@pytest.fixture(scope="module")
def stock(few_people: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Stage]:
    """Return a directory of databases with the smallest possible number of messages."""
    directory = tmp_path_factory.mktemp("stock")
    with databases("sqlite", directory, stays=True) as where:
        stage = founded(where, directory / "sqlite.json")
        filled(where, stage, LEAST_MESSAGES)
        assert founded(where, directory / "sqlite.json") == stage, (
            "an existing directory must be reused"
        )
    return directory, stage


@pytest.fixture
def running(stock: tuple[Path, Stage], tmp_path: Path) -> Iterator[tuple[Server, Stage, str]]:
    directory, stage = stock
    chat = copy(directory / f"m{LEAST_MESSAGES}.db", tmp_path / "chat.db")
    urls = {"chat": f"sqlite:///{chat}", "payment": f"sqlite:///{tmp_path}/payment.db"}
    bearer = prepare_ours(urls["payment"])
    with serve(urls, tmp_path, 1) as server:
        yield server, stage, bearer


def test_every_step_succeeds_and_memory_is_measured(
    running: tuple[Server, Stage, str],
) -> None:
    server, stage, bearer = running

    async def one_round() -> None:
        connection = Connection(server.port)
        for turn in islice(turns(stage, bearer), ROUND):
            await turn(connection)
        connection.close()

    asyncio.run(one_round())
    arguments = Namespace(minutes=0.01, rate=20.0, every=0.1, processes=1)
    memory, count = asyncio.run(soak(server, stage, f"{bearer}", arguments))
    assert count == 12
    assert [process.title for process in memory] == ["arbiter", "worker 1"]
    assert all(kib > 10_000 for process in memory for _, kib in process.samples)


def test_rejected_request_ends_a_load(running: tuple[Server, Stage, str]) -> None:
    server, _, _ = running
    request = to_bytes("GET", "/v1/payment-methods")
    with pytest.raises(ExceptionGroup) as refused:
        asyncio.run(
            pace(
                server.port,
                lambda link: link.ask(request),
                per_second=20,
                seconds=0.1,
                connections=2,
            )
        )
    assert refused.group_contains(Refused, match="401")


def test_tails_are_measured_at_half_load(stock: tuple[Path, Stage]) -> None:
    arguments = Namespace(
        keep=stock[0],
        beside=None,
        messages=LEAST_MESSAGES,
        seconds=0.1,
        requests=10,
        operation=["one flag", "create"],
    )
    found = tails.run("sqlite", stock[0], arguments)[HERE.name]
    assert [tail.name for tail in found] == ["one flag", "create"]
    for tail in found:
        assert 0 < tail.p50_ms <= tail.p99_ms <= tail.worst_ms
    assert tails.table("SQLite", found).count("\n") == 3


def test_stalled_machine_is_detected() -> None:
    assert all(1 <= still < 1000 for still in tails.standstills(0.05))


def test_disk_waits_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "SYNCS", 3)
    waits = tails.syncs(tmp_path)
    assert len(waits) == 3
    assert all(0 < wait < 60_000 for wait in waits)
    assert list(tmp_path.iterdir()) == []


def test_maximum_of_a_histogram_is_limited() -> None:
    before = {0.01: 5, 0.1: 7, float("inf"): 7}
    assert tails.since(before, {0.01: 5, 0.1: 9, float("inf"): 9}) == (2, 100)
    assert tails.since(before, {0.01: 6, 0.1: 8, float("inf"): 8}) == (1, 10)
    assert tails.since(before, before) == (0, 0)


def test_growth_compares_the_last_quarter_with_the_second() -> None:
    flat = Memory("flat", [(float(at), 1000 + at) for at in range(41)])
    grown = Memory("grown", [(float(at), 1000 + at * 10) for at in range(41)])
    assert flat.is_flat
    assert not grown.is_flat
    assert grown.growth == pytest.approx(1350 / 1150 - 1)
    assert "(not flat)" in memory_table([flat, grown]).splitlines()[-1]
    long = Memory("long", [(at * 60.0, 1024) for at in range(31)])
    assert memory_table([long]).splitlines()[0] == (
        "| PSS, MiB | 5 min | 10 min | 20 min | 30 min | growth, 2nd to 4th quarter |"
    )
