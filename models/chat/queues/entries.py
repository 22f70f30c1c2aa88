"""Read the event log: the next events of a realm, or of one user."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, bindparam, func, literal, or_, select

from models.chat.events.organization import HeartbeatEvent
from models.chat.identity.actors import Actor
from models.chat.queues.queues import QueueOptions
from models.chat.tables import Event, Realm
from models.dialects import ByDialect, byte_length, in_parameter
from models.rows import columns_of
from specd.db import Db

ADMINISTRATORS = "administrators"
MAX_ENTRIES = 500
"""Maximum number of entries read together, and of events in one response."""
MAX_BYTES = 1024 * 1024
"""Maximum size of entries read together. A single entry may be larger."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the log. If `user_ids` is None, it is for all users or for the administrators.

    `payload` is shared: copy it before changing it.
    """

    id: int
    realm_id: int
    type: str
    payload: dict[str, Any]
    audience: str
    user_ids: frozenset[int] | None
    channel_id: int | None
    at: datetime
    size: int

    def is_for(self, user_id: int, *, is_administrator: bool, options: QueueOptions) -> bool:
        """Return whether the event is for the user, or is public and the queue accepts public
        events.
        """
        if self.user_ids is not None:
            if user_id in self.user_ids:
                return True
            others: Collection[int] | None = self.payload.get("_others")
            return options.all_public_streams and others is not None and user_id not in others
        return self.audience != ADMINISTRATORS or is_administrator


def find_entries(
    db: Db, realm_id: int, after: int, *conditions: ColumnElement[bool]
) -> tuple[list[Entry], bool]:
    """Return the next events of a realm after an id, in the order of their commits, and whether
    there may be more. They do not exceed `MAX_ENTRIES` and `MAX_BYTES`, except for a single large
    event.
    """
    # Sum the sizes first, so that the database sends no text beyond the limit.
    some = (
        select(Event.id, byte_length(Event.payload).label("size"))
        .where(Event.realm_id == bindparam("realm_id"), Event.id > bindparam("after"), *conditions)
        .order_by(Event.id)
        .limit(MAX_ENTRIES)
        .cte("some")
    )
    total = func.sum(some.c.size).over(order_by=some.c.id)
    number = func.count().over()
    weighed = select(some.c.id, some.c.size, total.label("total"), number.label("number")).subquery(
        "weighed"
    )
    query = (
        select(*columns_of(Entry, Event), weighed.c.size, weighed.c.number)
        .join(weighed, weighed.c.id == Event.id)
        .where(or_(weighed.c.total <= MAX_BYTES, weighed.c.total == weighed.c.size))
        .order_by(Event.id)
    )
    rows = db.execute(query, {"realm_id": realm_id, "after": after}).all()
    entries = [
        Entry(
            id=row.id,
            realm_id=row.realm_id,
            type=row.type,
            payload=orjson.loads(row.payload),
            audience=row.audience,
            user_ids=None if row.user_ids is None else frozenset(orjson.loads(row.user_ids)),
            channel_id=row.channel_id,
            at=row.at,
            size=row.size,
        )
        for row in rows
    ]
    return entries, bool(rows) and (rows[0].number == MAX_ENTRIES or rows[0].number > len(rows))


def find_entries_for(
    db: Db, actor: Actor, options: QueueOptions, *, after: int, until: int
) -> tuple[list[Entry], int]:
    """Return the next events for the actor after `after` and up to `until`, and the id up to which
    the log was read for the actor. The limits of `find_entries` apply.
    """
    # decided: the database searches the text of the list of ids, without an index, because a client
    # that comes back does so once.
    mine = f",{actor.id},"
    ids = literal(",") + func.substr(Event.user_ids, 2, func.length(Event.user_ids) - 2) + ","
    is_listed = ByDialect(sqlite=func.instr(ids, mine), postgresql=func.strpos(ids, mine)) > 0
    is_for_actor = or_(Event.user_ids.is_(None), is_listed)
    if options.all_public_streams:
        is_for_actor = or_(is_for_actor, Event.type == "message")
    conditions = [Event.id <= until, is_for_actor]
    if options.event_types is not None:
        types = options.event_types | {HeartbeatEvent.type}
        conditions.append(Event.type.in_(sorted(types)))
    entries, is_cut = find_entries(db, actor.realm_id, after, *conditions)
    events = [
        entry
        for entry in entries
        if entry.is_for(actor.id, is_administrator=actor.is_administrator, options=options)
    ]
    return events, entries[-1].id if is_cut else until


def find_grown(db: Db, positions: Mapping[int, int]) -> list[int]:
    """Return the realms with events after their position."""
    newest = select(func.max(Event.id)).where(Event.realm_id == Realm.id).scalar_subquery()
    heads = select(Realm.id, newest.label("head")).where(in_parameter(Realm.id, "realm_ids"))
    rows = db.execute(heads, {"realm_ids": list(positions)})
    return [row.id for row in rows if (row.head or 0) > positions[row.id]]
