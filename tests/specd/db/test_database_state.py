"""The state of the database that a process can report without querying it."""

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest
from sqlalchemy import make_url, text
from structlog.testing import capture_logs

from specd._db import notifier
from specd._db.usage import ConnectionUse
from specd.db import Database

PATIENCE_S = 20.0


def test_connections_in_use_and_waiting_requests_are_counted(database_url: str) -> None:
    with closing(Database(database_url, pool_size=2, lock_timeout_s=PATIENCE_S)) as database:
        assert database.state().connections == []
        thread = threading.Thread(target=lambda: read(database))
        with ExitStack() as stack:
            for taken in (1, 2):
                stack.enter_context(database.reading())
                assert database.state().connections == [ConnectionUse("reading", 2, taken, 0)]
            thread.start()
            ends_at = time.monotonic() + PATIENCE_S
            while database.state().connections != [ConnectionUse("reading", 2, 2, 1)]:
                assert time.monotonic() < ends_at
        thread.join()
        assert database.state().connections == [ConnectionUse("reading", 2, 0, 0)]


def read(database: Database) -> None:
    with database.reading() as connection:
        connection.execute(text("SELECT 1"))


def test_outages_are_counted(database: Database) -> None:
    before = database.state()
    assert before.is_available
    for _ in range(2):
        database.availability.note_silence(ConnectionError("away"))
    state = database.state()
    assert (state.is_available, state.outages) == (False, before.outages + 1)
    database.availability.note_answer()
    state = database.state()
    assert (state.is_available, state.outages) == (True, before.outages + 1)


def test_time_since_the_log_was_read_is_reported(database: Database) -> None:
    assert database.state().log_unread_s is None, "there is no follower"
    follows, goes_on = threading.Event(), threading.Event()

    def look(_: notifier.Logs) -> None:
        follows.set()
        goes_on.wait(PATIENCE_S)

    database.notifier.follow(look)
    assert follows.wait(PATIENCE_S)
    ends_at = time.monotonic() + PATIENCE_S
    while (unread_s := database.state().log_unread_s) is None or unread_s < 0.1:
        assert time.monotonic() < ends_at, "it must grow until the follower returns"
    goes_on.set()
    while (unread_s := database.state().log_unread_s) is None or unread_s >= 0.1:
        assert time.monotonic() < ends_at
    database.notifier.close()
    assert database.state().log_unread_s is None


def test_closed_notifier_does_not_wait_for_its_next_poll(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listens = threading.Event()
    listening = notifier.Notifier._ended_by_close

    @contextmanager
    def noted(self: notifier.Notifier, own: socket.socket) -> Iterator[None]:
        with listening(self, own):
            listens.set()
            yield

    monkeypatch.setattr(notifier.Notifier, "_ended_by_close", noted)
    monkeypatch.setattr(notifier, "LOOK_S", 10 * PATIENCE_S)
    following = notifier.Notifier(make_url(postgres_url))
    with capture_logs() as lines:
        following.follow(lambda logs: None)
        assert listens.wait(PATIENCE_S)
        began = time.monotonic()
        following.close()
    assert time.monotonic() - began < PATIENCE_S
    assert lines == []


def test_follower_receives_the_logs_with_new_entries(postgres_url: str) -> None:
    logs: queue.SimpleQueue[notifier.Logs] = queue.SimpleQueue()
    with closing(Database(postgres_url)) as follower, closing(Database(postgres_url)) as writer:
        follower.notifier.follow(logs.put)
        ends_at = time.monotonic() + PATIENCE_S
        while logs.get(timeout=PATIENCE_S) != {7}:
            assert time.monotonic() < ends_at
            writer.notifier.notify([7])
