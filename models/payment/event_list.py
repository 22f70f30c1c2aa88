"""The events of a project as they are read: a page after an event, and one by its id.

A page is found by an index, whatever filters there are: each type is looked up by itself, or the
invoice, which has few events.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, Select, select, union_all
from sqlalchemy.orm import InstrumentedAttribute

from models.payment.errors import EventDoesNotExist
from models.payment.tables import Event, Project
from models.ranges import IndexRange, aside
from models.rows import columns_of, read_row, read_rows

MOST_BYTES = 4_000_000
"""Of the data of a page together; a page of one event has as many as that has."""
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
    """Which events of a project are listed; None and no type: all."""

    project_id: str
    types: frozenset[str] = frozenset()
    invoice_id: str | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events, oldest first, and whether there are more behind them."""

    events: Sequence[EventRow]
    has_more: bool


T = TypeVar("T")
LISTED = IndexRange([Event.project_id], [Event.id])
"""The log of each project."""
_LISTED_BY_TYPE = IndexRange([Event.project_id, Event.type], [Event.id])
_LISTED_BY_INVOICE = IndexRange([Event.invoice_id], [Event.id])
_COLUMNS = columns_of(EventRow, Event)


def written_id(event_id: int) -> str:
    """The id as merchants see it. Written ids ascend as the ids do."""
    return f"evt_{event_id:016x}"


def read_id(written: str) -> int:
    """The id that a merchant sent. Raises `EventDoesNotExist` for what is none."""
    found = _ID.fullmatch(written)
    if found is None or (event_id := int(found[1], 16)) >= 2**63:
        raise EventDoesNotExist()
    return event_id


def list_events(
    connection: Connection, wanted: EventFilter, *, after: int, limit: int
) -> EventPage:
    """The events after an id, up to `limit`; fewer where they are very large together."""
    found = connection.execute(_first(wanted, after, limit=limit + 1)).all()
    ids: list[int] = []
    together = 0
    for event_id, size in found[:limit]:
        together += size
        if ids and together > MOST_BYTES:
            break
        ids.append(event_id)
    if not ids:
        return EventPage((), has_more=False)
    whole = select(*_COLUMNS).where(Event.id.in_(ids)).order_by(Event.id)
    rows = read_rows(EventRow, connection.execute(whole))
    return EventPage(rows, has_more=len(ids) < len(found))


def next_of(
    project_id: ColumnElement[str], after: ColumnElement[int], column: InstrumentedAttribute[T]
) -> Select[T]:
    """Return the select of a column of a project's first event after an id."""
    its = LISTED.rows(project_id, behind=(after,))
    return select(column).where(its).order_by(*LISTED.ascending).limit(1)


def access_event(connection: Connection, *, project_id: str, event_id: int) -> EventRow:
    """Raises `EventDoesNotExist` for an unknown id and for another project's, alike."""
    wanted = select(*_COLUMNS).where(Event.id == event_id, aside(Event.project_id) == project_id)
    row = read_row(EventRow, connection.execute(wanted))
    if row is None:
        raise EventDoesNotExist()
    return row


def find_heads(connection: Connection, project_ids: Iterable[str]) -> Mapping[str, int]:
    """The newest event's id of each of these projects; 0 for none."""
    its = LISTED.rows(Project.__table__.c.id)
    newest = select(Event.id).where(its).order_by(*LISTED.descending).limit(1)
    head = newest.correlate(Project).scalar_subquery()
    rows = connection.execute(select(Project.id, head).where(Project.id.in_(sorted(project_ids))))
    return {project_id: head or 0 for project_id, head in rows}


def _first(wanted: EventFilter, after: int, *, limit: int) -> Select[int, int]:
    """The ids and sizes of the first events after an id."""
    parts = [
        select(Event.id, Event.size).where(*conditions).order_by(*listed.ascending).limit(limit)
        for listed, conditions in _parts(wanted, after)
    ]
    if len(parts) == 1:
        return parts[0]
    together = union_all(*(select(part.subquery()) for part in parts)).subquery()
    return select(together.c.id, together.c.size).order_by(together.c.id).limit(limit)


def _parts(
    wanted: EventFilter, after: int
) -> list[tuple[IndexRange, tuple[ColumnElement[bool], ...]]]:
    """The conditions, apart as far as an index has each part together, with that index."""
    project_id, types = wanted.project_id, sorted(wanted.types)
    if wanted.invoice_id is not None:
        its = _LISTED_BY_INVOICE.rows(wanted.invoice_id.lower(), behind=(after,))
        of_project = aside(Event.project_id) == project_id
        of_types = (aside(Event.type).in_(types),) if types else ()
        return [(_LISTED_BY_INVOICE, (its, of_project, *of_types))]
    if types:
        return [
            (_LISTED_BY_TYPE, (_LISTED_BY_TYPE.rows(project_id, type_, behind=(after,)),))
            for type_ in types
        ]
    return [(LISTED, (LISTED.rows(project_id, behind=(after,)),))]
