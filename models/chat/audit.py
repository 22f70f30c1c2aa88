"""Appends to the audit log, in the transaction of the change it tells."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

import orjson
from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from models.chat.tables import AuditLog

_INSERT = insert(cast(Table, AuditLog.__table__))


def record(
    session: Session,
    realm_id: int,
    kind: str,
    *,
    now: datetime,
    actor_id: int | None = None,
    user_id: int | None = None,
    channel_id: int | None = None,
    group_id: int | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """One change: `kind` such as `user_created`, who made it, to whom or what. Never a secret."""
    session.connection().execute(
        _INSERT,
        {
            "realm_id": realm_id,
            "kind": kind,
            "actor_id": actor_id,
            "user_id": user_id,
            "channel_id": channel_id,
            "group_id": group_id,
            "facts": orjson.dumps(facts or {}).decode(),
            "at": now,
        },
    )


def record_channel_changes(
    session: Session,
    realm_id: int,
    kind: str,
    pairs: Iterable[tuple[int, int | None]],
    *,
    now: datetime,
    actor_id: int | None = None,
) -> None:
    """The same change of several channels, or of several users in them, in one statement.

    `pairs` are (channel id, user id or None).
    """
    rows = [
        {
            "realm_id": realm_id,
            "kind": kind,
            "actor_id": actor_id,
            "user_id": user_id,
            "channel_id": channel_id,
            "group_id": None,
            "facts": "{}",
            "at": now,
        }
        for channel_id, user_id in pairs
    ]
    if rows:
        session.connection().execute(_INSERT, rows)
