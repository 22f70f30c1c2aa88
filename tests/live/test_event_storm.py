"""A part of the storm of events; `scripts/event-storm` runs it at full size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from specd._db import migrate
from tests.live.event_storm import run_storm
from tests.live.held_transactions import HeldTransactions
from tests.support.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgresql"])
def chat_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated, empty chat database, once of each kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/chat.db"
        migrate.upgrade(url, "chat")
        yield url
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create()
    url = server.url_of(name)
    migrate.upgrade(url, "chat")
    yield url
    server.drop(name)


def test_every_reader_is_told_every_message_once_while_processes_die(
    chat_url: str, tmp_path: Path
) -> None:
    held = 1 if chat_url.startswith("postgresql") else 0
    storm = run_storm(
        chat_url,
        tmp_path,
        writers=3,
        messages=40,
        readers=6,
        processes=2,
        kill_every_s=0.5,
        kill_server_after_s=2.0,
        held=held,
    )
    assert len(storm.sent) == 120 + HeldTransactions.count(held)
    assert storm.faults() == []
    assert storm.kills > 0
