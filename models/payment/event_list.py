"""Reads a project's events: a page after an event, or one event by id.

An index finds a page for all filters: each type is looked up alone, and an invoice has few events.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, Select, func, select, union_all, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from models.payment.errors import EventDoesNotExist, EventsGone
from models.payment.tables import Event, Project
from models.ranges import IndexRange, without_index
from models.rows import columns_of, read_row, read_rows

MAX_BYTES = 4_000_000
"""The maximum number of bytes of data in a page of several events."""
_ID = re.compile(r"evt_([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event. `data` is a JSON object, as text."""

    id: int
    type: str
    at: datetime
    invoice_id: str | None
    data: str


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Filter of a project's events; None and an empty set mean no filter."""

    project_id: str
    types: frozenset[str] = frozenset()
    invoice_id: str | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events, oldest first, and whether more follow them."""

    events: Sequence[EventRow]
    has_more: bool


T = TypeVar("T")
LISTED = IndexRange([Event.project_id], [Event.id])
"""The log of each project."""
_LISTED_BY_TYPE = IndexRange([Event.project_id, Event.type], [Event.id])
_LISTED_BY_INVOICE = IndexRange([Event.invoice_id], [Event.id])
_COLUMNS = columns_of(EventRow, Event)


def written_id(event_id: int) -> str:
    """Return the id for merchants. Written ids sort like the ids."""
    return f"evt_{event_id:016x}"


def read_id(written: str) -> int:
    """Return the id that a merchant sent. Raise `EventDoesNotExist` if the text is not an id."""
    match = _ID.fullmatch(written)
    if match is None or (event_id := int(match[1], 16)) >= 2**63:
        raise EventDoesNotExist()
    return event_id


def list_events(
    connection: Connection, wanted: EventFilter, *, after: int, limit: int
) -> EventPage:
    """Return up to `limit` events after an id, or fewer if they exceed `MAX_BYTES`. 0 starts before
    the first event that is kept.

    Raise `EventsGone` if events after another id have expired, and `EventDoesNotExist` if the id is
    above all events of the project.
    """
    gone = (_find_gone(connection, wanted.project_id) or 0) if after else 0
    if gone > after:
        raise EventsGone()
    sizes = connection.execute(_first(wanted, after, limit=limit + 1)).all()
    ids: list[int] = []
    total = 0
    for event_id, size in sizes[:limit]:
        total += size
        if ids and total > MAX_BYTES:
            break
        ids.append(event_id)
    if not ids:
        project_id = wanted.project_id
        if after > gone and after > find_heads(connection, [project_id]).get(project_id, 0):
            raise EventDoesNotExist()
        return EventPage((), has_more=False)
    query = select(*_COLUMNS).where(Event.id.in_(ids)).order_by(Event.id)
    rows = read_rows(EventRow, connection.execute(query))
    return EventPage(rows, has_more=len(ids) < len(sizes))


def note_gone(session: Session, gone: Sequence[tuple[str, int]]) -> None:
    """Record which events of projects have expired, as pairs of a project and an event."""
    until: dict[str, int] = {}
    for project_id, event_id in gone:
        until[project_id] = max(event_id, until.get(project_id, 0))
    for project_id in sorted(until):  # the same order in all workers avoids deadlocks
        known = func.coalesce(Project.events_gone_until, 0)
        session.execute(
            update(Project)
            .where(Project.id == project_id, known < until[project_id])
            .values(events_gone_until=until[project_id])
        )


def _find_gone(connection: Connection, project_id: str) -> int | None:
    query = select(Project.events_gone_until).where(Project.id == project_id)
    return connection.execute(query).scalar_one_or_none()


def next_of(
    project_id: ColumnElement[str], after: ColumnElement[int], column: InstrumentedAttribute[T]
) -> Select[T]:
    """Return the select of a column of a project's first event after an id."""
    its = LISTED.rows(project_id, behind=(after,))
    return select(column).where(its).order_by(*LISTED.ascending).limit(1)


def access_event(connection: Connection, *, project_id: str, event_id: int) -> EventRow:
    """Return an event. Raise `EventDoesNotExist` for an unknown id or another project's alike."""
    query = select(*_COLUMNS).where(
        Event.id == event_id, without_index(Event.project_id) == project_id
    )
    row = read_row(EventRow, connection.execute(query))
    if row is None:
        raise EventDoesNotExist()
    return row


def find_heads(connection: Connection, project_ids: Iterable[str]) -> Mapping[str, int]:
    """Return the newest event id of each of these projects, or 0 if it has no events."""
    its = LISTED.rows(Project.__table__.c.id)
    newest = select(Event.id).where(its).order_by(*LISTED.descending).limit(1)
    head = newest.correlate(Project).scalar_subquery()
    rows = connection.execute(select(Project.id, head).where(Project.id.in_(sorted(project_ids))))
    return {project_id: head or 0 for project_id, head in rows}


def _first(wanted: EventFilter, after: int, *, limit: int) -> Select[int, int]:
    """Return the select of the ids and sizes of the first events after an id."""
    parts = [
        select(Event.id, Event.size).where(*conditions).order_by(*listed.ascending).limit(limit)
        for listed, conditions in _parts(wanted, after)
    ]
    if len(parts) == 1:
        return parts[0]
    union = union_all(*(select(part.subquery()) for part in parts)).subquery()
    return select(union.c.id, union.c.size).order_by(union.c.id).limit(limit)


def _parts(
    wanted: EventFilter, after: int
) -> list[tuple[IndexRange, tuple[ColumnElement[bool], ...]]]:
    """Return the parts of the list: a range of an index each, with conditions on its rows."""
    project_id, types = wanted.project_id, sorted(wanted.types)
    if wanted.invoice_id is not None:
        its = _LISTED_BY_INVOICE.rows(wanted.invoice_id.lower(), behind=(after,))
        of_project = without_index(Event.project_id) == project_id
        of_types = (without_index(Event.type).in_(types),) if types else ()
        return [(_LISTED_BY_INVOICE, (its, of_project, *of_types))]
    if types:
        return [
            (_LISTED_BY_TYPE, (_LISTED_BY_TYPE.rows(project_id, type_, behind=(after,)),))
            for type_ in types
        ]
    return [(LISTED, (LISTED.rows(project_id, behind=(after,)),))]
