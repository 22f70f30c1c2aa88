"""Which messages leave next, and whose turn it is to send them.

An endpoint has one sender at a time: a worker claims it for a while, renews the claim while it
sends, and gives it back. A worker that dies loses its claims when they lapse. Whatever is decided
on an endpoint is decided while its row is held, so that two workers never plan the same message.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.payment.tables import Event
from models.payment.webhooks import fan_out, outcomes, signing_secrets
from models.payment.webhooks.endpoints import ENABLED
from models.payment.webhooks.fan_out import Follower
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from models.ranges import IndexRange, aside
from models.types import to_ms

_ENDPOINT = table_of(WebhookEndpoint)
_DELIVERY = table_of(WebhookDelivery)
DUE = IndexRange([_DELIVERY.c.endpoint_id], [_DELIVERY.c.next_try_at])


@dataclass(frozen=True, slots=True)
class Message:
    """A delivery that may leave now. `data`: a JSON object as text; `sealed`: the secrets."""

    endpoint_id: str
    event_id: int
    url: str
    type: str
    at: datetime
    data: str
    sealed: Sequence[str]


def find_work(
    connection: Connection, *, holder: str, spared: Collection[str], limit: int, now: datetime
) -> Sequence[str]:
    """Endpoints with something to do for this holder: its own that are behind the log, and those of
    nobody that are behind or have a message due, in any order. `spared` are left out.
    """
    is_free = _ENDPOINT.c.claimed_until.is_(None) | (_ENDPOINT.c.claimed_until <= now)
    is_mine = (_ENDPOINT.c.claimed_by == holder) & (_ENDPOINT.c.claimed_until > now)
    is_behind = fan_out.IS_BEHIND
    is_due = _due(_ENDPOINT.c.id, now).correlate(_ENDPOINT).scalar_subquery().is_not(None)
    asked = select(_ENDPOINT.c.id).where(
        _ENDPOINT.c.status == ENABLED,
        _ENDPOINT.c.deleted_at.is_(None),
        or_(
            (is_free | is_mine) & is_behind,
            is_free & _is_unpaused(now) & is_due,
        ),
    )
    if spared:
        asked = asked.where(_ENDPOINT.c.id.not_in(sorted(spared)))
    return list(connection.execute(asked.order_by(func.random()).limit(limit)).scalars())


def hold(
    session: Session,
    endpoint_ids: Collection[str],
    *,
    holder: str,
    until: datetime,
    now: datetime,
) -> Mapping[str, WebhookEndpoint]:
    """The rows of these endpoints, held until the unit ends; those that can be are claimed.

    Rows that another unit holds are left out, but for those that the holder has claimed already.
    """
    ids = sorted(endpoint_ids)
    found: dict[str, WebhookEndpoint] = {}
    mine = (WebhookEndpoint.claimed_by == holder) & (WebhookEndpoint.claimed_until > now)
    for its, skips in ((mine, False), (~mine | WebhookEndpoint.claimed_by.is_(None), True)):
        asked = select(WebhookEndpoint).where(WebhookEndpoint.id.in_(ids), its)
        asked = asked.order_by(WebhookEndpoint.id).with_for_update(skip_locked=skips)
        for row in session.scalars(asked):
            found[row.id] = row
            is_taken = row.claimed_until is not None and row.claimed_until > now
            if row.claimed_by == holder or not is_taken:
                row.claimed_by, row.claimed_until = holder, until
    session.flush()
    return found


def renew(
    session: Session, endpoint_ids: Collection[str], *, holder: str, until: datetime
) -> Sequence[str]:
    """Keep these claims; those that are still the holder's."""
    renewed = session.execute(
        update(_ENDPOINT)
        .where(_ENDPOINT.c.id.in_(sorted(endpoint_ids)), _ENDPOINT.c.claimed_by == holder)
        .values(claimed_until=until)
        .returning(_ENDPOINT.c.id)
    )
    return list(renewed.scalars())


def release(session: Session, endpoint_ids: Collection[str], *, holder: str) -> None:
    """Give these claims back."""
    session.execute(
        update(_ENDPOINT)
        .where(_ENDPOINT.c.id.in_(sorted(endpoint_ids)), _ENDPOINT.c.claimed_by == holder)
        .values(claimed_by=None, claimed_until=None)
    )


def follow_log(session: Session, endpoints: Collection[WebhookEndpoint], *, now: datetime) -> None:
    """Write the deliveries of the events that these endpoints have not been told of."""
    behind = [
        Follower(row.id, row.project_id, row.event_types, row.cursor)
        for row in endpoints
        if is_served(row)
    ]
    fan_out.advance(session, behind, now=now)


@dataclass(frozen=True, slots=True)
class Outlook:
    """Whether anything is due for an endpoint, also what is under way, and when the next is."""

    is_due: bool
    next_due_at: datetime | None


def look_out(
    session: Session, endpoint_ids: Collection[str], *, now: datetime
) -> Mapping[str, Outlook]:
    """What there is to send to these endpoints, by one statement for all."""
    if not endpoint_ids:
        return {}
    later = (
        select(_DELIVERY.c.next_try_at)
        .where(
            _DELIVERY.c.next_try_at.is_not(None),
            DUE.rows(_ENDPOINT.c.id, behind=(to_ms(now),)),
        )
        .order_by(*DUE.ascending)
        .limit(1)
    )
    asked = select(
        _ENDPOINT.c.id,
        _due(_ENDPOINT.c.id, now).correlate(_ENDPOINT).scalar_subquery().is_not(None),
        later.correlate(_ENDPOINT).scalar_subquery(),
    ).where(_ENDPOINT.c.id.in_(sorted(endpoint_ids)))
    return {
        endpoint_id: Outlook(bool(is_due), next_due_at)
        for endpoint_id, is_due, next_due_at in session.connection().execute(asked)
    }


def pick(
    session: Session,
    endpoint: WebhookEndpoint,
    *,
    under_way: Collection[int],
    limit: int,
    now: datetime,
) -> Sequence[Message]:
    """Up to `limit` messages that are due for a claimed endpoint, but for those under way; without
    the secrets that sign them.
    """
    is_paused = endpoint.paused_until is not None and endpoint.paused_until > now
    if limit <= 0 or is_paused or not is_served(endpoint):
        return ()
    first = (
        select(_DELIVERY.c.event_id, _DELIVERY.c.next_try_at)
        .where(*_is_due(endpoint.id, now))
        .order_by(*DUE.ascending, _DELIVERY.c.event_id)
        .limit(limit)
    )
    if under_way:
        first = first.where(aside(_DELIVERY.c.event_id).not_in(sorted(under_way)))
    due = first.subquery()
    asked = (
        select(due.c.event_id, Event.type, Event.at, Event.data)
        .join_from(due, Event, Event.id == due.c.event_id)
        .order_by(due.c.next_try_at, due.c.event_id)
    )
    rows = session.connection().execute(asked).all()
    if not rows and not under_way:
        outcomes.give_up_forgotten(session, endpoint.id, now=now)
    return [
        Message(endpoint.id, event_id, endpoint.url, type, at, data, ())
        for event_id, type, at, data in rows
    ]


def add_secrets(session: Session, messages: Sequence[Message], *, now: datetime) -> list[Message]:
    """The messages with the secrets that sign now."""
    if not messages:
        return []
    wanted = {message.endpoint_id for message in messages}
    sealed = signing_secrets.find_sealed(session, wanted, now=now)
    return [replace(one, sealed=sealed.get(one.endpoint_id, ())) for one in messages]


def is_served(endpoint: WebhookEndpoint) -> bool:
    """Is anything sent to it?"""
    return endpoint.status == ENABLED and endpoint.deleted_at is None


def lease(now: datetime, seconds: float) -> datetime:
    """When a claim of so many seconds ends."""
    return now + timedelta(seconds=seconds)


def _due(endpoint_id: ColumnElement[str], now: datetime) -> Select[datetime | None]:
    """When the first message that is due for an endpoint became so. Where only existence is asked
    for, PostgreSQL drops the order and may read the messages of all endpoints.
    """
    first = select(_DELIVERY.c.next_try_at).where(*_is_due(endpoint_id, now))
    return first.order_by(*DUE.ascending).limit(1)


def _is_due(endpoint_id: ColumnElement[str] | str, now: datetime) -> Sequence[ColumnElement[bool]]:
    return (
        _DELIVERY.c.next_try_at.is_not(None),
        DUE.rows(endpoint_id, before=(to_ms(now) + 1,)),
    )


def _is_unpaused(now: datetime) -> ColumnElement[bool]:
    return _ENDPOINT.c.paused_until.is_(None) | (_ENDPOINT.c.paused_until <= now)
