"""Events compared with the document, which has a schema for each class."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from sqlalchemy import select

import specs
from models.chat.events.log import ClientEvent
from models.chat.people.emoji import clients_kind
from models.chat.tables import Event
from specd._engine.document.schemas import Schemas
from specd.db import Database
from tests.support.chat.event_kinds import list_kinds

DOCUMENT = specs.load("chat")
SCHEMAS = Schemas(DOCUMENT, drop="writeOnly")


@cache
def kinds() -> dict[tuple[str, str | None], type[ClientEvent]]:
    """Return the class of each type and op."""
    return {(kind.type, kind.op): kind for kind in list_kinds()}


@cache
def _validator(name: str) -> Callable[[Any, str], Any]:
    return SCHEMAS.compile({"$ref": f"#/components/schemas/{name}"}, name)


def objections(database: Database) -> list[str]:
    """Return the validation errors of the events in a database."""
    with database.reading() as db:
        rows = db.execute(select(Event.id, Event.type, Event.payload)).all()
    found = []
    for row in rows:
        payload = orjson.loads(row.payload)
        body = {key: value for key, value in payload.items() if not key.startswith("_")}
        if row.type == "user_status" and "reaction_type" in body:
            body["reaction_type"] = clients_kind(body["reaction_type"])  # as delivered
        kind = kinds()[row.type, body.get("op")]
        body |= {key: {} if key == "realm_emoji" else [] for key in kind.lazy}
        name = kind.__name__
        wrong = _validator(name)({"id": row.id, "type": row.type, **body}, "")
        found += [f"{name}{violation.path}: {violation.message}" for violation in wrong]
    return found
