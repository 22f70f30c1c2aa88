"""Move the state of clients when an organization keeps its ids: the event log, event queues without
gaps, presences, and spent links, so that no link works again.

The ids of a log follow the order of commits, so new events are those after the last id.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from models import row_numbers
from models.chat.identity.links import SPENT
from models.chat.imports.runs import are_free
from models.chat.imports.target import Row
from models.chat.moves.errors import TooManyIds
from models.chat.queues.queues import find_head
from models.chat.tables import Event, EventQueue, Presence
from models.dialects import insert_all
from specd.db import Db, table_of, upsert

_EVENT, _QUEUE, _PRESENCE = table_of(Event), table_of(EventQueue), table_of(Presence)


def find_start(db: Db, realm_id: int, now: datetime) -> int:
    """Return the id of an event that all clients with live queues have received."""
    oldest = select(func.min(_QUEUE.c.position)).where(*_live(realm_id, now))
    position: int | None = db.execute(oldest).scalar()
    return find_head(db, realm_id) if position is None else position


def find_events(db: Db, realm_id: int, *, after: int, most: int) -> list[Row]:
    """Return the next events after an id, in order."""
    rows = select(_EVENT).where(_EVENT.c.realm_id == realm_id, _EVENT.c.id > after)
    return [dict(row) for row in db.execute(rows.order_by(_EVENT.c.id).limit(most)).mappings()]


def number_events_after(session: Session, last_id: int) -> None:
    """Reserve ids up to `last_id`, so that new events get larger ones."""
    row_numbers.reserve(session, _EVENT, 0, last_id)


def add_events(session: Session, events: Sequence[Row]) -> None:
    """Append events to the log. Raise `TooManyIds`."""
    ids = [event["id"] for event in events]
    number_events_after(session, ids[-1])
    if not are_free(session, _EVENT, ids):
        raise TooManyIds(table=_EVENT.name)
    insert_all(session, _EVENT, events)


def find_first(db: Db, realm_id: int) -> int | None:
    """Return the id of the oldest event in a log, or None if the log is empty."""
    first: int | None = db.execute(
        select(func.min(_EVENT.c.id)).where(_EVENT.c.realm_id == realm_id)
    ).scalar()
    return first


def find_queues(db: Db, realm_id: int, *, first: int | None, now: datetime) -> list[Row]:
    """Return the live queues that miss no event before `first`. `first` is the id of the oldest
    event in the new log, or None if the new log is empty.
    """
    missed = [_EVENT.c.realm_id == _QUEUE.c.realm_id, _EVENT.c.id > _QUEUE.c.position]
    if first is not None:
        missed.append(_EVENT.c.id < first)
    queues = select(_QUEUE).where(*_live(realm_id, now), ~exists().where(*missed))
    return [dict(row) for row in db.execute(queues).mappings()]


def find_presences(db: Db, realm_id: int) -> list[Row]:
    """Return the presences. Clients request updates after the last one that they received."""
    presences = select(_PRESENCE).where(_PRESENCE.c.realm_id == realm_id)
    return [dict(row) for row in db.execute(presences).mappings()]


def find_spent_links(db: Db, now: datetime) -> list[Row]:
    """Return the links of all organizations that were used but have not expired."""
    return [dict(row) for row in db.execute(select(SPENT).where(SPENT.c.ends_at > now)).mappings()]


def add(
    session: Session, queues: Sequence[Row], presences: Sequence[Row], spent_links: Sequence[Row]
) -> None:
    """Add the state of clients."""
    for table, rows in ((_QUEUE, queues), (_PRESENCE, presences)):
        if rows:
            insert_all(session, table, rows)
    for row in spent_links:
        session.execute(upsert(SPENT).values(row).on_conflict_do_nothing())


def _live(realm_id: int, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return _QUEUE.c.realm_id == realm_id, _QUEUE.c.expires_at > now
