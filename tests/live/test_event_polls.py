"""Long polls at a real server: they wait in any process, and are answered when the server stops."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.chat.tables import EventQueue
from specd._db import migrate
from specd.db import Clock, Database
from tests.live.running_server import RunningServer
from tests.support.chat.people import SECRET, Cast, make_cast
from tests.support.chat.queues import open_queue_of

PATIENCE_S = 60.0


class Office:
    """The cast on a running server of two processes."""

    def __init__(self, server: RunningServer, cast: Cast, database: Database) -> None:
        self.server, self.cast, self.database = server, cast, database

    def open(self) -> str:
        now = Clock().now()
        return self.database.run(lambda s: open_queue_of(s, self.cast.hamlet, now))

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        who = self.cast.hamlet
        return httpx.request(
            method,
            f"{self.server.url}/api/v1{path}",
            headers={"Host": who.host},
            auth=(who.email, who.key),
            timeout=PATIENCE_S,
            **options,
        )

    def poll(self, queue_id: str) -> httpx.Response:
        return self.ask("GET", "/events", params={"queue_id": queue_id, "last_event_id": -1})


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    url = f"sqlite:///{tmp_path}/chat.db"
    migrate.upgrade(url, "chat")
    database = Database(url)
    cast = database.run(lambda session: make_cast(session, now=Clock().now()))
    environment = {"SPECD_CHAT_SECRET": SECRET.decode(), "SPECD_WORKERS": "2"}
    with RunningServer(tmp_path, environment, application="chat") as server:
        yield Office(server, cast, database)
    database.dispose()


def polling(office: Office, queue_ids: list[str]) -> tuple[list[threading.Thread], list[Any]]:
    """Polls in progress, and the list of their responses."""
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda q=queue_id: answers.append(office.poll(q)))
        for queue_id in queue_ids
    ]
    for thread in threads:
        thread.start()
    return threads, answers


def await_polls(office: Office, queue_ids: list[str]) -> None:
    """Wait until the server has stored that these queues are polled."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with office.database.reading() as db:
            rows = db.execute(EventQueue.__table__.select()).all()
        if all(row.polled_until > Clock().now() for row in rows if row.id in queue_ids):
            return
        time.sleep(0.05)
    raise AssertionError("the polls were not written down")


def test_polls_wait_in_all_processes_and_one_message_answers_them(office: Office) -> None:
    queue_ids = [office.open() for _ in range(6)]
    threads, answers = polling(office, queue_ids)
    await_polls(office, queue_ids)
    form = {"type": "direct", "to": f"[{office.cast.hamlet.id}]", "content": "Hi"}
    sent = office.ask("POST", "/messages", data=form).json()
    for thread in threads:
        thread.join(PATIENCE_S)
    told = [[event["message"]["id"] for event in a.json()["events"]] for a in answers]
    assert told == [[sent["id"]]] * 6


def test_a_server_that_stops_answers_its_polls(office: Office) -> None:
    queue_ids = [office.open() for _ in range(4)]
    threads, answers = polling(office, queue_ids)
    await_polls(office, queue_ids)
    began = time.monotonic()
    office.server._process.send_signal(signal.SIGTERM)  # type: ignore[union-attr]
    for thread in threads:
        thread.join(PATIENCE_S)
    assert [(a.status_code, a.json()["events"]) for a in answers] == [(200, [])] * 4
    assert time.monotonic() - began < 60, "before a heartbeat"
