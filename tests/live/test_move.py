"""A slice of `scripts/move`: an organization moves between installations while people use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.chat import realm as bench
from tests.live.moving import move
from tests.support.postgres import PostgresServer

MOST_STOPPED_S = 10


@pytest.fixture(params=["sqlite", "postgresql"])
def urls(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/one.db", f"sqlite:///{tmp_path}/two.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    names = server.create(), server.create()
    yield server.url_of(names[0]), server.url_of(names[1])
    for name in names:
        server.drop(name)


def test_nothing_is_lost_or_doubled(urls: tuple[str, str], tmp_path: Path) -> None:
    outcome = move(*urls, tmp_path, messages=bench.LEAST_MESSAGES, recent=200, writers=2, readers=2)
    assert outcome.wrong == [], str(outcome)
    assert outcome.sent > 20
    assert outcome.stopped_s <= MOST_STOPPED_S
