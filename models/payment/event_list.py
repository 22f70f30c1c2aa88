"""The events of a project as they are read: a page after an event, and one by its id.

A page is found by an index, whatever filters there are: each type is looked up by itself, or the
invoice, which has few events.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, func, select, union_all

from models.payment.errors import EventDoesNotExist
from models.payment.tables import Event, Project

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


_COLUMNS = (Event.id, Event.type, Event.at, Event.invoice_id, Event.data)


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
    rows = [EventRow(*row) for row in connection.execute(whole)]
    return EventPage(rows, has_more=len(ids) < len(found))


def access_event(connection: Connection, *, project_id: str, event_id: int) -> EventRow:
    """Raises `EventDoesNotExist` for an unknown id and for another project's, alike."""
    row = connection.execute(
        select(*_COLUMNS).where(Event.id == event_id, Event.project_id == project_id)
    ).first()
    if row is None:
        raise EventDoesNotExist()
    return EventRow(*row)


def find_heads(connection: Connection, project_ids: Iterable[str]) -> Mapping[str, int]:
    """The newest event's id of each of these projects; 0 for none."""
    newest = select(func.max(Event.id)).where(Event.project_id == Project.id).scalar_subquery()
    rows = connection.execute(select(Project.id, newest).where(Project.id.in_(sorted(project_ids))))
    return {project_id: head or 0 for project_id, head in rows}


def _first(wanted: EventFilter, after: int, *, limit: int) -> Select[int, int]:
    """The ids and sizes of the first events after an id."""
    parts = [
        select(Event.id, Event.size)
        .where(Event.id > after, *conditions)
        .order_by(Event.id)
        .limit(limit)
        for conditions in _parts(wanted)
    ]
    if len(parts) == 1:
        return parts[0]
    together = union_all(*(select(part.subquery()) for part in parts)).subquery()
    return select(together.c.id, together.c.size).order_by(together.c.id).limit(limit)


def _parts(wanted: EventFilter) -> list[tuple[ColumnElement[bool], ...]]:
    """The conditions, apart as far as an index finds each part in the order of the ids."""
    of_project = Event.project_id == wanted.project_id
    types = sorted(wanted.types)
    if wanted.invoice_id is not None:
        of_invoice = (of_project, Event.invoice_id == wanted.invoice_id.lower())
        return [(*of_invoice, Event.type.in_(types)) if types else of_invoice]
    if types:
        return [(of_project, Event.type == type_) for type_ in types]
    return [(of_project,)]
