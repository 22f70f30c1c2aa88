"""Appends events for clients, in the transaction of the change they tell."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

import orjson
from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from models.chat.events.event import ClientEvent
from models.chat.tables import Event

_INSERT = insert(cast(Table, Event.__table__))

Told = tuple[ClientEvent, Iterable[int] | None]
"""An event and the ids of the users who get it; None: everybody in the realm."""


def append(
    session: Session,
    realm_id: int,
    event: ClientEvent,
    *,
    now: datetime,
    user_ids: Iterable[int] | None = None,
    to_administrators: bool = False,
) -> None:
    """One event for `user_ids`, else for the realm's administrators, else for everyone.

    An event for nobody is not kept.
    """
    row = _row(realm_id, event, now, user_ids, to_administrators)
    if row is not None:
        session.connection().execute(_INSERT, row)


def append_all(
    session: Session, realm_id: int, occurrences: Iterable[Told], *, now: datetime
) -> None:
    """Several events, in order and in one statement."""
    rows = [
        row
        for event, user_ids in occurrences
        if (row := _row(realm_id, event, now, user_ids)) is not None
    ]
    if rows:
        session.connection().execute(_INSERT, rows)


def _row(
    realm_id: int,
    event: ClientEvent,
    now: datetime,
    user_ids: Iterable[int] | None,
    to_administrators: bool = False,
) -> dict[str, Any] | None:
    recipients = None if user_ids is None else sorted(set(user_ids))
    if recipients == []:
        return None
    audience = "administrators" if to_administrators else "realm" if recipients is None else "users"
    return {
        "realm_id": realm_id,
        "type": event.type,
        "payload": orjson.dumps(event.payload()).decode(),
        "audience": audience,
        "user_ids": None if recipients is None else orjson.dumps(recipients).decode(),
        "at": now,
    }
