"""Messages that tests send, and their events."""

from typing import Any

import orjson
from sqlalchemy import select, update

from models.chat.tables import Event, Realm
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast

INVALID = bad("Invalid message(s)")


def say(client: ChatClient, /, **over: Any) -> dict[str, Any]:
    wish = {"type": "channel", "to": "Denmark", "topic": "castle", "content": "Words"}
    return client.post("/messages", **{**wish, **over})


def events(database: Database, kind: str) -> list[dict[str, Any]]:
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.user_ids).where(Event.type == kind).order_by(Event.id)
        )
        return [orjson.loads(payload) | {"_to": orjson.loads(to or "null")} for payload, to in rows]


def set_realm(database: Database, cast: Cast, **values: Any) -> None:
    database.run(
        lambda s: s.execute(update(Realm).where(Realm.id == cast.realm_id).values(**values))
    )
