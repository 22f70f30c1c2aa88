"""The search index is updated in steps after many messages were moved or deleted."""

from __future__ import annotations

import pytest
from sqlalchemy import select, text

from models.chat.messages import search
from models.chat.tables import StaleSearch
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from workers.backlog import BATCH, stale_search

MANY = search.AT_ONCE + 5
TO_HARBOUR = {
    "topic": "harbour",
    "send_notification_to_old_thread": False,
    "send_notification_to_new_thread": False,
}


@pytest.fixture
def ids(chat: ChatClient, chat_database: Database, cast: Cast) -> list[int]:
    chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )
    return [
        chat.post("/messages", type="channel", to="Denmark", topic="castle", content=f"word{n} b")[
            "id"
        ]
        for n in range(MANY)
    ]


def find(chat: ChatClient, words: str) -> list[int]:
    narrow = [{"operator": "search", "operand": words}]
    answer = chat.get("/messages", anchor="newest", num_before=100, num_after=0, narrow=narrow)
    return [message["id"] for message in answer["messages"]]


def marked(database: Database) -> list[int]:
    with database.reading() as reader:
        return list(reader.execute(select(StaleSearch.message_id)).scalars())


def refresh(database: Database) -> tuple[int, int]:
    """Return how many steps did something, and how often the worker paused."""
    rests: list[float] = []
    worker = stale_search(database, rest=rests.append)
    steps = 0
    while worker.try_some():
        steps += 1
    return steps, len(rests)


def test_a_moved_topic_is_found_under_its_new_name(
    chat: ChatClient, as_cordelia: ChatClient, chat_database: Database, ids: list[int]
) -> None:
    as_cordelia.patch(f"/messages/{ids[0]}", **TO_HARBOUR, propagate_mode="change_all")
    assert marked(chat_database) == ids
    assert (find(chat, "harbour"), find(chat, "castle")) == ([], ids)
    steps = -(-MANY // BATCH)
    assert refresh(chat_database) == (steps, steps)
    assert marked(chat_database) == []
    assert (find(chat, "harbour"), find(chat, "castle")) == (ids, [])
    assert find(chat, "word3 b harbour") == [ids[3]]
    assert refresh(chat_database) == (0, 0)


def test_a_few_are_found_at_once(
    chat: ChatClient, as_cordelia: ChatClient, chat_database: Database, ids: list[int]
) -> None:
    last = ids[-search.AT_ONCE]
    as_cordelia.patch(f"/messages/{last}", **TO_HARBOUR, propagate_mode="change_later")
    assert marked(chat_database) == []
    assert find(chat, "harbour") == ids[-search.AT_ONCE :]


def test_what_is_gone_is_forgotten(
    as_othello: ChatClient,
    as_cordelia: ChatClient,
    cast: Cast,
    chat_database: Database,
    ids: list[int],
) -> None:
    actions = {"delete_public_channel_messages": True}
    assert find(as_othello, "castle") == ids
    as_cordelia.delete(f"/users/{cast.hamlet.id}", actions=actions)
    assert marked(chat_database) == ids
    assert find(as_othello, "castle") == []
    refresh(chat_database)
    assert marked(chat_database) == []
    with chat_database.reading() as reader:
        assert reader.execute(text("SELECT count(*) FROM message_search")).scalar() == 0
