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
    recipients = None if user_ids is None else sorted(set(user_ids))
    if recipients == []:
        return
    audience = "administrators" if to_administrators else "realm" if recipients is None else "users"
    session.connection().execute(
        _INSERT,
        {
            "realm_id": realm_id,
            "type": type_,
            "payload": orjson.dumps(payload).decode(),
            "audience": audience,
            "user_ids": None if recipients is None else orjson.dumps(recipients).decode(),
            "at": now,
        },
    )
