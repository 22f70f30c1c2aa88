"""Appends events for clients, in the transaction of the change they tell."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

import orjson
from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from models.chat.tables import Event

_INSERT = insert(cast(Table, Event.__table__))


def append(
    session: Session,
    realm_id: int,
    type_: str,
    payload: Mapping[str, Any],
    *,
    now: datetime,
    user_ids: Iterable[int] | None = None,
    to_administrators: bool = False,
) -> None:
    """One event of `type_` for `user_ids`, else for the realm's administrators, else for everyone.

    `payload` is the event's body as a client sees it, without `id` and `type` (chat.md section 4).
    An event for nobody is not kept.
    """
    row = _row(realm_id, type_, payload, now, user_ids, to_administrators)
    if row is not None:
        session.connection().execute(_INSERT, row)


def append_all(
    session: Session,
    realm_id: int,
    type_: str,
    occurrences: Iterable[tuple[Mapping[str, Any], Iterable[int] | None]],
    *,
    now: datetime,
) -> None:
    """Several events of `type_` in one statement: (payload, `user_ids`) as `append` takes them."""
    rows = [
        row
        for payload, user_ids in occurrences
        if (row := _row(realm_id, type_, payload, now, user_ids)) is not None
    ]
    if rows:
        session.connection().execute(_INSERT, rows)


def _row(
    realm_id: int,
    type_: str,
    payload: Mapping[str, Any],
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
        "type": type_,
        "payload": orjson.dumps(payload).decode(),
        "audience": audience,
        "user_ids": None if recipients is None else orjson.dumps(recipients).decode(),
        "at": now,
    }
