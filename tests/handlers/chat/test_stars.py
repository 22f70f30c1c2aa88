"""Stars belong to message copies: they are deleted with them and are hidden without them."""

from typing import Any

import orjson
import pytest
from sqlalchemy import func, insert, select

from models.chat.tables import StarredMessage
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


def write(client: ChatClient, channel: int, count: int) -> list[int]:
    return [
        client.post("/messages", type="channel", to=channel, topic="t", content=f"word {n}")["id"]
        for n in range(count)
    ]


def star(client: ChatClient, ids: list[int], op: str = "add") -> None:
    assert client.post("/messages/flags", messages=ids, op=op, flag="starred")["messages"] == ids


def starred(client: ChatClient, *more: list[Any]) -> list[int]:
    """Return the ids of the client's messages in `is:starred`."""
    narrow = orjson.dumps([["is", "starred"], *more]).decode()
    window = {"anchor": "newest", "num_before": 50, "num_after": 0, "narrow": narrow}
    return [message["id"] for message in client.get("/messages", **window)["messages"]]


def counted(database: Database) -> dict[int, int]:
    """Return the number of star rows by user id."""
    with database.reading() as reader:
        rows = reader.execute(
            select(StarredMessage.user_id, func.count()).group_by(StarredMessage.user_id)
        )
        return {user_id: count for user_id, count in rows}


def test_stars_are_per_user(
    chat: ChatClient, as_othello: ChatClient, denmark: int, chat_database: Database, cast: Cast
) -> None:
    first, second, third = write(chat, denmark, 3)
    star(chat, [first, third])
    star(as_othello, [second])
    assert (starred(chat), starred(as_othello)) == ([first, third], [second])
    chat.post("/messages/flags", messages=[first], op="add", flag="read")
    assert starred(as_othello, ["is", "unread"]) == [second]
    assert starred(chat, ["is", "unread"]) == [third]
    assert starred(chat, ["search", "2"]) == [third]
    star(chat, [first], op="remove")
    assert starred(chat) == [third]
    assert counted(chat_database) == {cast.hamlet.id: 1, cast.othello.id: 1}


def test_stars_are_deleted_with_the_message(
    chat: ChatClient, as_othello: ChatClient, denmark: int, chat_database: Database, cast: Cast
) -> None:
    first, second = write(chat, denmark, 2)
    star(chat, [first, second])
    star(as_othello, [first])
    assert chat.delete(f"/messages/{first}")["result"] == "success"
    assert counted(chat_database) == {cast.hamlet.id: 1}
    assert (starred(chat), starred(as_othello)) == ([second], [])


def test_stars_are_deleted_with_the_copy_by_a_move(
    as_iago: ChatClient,
    chat: ChatClient,
    as_othello: ChatClient,
    denmark: int,
    chat_database: Database,
    cast: Cast,
) -> None:
    members = [cast.hamlet, cast.iago]
    closed = chat_database.run(
        lambda s: make_channel(s, cast, "closed", subscribers=members, invite_only=True)
    )
    (moved,) = write(chat, denmark, 1)
    star(chat, [moved])
    star(as_othello, [moved])
    told = as_iago.patch(f"/messages/{moved}", stream_id=closed, propagate_mode="change_all")
    assert told["result"] == "success", told
    assert counted(chat_database) == {cast.hamlet.id: 1}
    assert (starred(chat), starred(as_othello)) == ([moved], [])


def test_star_without_a_copy_is_hidden(
    chat: ChatClient, as_othello: ChatClient, denmark: int, chat_database: Database, cast: Cast
) -> None:
    (message,) = write(as_othello, denmark, 1)
    stray = {"user_id": cast.cordelia.id, "message_id": message}
    chat_database.run(lambda s: s.execute(insert(StarredMessage).values(**stray)))
    as_cordelia = chat.acting_as(cast.cordelia)
    assert starred(as_cordelia) == []
    fetched = as_cordelia.post("/register", fetch_event_types=["starred_messages"])
    assert fetched["starred_messages"] == []
    assert as_cordelia.get(f"/messages/{message}")["message"]["flags"] == ["read", "historical"]
