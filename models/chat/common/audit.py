"""Appends to the audit log, in the transaction of the change it tells; and reads it.

What is a security event too (security_events.py) is told to the log once the change is kept.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.tables import AuditLog
from models.database import after_commit
from models.prepared import Change
from models.reader import Db
from security_events import Asker, SecurityEvent, emit, who_asks

_TABLE = table_of(AuditLog)
_INSERT = Change(insert(_TABLE))
SHOWN = (
    "actor_id",
    "user_id",
    "channel_id",
    "group_id",
    "facts",
    "key_id",
    "address",
    "request_id",
)

_EVENTS = {event.value: event for event in SecurityEvent}
TOLD = frozenset(("by", "export_type", "property"))
"""The facts, besides numbers, that a line of the log tells; the audit log has all of them."""


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
    asker = who_asks()
    _INSERT.run(
        session,
        {
            "realm_id": realm_id,
            "kind": kind,
            "actor_id": actor_id,
            "user_id": user_id,
            "channel_id": channel_id,
            "group_id": group_id,
            "facts": orjson.dumps(facts or {}).decode(),
            "at": now,
            **_asked_by(asker),
        },
    )
    event = _EVENTS.get(kind)
    if event is not None:
        about = {"user": user_id, "realm": realm_id} | {
            name: value
            for name, value in (facts or {}).items()
            if name in TOLD or isinstance(value, int)
        }
        after_commit(session, lambda: emit(event, asker=asker, **about))


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
    asked = _asked_by(who_asks())
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
            **asked,
        }
        for channel_id, user_id in pairs
    ]
    if rows:
        _INSERT.run_all(session, rows)


def find_entries(
    db: Db, realm_id: int, *, kind: str | None, user_id: int | None, limit: int
) -> list[dict[str, Any]]:
    """The newest changes of a realm, the newest last: `at`, `kind` and all of `SHOWN`.

    `user_id`: who did it or had it done to them.
    """
    wanted = select(*(_TABLE.c[name] for name in ("id", "at", "kind", *SHOWN)))
    wanted = wanted.where(_TABLE.c.realm_id == realm_id)
    if kind is not None:
        wanted = wanted.where(_TABLE.c.kind == kind)
    if user_id is not None:
        wanted = wanted.where((_TABLE.c.user_id == user_id) | (_TABLE.c.actor_id == user_id))
    rows = db.execute(wanted.order_by(_TABLE.c.id.desc()).limit(limit)).mappings().all()
    return [
        {**row, "at": row["at"].isoformat(), "facts": orjson.loads(row["facts"]) or None}
        for row in reversed(rows)
    ]


def _asked_by(asker: Asker | None) -> dict[str, Any]:
    if asker is None:
        return {"key_id": None, "address": None, "request_id": None}
    return {"key_id": asker.key_id, "address": asker.client, "request_id": asker.request_id}
