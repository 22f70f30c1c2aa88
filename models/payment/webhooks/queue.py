"""Chooses the messages to send next, and the worker that sends them.

An endpoint has one sender at a time: a worker claims it for a limited time, renews the claim while
it sends, and releases it. The claims of a crashed worker expire. A worker schedules messages of an
endpoint only while it locks its row, so that two workers never schedule the same message.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, update
from sqlalchemy.orm import Session

from models.payment.tables import Event
from models.payment.webhooks import fan_out, outcomes, signing_secrets
from models.payment.webhooks.endpoints import ENABLED, is_active, is_subscribed
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from models.ranges import IndexRange, without_index
from specd.db import UtcMs, table_of

_ENDPOINT = table_of(WebhookEndpoint)
_DELIVERY = table_of(WebhookDelivery)
_ROUNDS_OF_UNWANTED = 20
"""How many times one choice of messages skips messages that the endpoint no longer wants."""
DUE = IndexRange([_DELIVERY.c.endpoint_id], [_DELIVERY.c.next_try_at])


@dataclass(frozen=True, slots=True)
class Message:
    """A delivery that may be sent now. `data` is a JSON object as text, `sealed` the signing
    secrets, and `traceparent` the trace context of the event.
    """

    endpoint_id: str
    event_id: int
    url: str
    type: str
    at: datetime
    data: str
    sealed: Sequence[str]
    traceparent: str | None = None


def find_work(
    connection: Connection,
    *,
    holder: str,
    excluded: Collection[str],
    idle: Collection[str] = (),
    limit: int,
    now: datetime,
) -> Sequence[str]:
    """Return ids of endpoints with work for this holder, in random order and without `excluded`:
    endpoints that it has claimed and that are behind the log, and unclaimed endpoints that are
    behind or have a due message. `idle` are endpoints that the holder has claimed and is not
    sending to; a request may have scheduled a message for them meanwhile.
    """
    is_free = _ENDPOINT.c.claimed_until.is_(None) | (_ENDPOINT.c.claimed_until <= now)
    is_mine = (_ENDPOINT.c.claimed_by == holder) & (_ENDPOINT.c.claimed_until > now)
    is_unpaused = _ENDPOINT.c.paused_until.is_(None) | (_ENDPOINT.c.paused_until <= now)
    is_due = _due(_ENDPOINT.c.id, now).correlate(_ENDPOINT).scalar_subquery().is_not(None)
    query = select(_ENDPOINT.c.id).where(
        _ENDPOINT.c.status == ENABLED,
        _ENDPOINT.c.deleted_at.is_(None),
        or_(
            (is_free | is_mine) & fan_out.IS_BEHIND,
            (is_free | _ENDPOINT.c.id.in_(sorted(idle))) & is_unpaused & is_due,
        ),
    )
    if excluded:
        query = query.where(_ENDPOINT.c.id.not_in(sorted(excluded)))
    return list(connection.execute(query.order_by(func.random()).limit(limit)).scalars())


def claim(
    session: Session,
    endpoint_ids: Collection[str],
    *,
    holder: str,
    until: datetime,
    now: datetime,
) -> Mapping[str, WebhookEndpoint]:
    """Claim the endpoints that no other worker claims. Return the locked rows, claimed or not.

    Rows that another unit has locked are skipped, except those that the holder already claims.
    """
    ids = sorted(endpoint_ids)
    rows: dict[str, WebhookEndpoint] = {}
    mine = (WebhookEndpoint.claimed_by == holder) & (WebhookEndpoint.claimed_until > now)
    for condition, skips in ((mine, False), (~mine | WebhookEndpoint.claimed_by.is_(None), True)):
        query = select(WebhookEndpoint).where(WebhookEndpoint.id.in_(ids), condition)
        query = query.order_by(WebhookEndpoint.id).with_for_update(skip_locked=skips)
        for row in session.scalars(query):
            rows[row.id] = row
            is_claimed = row.claimed_until is not None and row.claimed_until > now
            if row.claimed_by == holder or not is_claimed:
                row.claimed_by, row.claimed_until = holder, until
    session.flush()
    return rows


def renew(
    session: Session, endpoint_ids: Collection[str], *, holder: str, until: datetime
) -> Sequence[str]:
    """Renew these claims. Return the endpoints that the holder still claims."""
    renewed = session.execute(
        update(_ENDPOINT)
        .where(_ENDPOINT.c.id.in_(sorted(endpoint_ids)), _ENDPOINT.c.claimed_by == holder)
        .values(claimed_until=until)
        .returning(_ENDPOINT.c.id)
    )
    return list(renewed.scalars())


def release(session: Session, endpoint_ids: Collection[str], *, holder: str) -> None:
    """Release the claims of the holder on these endpoints."""
    session.execute(
        update(_ENDPOINT)
        .where(_ENDPOINT.c.id.in_(sorted(endpoint_ids)), _ENDPOINT.c.claimed_by == holder)
        .values(claimed_by=None, claimed_until=None)
    )


@dataclass(frozen=True, slots=True)
class Schedule:
    """Whether a message is due for an endpoint, including ones being sent, and the next
    later time.
    """

    is_due: bool
    next_due_at: datetime | None


def find_schedules(
    session: Session, endpoint_ids: Collection[str], *, now: datetime
) -> Mapping[str, Schedule]:
    """Return the schedule of each of these endpoints, with one statement."""
    if not endpoint_ids:
        return {}
    later = (
        select(_DELIVERY.c.next_try_at)
        .where(
            _DELIVERY.c.next_try_at.is_not(None),
            DUE.rows(_ENDPOINT.c.id, behind=(UtcMs.to_ms(now),)),
        )
        .order_by(*DUE.ascending)
        .limit(1)
    )
    query = select(
        _ENDPOINT.c.id,
        _due(_ENDPOINT.c.id, now).correlate(_ENDPOINT).scalar_subquery().is_not(None),
        later.correlate(_ENDPOINT).scalar_subquery(),
    ).where(_ENDPOINT.c.id.in_(sorted(endpoint_ids)))
    return {
        endpoint_id: Schedule(bool(is_due), next_due_at)
        for endpoint_id, is_due, next_due_at in session.connection().execute(query)
    }


def pick(
    session: Session,
    endpoint: WebhookEndpoint,
    *,
    under_way: Collection[int],
    limit: int,
    now: datetime,
) -> Sequence[Message]:
    """Return up to `limit` due messages of a claimed endpoint, without those under way. Their
    secrets are added later.
    """
    is_paused = endpoint.paused_until is not None and endpoint.paused_until > now
    if limit <= 0 or is_paused or not is_active(endpoint):
        return ()
    first = (
        select(_DELIVERY.c.event_id, _DELIVERY.c.next_try_at, _DELIVERY.c.redelivered)
        .where(*_is_due(endpoint.id, now))
        .order_by(*DUE.ascending, _DELIVERY.c.event_id)
        .limit(limit)
    )
    if under_way:
        first = first.where(without_index(_DELIVERY.c.event_id).not_in(sorted(under_way)))
    due = first.subquery()
    query = (
        select(
            *(due.c.redelivered, due.c.event_id),
            *(Event.type, Event.at, Event.data, Event.traceparent),
        )
        .join_from(due, Event, Event.id == due.c.event_id)
        .order_by(due.c.next_try_at, due.c.event_id)
    )
    for _ in range(_ROUNDS_OF_UNWANTED):
        rows = session.connection().execute(query).all()
        unwanted = [
            row.event_id
            for row in rows
            if not row.redelivered and not is_subscribed(endpoint, row.type)
        ]
        if not unwanted:
            break
        outcomes.close_unwanted(session, endpoint.id, unwanted, now=now)
    if not rows and not under_way:
        outcomes.give_up_forgotten(session, endpoint.id, now=now)
    return [
        Message(endpoint.id, event_id, endpoint.url, type, at, data, (), traceparent)
        for _, event_id, type, at, data, traceparent in rows
        if event_id not in unwanted
    ]


def add_secrets(session: Session, messages: Sequence[Message], *, now: datetime) -> list[Message]:
    """Return the messages with the current signing secrets."""
    if not messages:
        return []
    endpoint_ids = {message.endpoint_id for message in messages}
    sealed = signing_secrets.find_sealed(session, endpoint_ids, now=now)
    return [replace(each, sealed=sealed.get(each.endpoint_id, ())) for each in messages]


def _due(endpoint_id: ColumnElement[str], now: datetime) -> Select[datetime | None]:
    """Return the select of the time of the first due message of an endpoint. With EXISTS,
    PostgreSQL would drop the order and might read the messages of all endpoints.
    """
    first = select(_DELIVERY.c.next_try_at).where(*_is_due(endpoint_id, now))
    return first.order_by(*DUE.ascending).limit(1)


def _is_due(endpoint_id: ColumnElement[str] | str, now: datetime) -> Sequence[ColumnElement[bool]]:
    return (
        _DELIVERY.c.next_try_at.is_not(None),
        DUE.rows(endpoint_id, before=(UtcMs.to_ms(now) + 1,)),
    )
