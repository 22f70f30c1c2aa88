"""Rate limits: one exact count for all processes, deleted in time."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specd import RateLimiter
from specd._engine import rate_limit
from specd._engine.rate_limit import SharedTable
from specd.errors import RateLimited

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SharedTable]:
    opened = SharedTable(tmp_path / "limits")
    yield opened
    opened.close()


def limiter(table: SharedTable, *, limit: int = 5) -> RateLimiter:
    return RateLimiter(
        table,
        limits={"client": (limit, 60.0)},
        counted=lambda ctx: [("client", ctx.client)],
    )


def request(client: str = "ada", *, after_s: float = 0) -> Any:
    return SimpleNamespace(client=client, now=NOW + timedelta(seconds=after_s))


def test_allows_the_configured_number(table: SharedTable) -> None:
    limit = limiter(table)
    left = [dict(limit.take(request()))["RateLimit"] for _ in range(5)]
    assert [text.partition("r=")[2].partition(";")[0] for text in left] == [*"43210"]
    with pytest.raises(RateLimited) as refused:
        limit.take(request())
    assert refused.value.limit == 5
    assert refused.value.retry_after_s == 12


@pytest.mark.parametrize("number", [1, 7, 9, 11, 17, 61, 300, 601, 700, 1000])
@pytest.mark.parametrize("at", [0, 0.123456, 3.3])
def test_limit_is_exact_for_every_value(table: SharedTable, number: int, at: float) -> None:
    limit = limiter(table, limit=number)
    for left in reversed(range(number)):
        answer = dict(limit.take(request(after_s=at)))["RateLimit"]
        assert answer.startswith(f'"default";r={left};')
    with pytest.raises(RateLimited):
        limit.take(request(after_s=at))


def test_rejected_request_does_not_count(table: SharedTable) -> None:
    limit = limiter(table)
    for _ in range(5):
        limit.take(request())
    for _ in range(100):
        with pytest.raises(RateLimited):
            limit.take(request())
    limit.take(request(after_s=12))
    with pytest.raises(RateLimited):
        limit.take(request(after_s=12))


def test_request_is_allowed_after_the_announced_delay(table: SharedTable) -> None:
    limit = limiter(table, limit=7)
    for _ in range(7):
        limit.take(request())
    with pytest.raises(RateLimited) as refused:
        limit.take(request())
    limit.take(request(after_s=refused.value.retry_after_s))


def test_counts_are_deleted_after_the_period(table: SharedTable) -> None:
    limit = limiter(table)
    for _ in range(5):
        limit.take(request())
    for _ in range(5):
        limit.take(request(after_s=60))


def test_clients_have_separate_limits(table: SharedTable) -> None:
    limit = limiter(table, limit=1)
    for number in range(500):
        limit.take(request(f"client {number}"))
    with pytest.raises(RateLimited):
        limit.take(request("client 499"))


def test_second_table_of_the_same_file_continues(table: SharedTable, tmp_path: Path) -> None:
    other = SharedTable(tmp_path / "limits")
    for number in range(6):
        of = limiter(table if number % 2 else other, limit=6)
        of.take(request())
    for one in (table, other):
        with pytest.raises(RateLimited):
            limiter(one, limit=6).take(request())
    other.close()


def test_processes_count_together(table: SharedTable) -> None:
    """Four processes compete for 100 requests. Exactly 100 are allowed."""
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


class TestAttackOnTheTable:
    """Clients with unlimited names cannot delete the counts of others."""

    @pytest.fixture
    def small(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SharedTable]:
        """A table of one bucket, which all clients share."""
        monkeypatch.setattr(rate_limit, "_BUCKETS", 1)
        monkeypatch.setattr(rate_limit, "_SIZE", rate_limit._HEAD + rate_limit._BUCKET)
        opened = SharedTable(tmp_path / "small")
        yield opened
        opened.close()

    def test_count_in_use_is_never_evicted(self, small: SharedTable) -> None:
        limit = limiter(small)
        for _ in range(5):
            limit.take(request("victim"))
        for number in range(2000):
            with suppress(RateLimited):
                limit.take(request(f"name {number}"))
            with pytest.raises(RateLimited):
                limit.take(request("victim"))

    def test_clients_without_a_slot_share_one_limit(self, small: SharedTable) -> None:
        limit = limiter(small)
        served = 0
        for number in range(100):
            with suppress(RateLimited):
                limit.take(request(f"name {number}"))
                served += 1
        assert served == rate_limit._PLACES + 5
        # When slots are free, each client has its own limit.
        limit.take(request("name 99", after_s=61))

    def test_moving_to_an_own_slot_gives_no_advantage(self, small: SharedTable) -> None:
        limit = limiter(small)
        for number in range(rate_limit._PLACES):
            limit.take(request(f"name {number}"))
        for _ in range(5):
            limit.take(request("guesser"))
        with pytest.raises(RateLimited):
            limit.take(request("guesser"))
        limit.take(request("guesser", after_s=13))  # the slots of the others are free again
        with pytest.raises(RateLimited):
            limit.take(request("guesser", after_s=13))

    def test_colliding_names_cannot_be_chosen(self, tmp_path: Path) -> None:
        """Each table has a different key, so collisions found offline are useless."""
        keys = set()
        for number in range(4):
            table = SharedTable(tmp_path / f"table {number}")
            keys.add(table._key)
            table.close()
        assert len(keys) == 4
        assert all(len(key) == 32 for key in keys)
        again = SharedTable(tmp_path / "table 0")
        assert again._key in keys
        again.close()

    def test_table_of_another_release_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "limits").write_bytes(b"\1" * 1_048_576)
        table = SharedTable(tmp_path / "limits")
        assert dict(limiter(table).take(request()))["RateLimit"] == '"default";r=4;t=12'
        assert (tmp_path / "limits").stat().st_mode & 0o777 == 0o600
        table.close()

    def test_clock_set_back_blocks_no_client(self, table: SharedTable) -> None:
        limit = limiter(table)
        for _ in range(5):
            limit.take(request(after_s=10_000_000))
        assert dict(limit.take(request()))["RateLimit"] == '"default";r=4;t=12'
