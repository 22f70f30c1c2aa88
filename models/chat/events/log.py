"""Appends events for clients, in the transaction of the change they tell.

They are written at the end of the unit of work, so that the ids of a realm ascend in the order of
commits (models/commit_order.py), and all processes are told once they are kept.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

import orjson
from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from models.chat.events.event import ClientEvent
from models.chat.tables import Event
from models.commit_order import hold_logs
from models.database import at_the_end, tell_news

LOCKS = 1
"""The family of the locks of these logs."""
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
        at_the_end(session, _write, [row])


def append_all(
    session: Session, realm_id: int, occurrences: Iterable[Told], *, now: datetime
) -> None:
    """Several events, in order."""
    rows = [
        row
        for event, user_ids in occurrences
        if (row := _row(realm_id, event, now, user_ids)) is not None
    ]
    at_the_end(session, _write, rows)


def _write(session: Session, rows: list[dict[str, Any]]) -> None:
    """All events of a unit of work, in one statement; the ids of a realm in commit order."""
    realm_ids = {row["realm_id"] for row in rows}
    hold_logs(session, LOCKS, realm_ids)
    session.connection().execute(_INSERT, rows)
    tell_news(session, realm_ids)


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
        "channel_id": event.channel_id,
        "at": now,
    }
