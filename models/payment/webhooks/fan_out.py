"""Creates deliveries from the log of events: each endpoint follows the log of its project.

The worker that has locked the row of an endpoint reads after its cursor. The ids of the log are in
commit order (models/payment/event_log.py), so no event is skipped.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict, cast

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.orm import Session

from models.payment.event_list import LISTED, next_of
from models.payment.tables import Event
from models.payment.webhooks.endpoints import is_active, is_subscribed
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from models.ranges import join_values
from specd.db import table_of, upsert

EVENTS_AT_ONCE = 200
"""The maximum number of events by which an endpoint advances in one unit of work."""

_DELIVERY = table_of(WebhookDelivery)
_ENDPOINT = table_of(WebhookEndpoint)
_INSERT = upsert(_DELIVERY).on_conflict_do_nothing()
IS_BEHIND = (
    next_of(_ENDPOINT.c.project_id, _ENDPOINT.c.cursor, Event.id)
    .correlate(_ENDPOINT)
    .scalar_subquery()
    .is_not(None)
)
"""The condition that the log has more events for an endpoint. With EXISTS, PostgreSQL would drop
the order and might read the log of all projects.
"""
_ADVANCE = (
    update(_ENDPOINT)
    .where(_ENDPOINT.c.id == bindparam("its_id"))
    .values(cursor=bindparam("its_cursor"))
)


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
    redelivered: bool


def advance(session: Session, endpoints: Iterable[WebhookEndpoint], *, now: datetime) -> None:
    """Write the deliveries of the next events of these endpoints, whose rows are locked.

    The first open delivery of an invoice is due immediately. Later ones wait for it.
    """
    connection = session.connection()
    read: dict[tuple[str, int], Sequence[tuple[int, str, str | None]]] = {}
    rows: list[_Row] = []
    cursors: list[dict[str, object]] = []
    for endpoint in _find_behind(connection, endpoints):
        place = (endpoint.project_id, endpoint.cursor)
        if place not in read:
            query = select(Event.id, Event.type, Event.invoice_id).where(
                LISTED.rows(endpoint.project_id, behind=(endpoint.cursor,))
            )
            events = connection.execute(query.order_by(*LISTED.ascending).limit(EVENTS_AT_ONCE))
            read[place] = [(event_id, type, invoice) for event_id, type, invoice in events]
        cursors.append({"its_id": endpoint.id, "its_cursor": read[place][-1][0]})
        rows += [
            _Row(
                event_id=event_id,
                endpoint_id=endpoint.id,
                invoice_id=invoice_id,
                attempts=0,
                tried=0,
                next_try_at=now,
                outcome=None,
                closed_at=None,
                created_at=now,
                redelivered=False,
            )
            for event_id, type, invoice_id in read[place]
            if is_subscribed(endpoint, type)
        ]
    _queue_behind(session, rows)
    if rows:
        connection.execute(_INSERT, cast(list[dict[str, object]], rows))
    if cursors:
        connection.execute(_ADVANCE, cursors)


def _find_behind(
    connection: Connection, endpoints: Iterable[WebhookEndpoint]
) -> list[WebhookEndpoint]:
    """Return the active endpoints for which the log has more events, with one statement."""
    active = {endpoint.id: endpoint for endpoint in endpoints if is_active(endpoint)}
    if not active:
        return []
    behind = select(_ENDPOINT.c.id).where(_ENDPOINT.c.id.in_(sorted(active)), IS_BEHIND)
    return [active[endpoint_id] for endpoint_id in connection.execute(behind).scalars()]


def _queue_behind(session: Session, rows: list[_Row]) -> None:
    """Make a delivery wait if an earlier delivery of its invoice is open."""
    pairs = {(row["endpoint_id"], row["invoice_id"]) for row in rows if row["invoice_id"]}
    has_open = find_open(session, pairs)
    for row in rows:
        pair = (row["endpoint_id"], row["invoice_id"])
        if pair in has_open:
            row["next_try_at"] = None
        elif row["invoice_id"] is not None:
            has_open.add(pair)


def find_open(
    session: Session, pairs: Iterable[tuple[str, str | None]]
) -> set[tuple[str, str | None]]:
    """Return the pairs of an endpoint and an invoice that have an open delivery."""
    ordered = sorted(pairs, key=str)
    open_pairs: set[tuple[str, str | None]] = set()
    for start in range(0, len(ordered), EVENTS_AT_ONCE):
        some = ordered[start : start + EVENTS_AT_ONCE]
        query = (
            select(_DELIVERY.c.endpoint_id, _DELIVERY.c.invoice_id)
            .select_from(join_values(some, _DELIVERY.c.endpoint_id, _DELIVERY.c.invoice_id))
            .where(_DELIVERY.c.closed_at.is_(None))
        )
        open_pairs.update(
            (row[0], row[1]) for row in session.connection().execute(query.distinct())
        )
    return open_pairs
