"""The backlog of webhooks, for the operator's metrics."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, and_, func, or_, select

from models.payment.event_list import next_of
from models.payment.tables import Event
from models.payment.webhooks.endpoints import ENABLED
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from specd.db import Db, table_of

MAX_COUNTED = 10_000

_ENDPOINT = table_of(WebhookEndpoint)
_DELIVERY = table_of(WebhookDelivery)
_is_served = and_(_ENDPOINT.c.status == ENABLED, _ENDPOINT.c.deleted_at.is_(None))


@dataclass(frozen=True, slots=True)
class Backlog:
    """`due` is the number of messages that could be sent now, at most `MAX_COUNTED`. `failing` is
    the number of enabled endpoints whose last attempt failed. `oldest` is the longest wait of a
    message that is due or not queued yet, for endpoints that are neither failing nor paused.
    """

    due: int
    failing: int
    oldest: timedelta


def find_backlog(db: Db, *, now: datetime) -> Backlog:
    """Return the current backlog. It costs two index lookups for each enabled endpoint, and reads
    at most `MAX_COUNTED` messages.
    """
    is_unpaused = or_(_ENDPOINT.c.paused_until.is_(None), _ENDPOINT.c.paused_until <= now)
    due = (
        select(_DELIVERY.c.event_id)
        .join_from(_ENDPOINT, _DELIVERY, _DELIVERY.c.endpoint_id == _ENDPOINT.c.id)
        .where(_is_served, is_unpaused, _DELIVERY.c.next_try_at <= now)
        .limit(MAX_COUNTED)
    )
    failing = select(func.count()).where(_is_served, _ENDPOINT.c.failing_since.is_not(None))
    first_due = (
        select(_DELIVERY.c.next_try_at)
        .where(_DELIVERY.c.endpoint_id == _ENDPOINT.c.id, _DELIVERY.c.next_try_at <= now)
        .order_by(_DELIVERY.c.next_try_at)
        .limit(1)
    )
    first_unread: Select[datetime] = next_of(_ENDPOINT.c.project_id, _ENDPOINT.c.cursor, Event.at)
    moments = [
        db.execute(_oldest(each).where(is_unpaused)).scalar() for each in (first_due, first_unread)
    ]
    return Backlog(
        due=db.execute(select(func.count()).select_from(due.subquery())).scalar_one(),
        failing=db.execute(failing).scalar_one(),
        oldest=max([timedelta(0), *(now - moment for moment in moments if moment is not None)]),
    )


def _oldest(of_endpoint: Select[datetime]) -> Select[datetime]:
    """Return the select of the earliest time of all active endpoints that are not failing."""
    moment = of_endpoint.correlate(_ENDPOINT).scalar_subquery()
    return (
        select(func.min(moment))
        .select_from(_ENDPOINT)
        .where(_is_served, _ENDPOINT.c.failing_since.is_(None))
    )
