"""Presence with many clients: no update is missed, and a report costs few statements."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session

from models.chat.identity.actors import find_actor
from models.chat.presence import reports
from models.chat.presence.presences import NO_UPDATE, find_presences
from models.chat.tables import Presence
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.people import CAST_MADE_AT, Cast, Member
from tests.support.frozen_clock import FrozenClock

EACH = 10


def reporting(member: Member, minute: int, held_s: float) -> Callable[[Session], None]:
    """Return a unit of work that stores a report and stays open for a while."""

    def work(session: Session) -> None:
        actor = find_actor(session, member.id)
        assert actor is not None
        now = CAST_MADE_AT + timedelta(minutes=minute)
        reports.note_report(session, actor, "active", now=now)
        time.sleep(held_s)

    return work


def test_client_that_polls_for_newer_reports_misses_none(
    chat_database: Database, cast: Cast
) -> None:
    chance = random.Random(7)
    done = threading.Event()
    seen: dict[str, int] = {}
    people = [cast.cordelia, cast.iago, cast.hamlet, cast.othello, cast.prospero]

    def read() -> None:
        last = NO_UPDATE
        while True:
            is_last = done.is_set()
            with chat_database.reading() as db:
                actor = find_actor(db, cast.hamlet.id)
                assert actor is not None
                found = find_presences(db, actor, is_slim=True, after=last, now=CAST_MADE_AT)
            for user_id, presence in found["presences"].items():
                seen[user_id] = presence["active_timestamp"]
            last = found["presence_last_update_id"]
            if is_last and not found["presences"]:
                return

    def write(member: Member, pauses: list[float]) -> None:
        for minute, pause in enumerate(pauses):
            chat_database.run(reporting(member, minute, pause))

    reader = threading.Thread(target=read)
    reader.start()
    # On SQLite a pause delays all threads, because there is one writer at a time.
    longest = 0.002 if chat_database.dialect == "sqlite" else 0.04
    writers = [
        threading.Thread(
            target=write, args=(member, [chance.uniform(0, longest) for _ in range(EACH)])
        )
        for member in people
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    done.set()
    reader.join()
    newest = int((CAST_MADE_AT + timedelta(minutes=EACH - 1)).timestamp())
    assert seen == {str(member.id): newest for member in people}
    with chat_database.reading() as db:
        update_ids = db.execute(select(Presence.update_id)).scalars().all()
    assert len(set(update_ids)) == len(people)
    assert max(update_ids) == EACH * len(people)


@contextmanager
def counting() -> Iterator[list[str]]:
    """Yield the statements of every connection, except those that begin and end a transaction."""
    texts: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            texts.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield texts
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_report_costs_few_statements(
    chat: ChatClient, chat_database: Database, clock: FrozenClock
) -> None:
    """A report reads the caller, its last presence and the presences of others.

    About twice as many statements run if something is written, which happens once a minute. Clients
    are notified only if the user returns.
    """
    lock = chat_database.dialect == "postgresql"
    chat.post("/users/me/presence", status="active", last_update_id=-1)
    counted = {}
    for case, after in (("right after another", 0), ("every minute", 60), ("back", 600)):
        clock.advance(seconds=after)
        with counting() as texts:
            chat.post("/users/me/presence", status="active", last_update_id=1)
        written = [text for text in texts if text.startswith(("INSERT", "UPDATE", "DELETE"))]
        counted[case] = (len(texts), len(written))
    assert counted == {
        "right after another": (3, 0),
        "every minute": (6 + lock, 1),
        "back": (8 + 2 * lock, 2),
    }
