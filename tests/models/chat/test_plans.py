"""Message lists use the same index if one channel contains nearly all messages.

With and without statistics in the database.
"""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.orm import Session

from models.chat.tables import Message
from specd.db import Database, table_of
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock
from tests.support.plans import STATISTICS, analyze, watching

MESSAGES = 5_000
BY_CHANNEL = "message(channel_id, id)"
BY_TOPIC = "message(channel_id, topic_key, id)"
BY_ID = "message(id)"


@pytest.fixture(params=STATISTICS)
def large(
    request: pytest.FixtureRequest, chat_database: Database, cast: Cast, clock: FrozenClock
) -> Database:
    """A database with one channel of nearly all messages and one channel of ten."""

    def fill(session: Session) -> None:
        channels = [make_channel(session, cast, each) for each in ("large", "small")]
        table = table_of(Message)
        session.connection().execute(
            insert(table),
            [
                {
                    "realm_id": cast.realm_id,
                    "sender_id": cast.othello.id,
                    "channel_id": channels[n % 500 == 0],
                    "topic": f"topic {n % 50}",
                    "topic_key": f"topic {n % 50}",
                    "content": "x",
                    "rendered_content": "<p>x</p>",
                    "sent_at": clock.now() - timedelta(minutes=MESSAGES - n),
                    "has_link": False, "has_image": False, "has_attachment": False, "client": "",
                }
                for n in range(MESSAGES)
            ],
        )  # fmt: skip

    chat_database.run(fill)
    if request.param == "fresh":
        analyze(chat_database)
    return chat_database


def ways_of(database: Database, client: ChatClient, **parameters: Any) -> list[set[str]]:
    """Return the indexes of each statement that reads messages.

    Both indexes that begin with the channel count as one if PostgreSQL has no statistics, because
    it uses either.
    """
    asked = {"anchor": "newest", "num_before": 5, "num_after": 5, **parameters}
    with watching(database) as ways:
        answer = client.get("/messages", **asked)
    assert answer["messages"]
    found = [{way for way in indexes if way.startswith("message(")} for indexes in ways.values()]
    if database.dialect == "postgresql" and "topic" not in str(parameters["narrow"]):
        found = [{BY_CHANNEL if way == BY_TOPIC else way for way in indexes} for indexes in found]
    read = [indexes for indexes in found if indexes]
    assert read, "no statement read messages"
    return read


@pytest.mark.parametrize("name", ["large", "small"])
def test_channel_uses_its_index(large: Database, chat: ChatClient, name: str) -> None:
    narrow = [{"operator": "channel", "operand": name}]
    for ways in ways_of(large, chat, narrow=narrow):
        assert ways in ({BY_CHANNEL}, {BY_ID})


@pytest.mark.parametrize("name", ["large", "small"])
def test_topic_uses_its_index(large: Database, chat: ChatClient, name: str) -> None:
    narrow = [
        {"operator": "channel", "operand": name},
        {"operator": "topic", "operand": "topic 0" if name == "small" else "topic 7"},
    ]
    for ways in ways_of(large, chat, narrow=narrow):
        assert ways in ({BY_TOPIC}, {BY_ID})


def test_date_uses_its_index(large: Database, chat: ChatClient, clock: FrozenClock) -> None:
    moment = (clock.now() - timedelta(minutes=100)).isoformat()
    narrow = [{"operator": "channel", "operand": "large"}]
    for ways in ways_of(large, chat, narrow=narrow, anchor="date", anchor_date=moment):
        assert ways in ({"message(realm_id, id)"}, {BY_CHANNEL}, {BY_ID})
