"""Lists of topics that were listed before: whatever has changed since, an answer has it."""

from collections.abc import Callable

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from models.chat.tables import Topic
from models.chat.topics import kept
from models.database import Database
from tests.handlers.chat.test_topics import open_channel, write
from tests.support.chat.app import ChatClient

QUIET = {"send_notification_to_old_thread": False, "send_notification_to_new_thread": False}


def listed(client: ChatClient, channel: int) -> list[tuple[str, int]]:
    answer = client.get(f"/users/me/{channel}/topics", allow_empty_topic_name=True)
    return [(topic["name"], topic["max_id"]) for topic in answer["topics"]]


def stored(database: Database, channel: int) -> list[tuple[str, int]]:
    wanted = (
        select(Topic.name, Topic.max_id)
        .where(Topic.channel_id == channel)
        .order_by(Topic.max_id.desc())
    )
    with database.reading() as connection:
        return [(name, max_id) for name, max_id in connection.execute(wanted)]


@pytest.fixture
def channel(chat: ChatClient) -> int:
    """With three topics of three messages, listed once."""
    channel = open_channel(chat, "stage")
    for topic in ("ghost", "play", "grave") * 3:
        write(chat, channel, topic)
    listed(chat, channel)
    return channel


def test_a_message_makes_its_topic_the_first(
    chat: ChatClient, channel: int, chat_database: Database
) -> None:
    newest = write(chat, channel, "Ghost")
    assert listed(chat, channel)[:2] == [("Ghost", newest), ("grave", newest - 1)]
    added = write(chat, channel, "new")
    assert listed(chat, channel)[:3] == [("new", added), ("Ghost", newest), ("grave", newest - 1)]
    assert listed(chat, channel) == stored(chat_database, channel)


def test_moved_and_deleted_messages_count(
    chat: ChatClient, as_iago: ChatClient, channel: int, chat_database: Database
) -> None:
    other = open_channel(chat, "cellar")
    write(chat, other, "wine")
    listed(chat, other)
    newest = write(chat, channel, "grave")

    def both_are_right() -> bool:
        return all(listed(chat, one) == stored(chat_database, one) for one in (channel, other))

    def moved(message_id: int, **where: object) -> None:
        answer = chat.patch(f"/messages/{message_id}", **where, **QUIET)
        assert answer["result"] == "success", answer
        assert both_are_right()

    moved(newest, topic="✔ grave", propagate_mode="change_all")
    assert listed(chat, channel)[0] == ("✔ grave", newest)
    moved(newest, topic="play", propagate_mode="change_one")
    moved(newest - 3, stream_id=other, propagate_mode="change_all")
    assert chat.delete(f"/messages/{newest}")["result"] == "success"
    assert both_are_right()
    gone = as_iago.post(f"/streams/{channel}/delete_topic", topic_name="play")
    assert gone == {"result": "success", "msg": "", "complete": True}
    assert both_are_right()
    assert "play" not in dict(listed(chat, channel))


def test_the_topic_without_a_name_is_called_as_each_client_knows_it(
    chat: ChatClient, channel: int
) -> None:
    newest = write(chat, channel, "")
    write(chat, channel, '{"name":"",')
    for _ in range(2):
        assert listed(chat, channel)[1] == ("", newest)
        older = chat.get(f"/users/me/{channel}/topics")["topics"]
        assert older[:2] == [
            {"name": '{"name":"",', "max_id": newest + 1},
            {"name": "general chat", "max_id": newest},
        ]


CHANGES: list[Callable[[int, int], list[object]]] = [
    lambda channel, newest: [delete(Topic).where(Topic.max_id == newest)],
    lambda channel, newest: [delete(Topic).where(Topic.channel_id == channel)],
    lambda channel, newest: [
        update(Topic).where(Topic.max_id == newest).values(name="GRAVE"),
    ],
    lambda channel, newest: [
        update(Topic).where(Topic.max_id == newest - 1).values(name="p", topic_key="p"),
    ],
    lambda channel, newest: [
        update(Topic).where(Topic.max_id == newest - 1).values(max_id=newest - 4),
    ],
    lambda channel, newest: [
        update(Topic).where(Topic.max_id == newest - 2).values(max_id=newest - 1, name="g"),
        update(Topic).where(Topic.name == "play").values(max_id=newest - 2),
    ],
    lambda channel, newest: [
        insert(Topic).values(channel_id=channel, topic_key="o", name="o", max_id=newest - 5),
    ],
    lambda channel, newest: [
        insert(Topic).values(channel_id=channel, topic_key="n", name="n", max_id=newest + 5),
    ],
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_whoever_changes_a_row_is_seen(
    chat: ChatClient, channel: int, chat_database: Database, number: int
) -> None:
    """As a server of another release would, that shares nothing but the database."""
    newest = listed(chat, channel)[0][1]

    def change(session: Session) -> None:
        for statement in CHANGES[number](channel, newest):
            session.execute(statement)

    before = stored(chat_database, channel)
    chat_database.run(change)
    assert listed(chat, channel) == stored(chat_database, channel) != before
    assert listed(chat, channel) == stored(chat_database, channel)


def test_only_so_many_are_kept(
    chat: ChatClient, channel: int, chat_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_TOPICS", 5)
    other = open_channel(chat, "cellar")
    write(chat, other, "wine")
    for one in (channel, other, other, channel):
        assert listed(chat, one) == stored(chat_database, one)
    with chat_database.reading() as connection:
        if chat_database.dialect == "sqlite":
            assert list(connection.info["topics"]) == [channel]
        else:
            assert "topics" not in connection.info
