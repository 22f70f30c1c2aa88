"""From the log of events to deliveries: each endpoint follows the log of its project.

Whoever holds an endpoint's row reads on behind its cursor. The log hands out ids in the order of
commits (models/payment/event_log.py), so nothing is passed over.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, cast

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.dialects import upsert
from models.payment.event_list import LISTED, next_of
from models.payment.tables import Event
from models.payment.webhooks.endpoints import wants
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from models.ranges import for_each

EVENTS_AT_ONCE = 200
"""Events that an endpoint advances by in one unit of work."""

_DELIVERY = table_of(WebhookDelivery)
_ENDPOINT = table_of(WebhookEndpoint)
_INSERT = upsert(_DELIVERY).on_conflict_do_nothing()
IS_BEHIND = (
    next_of(_ENDPOINT.c.project_id, _ENDPOINT.c.cursor, Event.id)
    .correlate(_ENDPOINT)
    .scalar_subquery()
    .is_not(None)
)
"""Of an endpoint: has the log more? Where only existence is asked for, PostgreSQL drops the order
and may read the log of all projects.
"""
_ADVANCE = (
    update(_ENDPOINT)
    .where(_ENDPOINT.c.id == bindparam("its_id"))
    .values(cursor=bindparam("its_cursor"))
)


@dataclass(frozen=True, slots=True)
class Follower:
    """An endpoint that is behind the log, whose row this unit of work holds."""

    id: str
    project_id: str
    event_types: str
    cursor: int


class _Row(TypedDict):
    event_id: int
    endpoint_id: str
    invoice_id: str | None
    attempts: int
    tried: int
    next_try_at: datetime | None
    outcome: None
    closed_at: None
    created_at: datetime


def advance(session: Session, followers: Collection[Follower], *, now: datetime) -> None:
    """Write the deliveries of the next events of each of the endpoints.

    The first open one of an invoice is due at once; those behind it wait for their turn.
    """
    connection = session.connection()
    behind = _find_behind(connection, followers)
    read: dict[tuple[str, int], Sequence[tuple[int, str, str | None]]] = {}
    rows: list[_Row] = []
    cursors: list[dict[str, object]] = []
    for each in followers:
        if each.id not in behind:
            continue
        place = (each.project_id, each.cursor)
        if place not in read:
            asked = select(Event.id, Event.type, Event.invoice_id).where(
                LISTED.rows(each.project_id, behind=(each.cursor,))
            )
            found = connection.execute(asked.order_by(*LISTED.ascending).limit(EVENTS_AT_ONCE))
            read[place] = [(event_id, type, invoice) for event_id, type, invoice in found]
        cursors.append({"its_id": each.id, "its_cursor": read[place][-1][0]})
        rows += [
            _row(each.id, event_id, invoice_id, now)
            for event_id, type, invoice_id in read[place]
            if wants(each.event_types, type)
        ]
    _queue_behind(session, rows)
    if rows:
        connection.execute(_INSERT, cast(list[dict[str, object]], rows))
    if cursors:
        connection.execute(_ADVANCE, cursors)


def _find_behind(connection: Connection, followers: Collection[Follower]) -> Collection[str]:
    """Those for which the log has more, by one statement for all."""
    ids = sorted(each.id for each in followers)
    if not ids:
        return ()
    asked = select(_ENDPOINT.c.id).where(_ENDPOINT.c.id.in_(ids), IS_BEHIND)
    return set(connection.execute(asked).scalars())


def _row(endpoint_id: str, event_id: int, invoice_id: str | None, now: datetime) -> _Row:
    return _Row(
        event_id=event_id,
        endpoint_id=endpoint_id,
        invoice_id=invoice_id,
        attempts=0,
        tried=0,
        next_try_at=now,
        outcome=None,
        closed_at=None,
        created_at=now,
    )


def _queue_behind(session: Session, rows: list[_Row]) -> None:
    """Have those wait that have an open delivery of their invoice before them."""
    pairs = {(row["endpoint_id"], row["invoice_id"]) for row in rows if row["invoice_id"]}
    taken = find_open(session, pairs)
    for row in rows:
        pair = (row["endpoint_id"], row["invoice_id"])
        if pair in taken:
            row["next_try_at"] = None
        elif row["invoice_id"] is not None:
            taken.add(pair)


def find_open(
    session: Session, pairs: Iterable[tuple[str, str | None]]
) -> set[tuple[str, str | None]]:
    """Those of the pairs of an endpoint and an invoice that have an open delivery."""
    wanted = sorted(pairs, key=str)
    found: set[tuple[str, str | None]] = set()
    for start in range(0, len(wanted), EVENTS_AT_ONCE):
        some = wanted[start : start + EVENTS_AT_ONCE]
        asked = (
            select(_DELIVERY.c.endpoint_id, _DELIVERY.c.invoice_id)
            .select_from(for_each(some, _DELIVERY.c.endpoint_id, _DELIVERY.c.invoice_id))
            .where(_DELIVERY.c.closed_at.is_(None))
        )
        found.update((row[0], row[1]) for row in session.connection().execute(asked.distinct()))
    return found
