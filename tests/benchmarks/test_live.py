"""Each of the compared servers notifies the clients that wait for events. Without load."""

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the peers are not installed (extra: bench)")

from benchmarks.live.contenders import Contender, Peer, Specd
from benchmarks.live.crowd import ClientsFailed, Crowd, body_of
from benchmarks.live.measures import measure_telling, measure_waiting
from benchmarks.live.report import Figures, goals_table, latencies_of, waiting_table
from benchmarks.live.stage import HALL, STAGE, found

CLIENTS, MESSAGES = 6, 4


@pytest.fixture(params=["specd", "peer"])
def contender(request: pytest.FixtureRequest, tmp_path: Path) -> Contender:
    if request.param == "peer":
        return Peer(tmp_path)
    stage = found(f"sqlite:///{tmp_path}/chat.db", people=CLIENTS, on_stage=CLIENTS)
    return Specd("SQLite", stage, tmp_path, processes=2)


def test_clients_are_notified_and_cost_is_measured(contender: Contender) -> None:
    async def run() -> Figures:
        with contender.serve() as running:
            queues = await contender.open(running, CLIENTS)
            telling = await measure_telling(
                running, queues, contender.senders, channel=STAGE, messages=MESSAGES, pause_s=0
            )
            waiting = await measure_waiting(
                running, queues, contender.senders[0], channel=HALL, seconds=0.1, beating_s=0
            )
        latencies = latencies_of(telling, contender.processes)
        return Figures(
            contender.name, contender.processes, latencies, telling.all_told_ms(), waiting
        )

    figures = asyncio.run(run())
    assert figures.waiting is not None
    assert sum(figures.waiting.processes) == figures.waiting.clients == CLIENTS
    assert len(figures.all_told_ms) == MESSAGES
    for latency in figures.latencies:
        assert 0 < latency.since_request[0] <= latency.since_request[1]
    assert figures.title in waiting_table([figures])
    goals, _ = goals_table([figures])
    assert ("p50 since the answer" in goals) == isinstance(contender, Specd)


def test_client_distinguishes_complete_and_partial_answers() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
    assert body_of(head[:20]) is None
    assert body_of(head + b"abc") is None
    assert body_of(head + b"abcd") == b"abcd"
    with pytest.raises(ClientsFailed, match="400 Bad"):
        body_of(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")


def test_measurement_fails_if_clients_are_not_notified() -> None:
    with pytest.raises(ClientsFailed, match="0 of 1 clients received 7"):
        asyncio.run(Crowd(port=0).told(7, 1, seconds=0.01))
