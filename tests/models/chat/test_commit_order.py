"""The event log with writers that commit out of order: a reader misses no event."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.account import HasVendorTokenEvent
from models.chat.queues.entries import find_entries
from specd.db import Clock, Database
from tests.support.chat.people import Cast

WRITERS, EACH = 6, 12
NOW = Clock().now()


def writing(cast: Cast, held_s: float) -> Callable[[Session], None]:
    """Return a unit of work that appends an event and stays open for `held_s`."""

    def work(session: Session) -> None:
        event = HasVendorTokenEvent(value=True)
        log.append(session, cast.realm_id, event, now=NOW, user_ids=[cast.hamlet.id])
        session.connection()
        time.sleep(held_s)

    return work


def test_reader_receives_each_event_once_in_order(chat_database: Database, cast: Cast) -> None:
    chance = random.Random(7)
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        last = 0
        while True:
            is_last = done.is_set()
            with chat_database.reading() as db:
                entries, _ = find_entries(db, cast.realm_id, last)
            for entry in entries:
                seen.append(entry.id)
                last = entry.id
            if is_last and not entries:
                return

    def write(pauses: list[float]) -> None:
        for pause in pauses:
            chat_database.run(writing(cast, pause))

    reader = threading.Thread(target=read)
    reader.start()
    # On SQLite a pause delays all threads, because there is one writer at a time.
    longest = 0.002 if chat_database.dialect == "sqlite" else 0.08
    writers = [
        threading.Thread(target=write, args=([chance.uniform(0, longest) for _ in range(EACH)],))
        for _ in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    done.set()
    reader.join()
    with chat_database.reading() as db:
        kept = [entry.id for entry in find_entries(db, cast.realm_id, 0)[0]]
    assert seen == kept
    assert len(kept) >= WRITERS * EACH
    assert kept == sorted(kept)


def test_rolled_back_unit_appends_no_event(chat_database: Database, cast: Cast) -> None:
    def fail(session: Session) -> None:
        writing(cast, 0.0)(session)
        raise RuntimeError

    with chat_database.reading() as db:
        before = len(find_entries(db, cast.realm_id, 0)[0])
    with pytest.raises(RuntimeError):
        chat_database.run(fail)
    with chat_database.reading() as db:
        assert len(find_entries(db, cast.realm_id, 0)[0]) == before
