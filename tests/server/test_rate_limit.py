"""Rate limits: one count for all processes, exact at the edge, forgotten in time."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from server.errors import RateLimited
from server.rate_limit import RateLimiter, SharedTable

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SharedTable]:
    opened = SharedTable(tmp_path / "limits")
    yield opened
    opened.close()


def limiter(table: SharedTable, *, limit: int = 5) -> RateLimiter:
    return RateLimiter(table, limit=limit, client=lambda ctx: ctx.client, period_s=60.0)


def request(client: str = "ada", *, after_s: float = 0) -> Any:
    return SimpleNamespace(client=client, now=NOW + timedelta(seconds=after_s))


def test_lets_in_as_many_as_it_says(table: SharedTable) -> None:
    limit = limiter(table)
    left = [dict(limit.take(request()))["RateLimit"] for _ in range(5)]
    assert [text.partition("r=")[2].partition(";")[0] for text in left] == [*"43210"]
    with pytest.raises(RateLimited) as refused:
        limit.take(request())
    assert refused.value.limit == 5
    assert refused.value.retry_after_s == 12


@pytest.mark.parametrize("number", [1, 7, 9, 11, 17, 61, 300, 601, 700, 1000])
@pytest.mark.parametrize("at", [0, 0.123456, 3.3])
def test_the_limit_is_exact_whatever_it_is(table: SharedTable, number: int, at: float) -> None:
    limit = limiter(table, limit=number)
    for left in reversed(range(number)):
        answer = dict(limit.take(request(after_s=at)))["RateLimit"]
        assert answer.startswith(f'"default";r={left};')
    with pytest.raises(RateLimited):
        limit.take(request(after_s=at))


def test_a_refused_request_costs_nothing(table: SharedTable) -> None:
    limit = limiter(table)
    for _ in range(5):
        limit.take(request())
    for _ in range(100):
        with pytest.raises(RateLimited):
            limit.take(request())
    limit.take(request(after_s=12))
    with pytest.raises(RateLimited):
        limit.take(request(after_s=12))


def test_after_the_announced_wait_there_is_room(table: SharedTable) -> None:
    limit = limiter(table, limit=7)
    for _ in range(7):
        limit.take(request())
    with pytest.raises(RateLimited) as refused:
        limit.take(request())
    limit.take(request(after_s=refused.value.retry_after_s))


def test_after_the_period_all_is_forgotten(table: SharedTable) -> None:
    limit = limiter(table)
    for _ in range(5):
        limit.take(request())
    for _ in range(5):
        limit.take(request(after_s=60))


def test_clients_do_not_share(table: SharedTable) -> None:
    limit = limiter(table, limit=1)
    for number in range(500):
        limit.take(request(f"client {number}"))
    with pytest.raises(RateLimited):
        limit.take(request("client 499"))


def test_a_second_table_on_the_same_file_counts_on(table: SharedTable, tmp_path: Path) -> None:
    other = SharedTable(tmp_path / "limits")
    for number in range(6):
        of = limiter(table if number % 2 else other, limit=6)
        of.take(request())
    for one in (table, other):
        with pytest.raises(RateLimited):
            limiter(one, limit=6).take(request())
    other.close()


def test_processes_count_together(table: SharedTable) -> None:
    """Four processes race for 100 places: 100 get one, no more and no fewer."""
    reader, writer = os.pipe()
    pids = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            taken = 0
            for _ in range(100):
                try:
                    limiter(table, limit=100).take(request())
                    taken += 1
                except RateLimited:
                    pass
            os.write(writer, bytes([taken]))
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        assert sum(answers.read()) == 100
