"""Large deletions continue in steps after the request."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from models.chat.deletion import removals as message_removals
from models.chat.tables import Message, MessageArchive, MessageRemoval, Topic, User
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.rows import audited, events_of
from tests.support.frozen_clock import FrozenClock
from workers.backlog import message_removals as removals_worker

AT_ONCE = 2
SENT = 7


@pytest.fixture
def channel(
    chat: ChatClient,
    as_reminder: ChatClient,
    chat_database: Database,
    cast: Cast,
    monkeypatch: pytest.MonkeyPatch,
) -> int:
    """Hamlet and his bot have written to the channel, and a step deletes two messages."""
    members = [cast.hamlet, cast.reminder, cast.othello]
    channel_id = chat_database.run(lambda s: make_channel(s, cast, "stage", subscribers=members))
    monkeypatch.setattr(message_removals, "AT_ONCE", AT_ONCE)
    for n in range(SENT):
        say(chat, channel_id, f"Hamlet {n}")
    say(as_reminder, channel_id, "Reminder 0")
    return channel_id


def say(calls: ChatClient, channel_id: int, content: str) -> None:
    sent = calls.post("/messages", type="channel", to=channel_id, topic="t", content=content)
    assert sent["result"] == "success", sent


def contents(database: Database, table: Any = Message) -> list[str]:
    with database.reading() as reader:
        return list(reader.execute(select(table.content).order_by(table.id)).scalars())


def waiting(database: Database) -> int:
    with database.reading() as reader:
        return len(reader.execute(select(MessageRemoval.id)).all())


def deactivate(owner: ChatClient, cast: Cast, **actions: bool) -> None:
    assert owner.delete(f"/users/{cast.hamlet.id}", actions=actions)["result"] == "success"


def test_the_first_go_at_once_and_the_rest_in_steps(
    as_cordelia: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock, channel: int
) -> None:
    deactivate(as_cordelia, cast, delete_public_channel_messages=True)
    # First the bot's messages, then the user's, as many as one step deletes.
    assert contents(chat_database, MessageArchive) == ["Hamlet 0", "Reminder 0"]
    assert waiting(chat_database) == 1
    rests: list[float] = []
    worker = removals_worker(chat_database, clock, rest=rests.append)
    gone = []
    while worker.try_some():
        gone.append(len(contents(chat_database, MessageArchive)))
    assert gone == [4, 6, 8, 8]
    assert len(rests) == len(gone)
    assert (contents(chat_database), waiting(chat_database)) == ([], 0)
    with chat_database.reading() as reader:
        assert reader.execute(select(Topic.name)).all() == []
    told = [event["message_ids"] for event in events_of(chat_database, "delete_message")]
    assert sorted(len(ids) for ids in told) == [2, 2, 2, 2]
    assert audited(chat_database, "user_data_deleted") == [
        (cast.cordelia.id, cast.reminder.id, {"profile": False, "messages": 1}),
        (cast.cordelia.id, cast.hamlet.id, {"profile": False, "messages": 1}),
        (cast.cordelia.id, cast.hamlet.id, {"profile": False, "messages": 6}),
    ]


def test_what_is_sent_after_the_request_stays(
    as_cordelia: ChatClient,
    chat: ChatClient,
    cast: Cast,
    chat_database: Database,
    clock: FrozenClock,
    channel: int,
) -> None:
    deactivate(as_cordelia, cast, delete_public_channel_messages=True)

    def bring_back(session: Any) -> None:
        session.get(User, cast.hamlet.id).is_active = True

    chat_database.run(bring_back)
    say(chat, channel, "I am back")
    worker = removals_worker(chat_database, clock, rest=lambda seconds: None)
    while worker.try_some():
        pass
    assert contents(chat_database) == ["I am back"]


def test_only_the_places_that_were_named(
    as_cordelia: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock, channel: int
) -> None:
    deactivate(as_cordelia, cast, delete_private_channel_messages=True, delete_direct_messages=True)
    assert waiting(chat_database) == 0
    worker = removals_worker(chat_database, clock, rest=lambda seconds: None)
    assert not worker.try_some()
    assert len(contents(chat_database)) == SENT + 1


def test_two_workers_share_no_removal(
    as_cordelia: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock, channel: int
) -> None:
    deactivate(as_cordelia, cast, delete_public_channel_messages=True)
    if chat_database.dialect == "sqlite":
        return  # Only the one write lock is shared.

    def meanwhile(session: Any) -> bool:
        assert message_removals.remove_some(session, clock.now())
        return chat_database.run(lambda other: message_removals.remove_some(other, clock.now()))

    assert chat_database.run(meanwhile) is False
    assert len(contents(chat_database, MessageArchive)) == 2 * AT_ONCE


def test_no_messages_leave_nothing_to_do(
    as_cordelia: ChatClient, cast: Cast, chat_database: Database
) -> None:
    deactivate(as_cordelia, cast, delete_public_channel_messages=True)
    assert waiting(chat_database) == 0
    assert audited(chat_database, "user_data_deleted") == []
