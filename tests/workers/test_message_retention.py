"""`message_retention_days`: messages are deleted after the days of their channel or
organization.
"""

from typing import Any

import pytest
from sqlalchemy import select, update

from models.chat.retention import RULES
from models.chat.tables import Channel, Event, Message, MessageArchive, Realm, Topic
from settings import Settings
from specd._workers.retention import Retention
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

DAY_S = 86_400


@pytest.fixture
def worker(chat_database: Database, clock: FrozenClock) -> Retention:
    only = [rule for rule in RULES if rule.table == "message"]
    return Retention(chat_database, clock, only, Settings(), rest=lambda seconds: None, batch=2)


def channel(database: Database, cast: Cast, name: str, days: int | None) -> int:
    made = database.run(
        lambda session: make_channel(session, cast, name, subscribers=[cast.hamlet])
    )
    keep(database, Channel, made, days)
    return made


def keep(database: Database, table: Any, row_id: int, days: int | None) -> None:
    changed = update(table).where(table.id == row_id).values(message_retention_days=days)
    database.run(lambda session: session.execute(changed))


def texts(database: Database, table: Any = Message) -> list[str]:
    with database.reading() as reader:
        return list(reader.scalars(select(table.content).order_by(table.id)))


def send(client: ChatClient, to: Any, content: str) -> int:
    kind = "channel" if isinstance(to, int) else "direct"
    where = {"topic": "t"} if kind == "channel" else {}
    answer = client.post("/messages", type=kind, to=to, content=content, **where)
    message_id: int = answer["id"]
    return message_id


def work(worker: Retention) -> int:
    steps = 0
    while worker.try_delete_some():
        steps += 1
    return steps


def test_each_place_keeps_for_its_own_days(
    chat: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock, worker: Retention
) -> None:
    keep(chat_database, Realm, cast.realm_id, 10)
    places: list[tuple[Any, str]] = [
        (channel(chat_database, cast, "short", 3), "short"),
        (channel(chat_database, cast, "as-all", None), "as all"),
        (channel(chat_database, cast, "for-ever", -1), "for ever"),
        ([cast.othello.id], "direct"),
    ]
    before = texts(chat_database)
    assert before == []
    for to, content in places:
        send(chat, to, content)
    for days, left in (
        (3, ["short", "as all", "for ever", "direct"]),
        (0.001, ["as all", "for ever", "direct"]),
        (6.999, ["as all", "for ever", "direct"]),
        (0.001, ["for ever"]),
        (3650, ["for ever"]),
    ):
        clock.advance(seconds=days * DAY_S)
        work(worker)
        assert texts(chat_database) == left, f"after {days} days more"
    assert sorted(texts(chat_database, MessageArchive)) == ["as all", "direct", "short"]


def test_nothing_goes_unless_an_owner_says_so(
    chat: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock, worker: Retention
) -> None:
    send(chat, channel(chat_database, cast, "square", None), "old")
    send(chat, [cast.othello.id], "old too")
    clock.advance(seconds=3650 * DAY_S)
    assert work(worker) == 0
    assert texts(chat_database) == ["old", "old too"]


def test_small_batches_leave_topics_and_first_messages_true_and_tell_clients(
    chat: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock, worker: Retention
) -> None:
    square = channel(chat_database, cast, "square", 1)
    old = [send(chat, square, f"old {number}") for number in range(5)]
    clock.advance(seconds=2 * DAY_S)
    young = send(chat, square, "young")
    assert work(worker) == 3, "five by twos"
    with chat_database.reading() as reader:
        first = reader.execute(select(Channel.first_message_id).where(Channel.id == square))
        assert first.scalar_one() == young
        newest = reader.execute(select(Topic.max_id).where(Topic.channel_id == square))
        assert newest.scalar_one() == young
        told = reader.scalars(select(Event.payload).where(Event.type == "delete_message")).all()
        archived = reader.execute(select(MessageArchive.id, MessageArchive.archived_by)).all()
    assert len(told) == 3
    assert sorted(archived) == [(message_id, None) for message_id in old]
    clock.advance(seconds=DAY_S + 1)
    work(worker)
    assert chat.get(f"/users/me/{square}/topics")["topics"] == []
