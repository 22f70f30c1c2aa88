"""A part of `scripts/move`: an organization moves between installations while people use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks.chat import realm as bench
from tests.live.moving import move
from tests.support.postgres import PostgresServer

SMALL = {
    "PEOPLE": 220, "SUBSCRIBERS": 22, "CHANNELS": 20, "HALL_TOPICS": 1_000, "ACT_MESSAGES": 500,
    "LEAST_MESSAGES": 1_500,
}  # fmt: skip
"""The organization; `scripts/move` has a large one."""


@pytest.fixture
def urls(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> Iterator[tuple[str, str]]:
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path}/one.db", f"sqlite:///{tmp_path}/two.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    names = server.create(), server.create()
    yield server.url_of(names[0]), server.url_of(names[1])
    for name in names:
        server.drop(name)


@pytest.mark.parametrize(("kind", "has_new_ids"), [("sqlite", True), ("postgresql", False)])
def test_move_loses_and_doubles_nothing(
    urls: tuple[str, str], has_new_ids: bool, tmp_path: Path
) -> None:
    with patch.multiple(bench, **SMALL):
        outcome = move(
            *urls, tmp_path, is_used=has_new_ids, messages=bench.LEAST_MESSAGES, recent=100,
            writers=2, readers=2, after_s=1.0,
        )  # fmt: skip
    assert outcome.wrong == [], str(outcome)
    assert outcome.sent > 20
    assert outcome.stopped_s < outcome.seconds / 3, "a campaign bounds it in seconds"
