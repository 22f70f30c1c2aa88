"""The audit log: an entry is appended in the transaction of the change that it describes.

A change that is also a security event (security_events.py) is logged after the commit.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.chat.common.security_events import ChatEvent
from models.chat.tables import AuditLog
from specd import current_caller, emit
from specd.db import Change, Database, Db, table_of

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

_EVENTS = {event.value: event for event in ChatEvent}
LOGGED_FACTS = frozenset(("by", "export_type", "property"))
"""Facts that a log line may contain in addition to numbers. The audit log contains all facts."""


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
    """Append one change: its `kind`, such as `user_created`, its actor, and the changed user,
    channel or group. `facts` must not contain secrets.
    """
    facts = facts or {}
    entry = {
        **_common(realm_id, kind, actor_id, now),
        "user_id": user_id,
        "channel_id": channel_id,
        "group_id": group_id,
        "facts": orjson.dumps(facts).decode(),
    }
    _INSERT.run(session, entry)
    event = _EVENTS.get(kind)
    if event is not None:
        caller = current_caller()
        logged = {
            name: value
            for name, value in facts.items()
            if name in LOGGED_FACTS or isinstance(value, int)
        }
        logged = {"user": user_id, "realm": realm_id, **logged}
        Database.after_commit(session, lambda: emit(event, caller=caller, **logged))


def record_channel_changes(
    session: Session,
    realm_id: int,
    kind: str,
    pairs: Iterable[tuple[int, int | None]],
    *,
    now: datetime,
    actor_id: int | None = None,
) -> None:
    """Append the same change of several channels, or of several users in them, with one statement.
    `pairs` are (channel id, user id or None).
    """
    common = _common(realm_id, kind, actor_id, now) | {"group_id": None, "facts": "{}"}
    entries = [
        common | {"channel_id": channel_id, "user_id": user_id} for channel_id, user_id in pairs
    ]
    if entries:
        _INSERT.run_all(session, entries)


def _common(realm_id: int, kind: str, actor_id: int | None, now: datetime) -> dict[str, Any]:
    """Return the columns that all entries of a request share."""
    caller = current_caller()
    return {
        "realm_id": realm_id,
        "kind": kind,
        "actor_id": actor_id,
        "at": now,
        "key_id": None if caller is None else caller.key_id,
        "address": None if caller is None else caller.client,
        "request_id": None if caller is None else caller.request_id,
    }


def find_entries(
    db: Db, realm_id: int, *, kind: str | None, user_id: int | None, limit: int
) -> list[dict[str, Any]]:
    """Return the newest changes of a realm, newest last: `id`, `at`, `kind` and all of `SHOWN`.
    `user_id` selects changes by that user or of that user.
    """
    query = select(*(_TABLE.c[name] for name in ("id", "at", "kind", *SHOWN)))
    query = query.where(_TABLE.c.realm_id == realm_id)
    if kind is not None:
        query = query.where(_TABLE.c.kind == kind)
    if user_id is not None:
        query = query.where((_TABLE.c.user_id == user_id) | (_TABLE.c.actor_id == user_id))
    rows = db.execute(query.order_by(_TABLE.c.id.desc()).limit(limit)).mappings().all()
    return [
        {**row, "at": row["at"].isoformat(), "facts": orjson.loads(row["facts"]) or None}
        for row in reversed(rows)
    ]
