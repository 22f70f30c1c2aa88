"""Records the outcomes of attempts: delivered, scheduled again, or given up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, case, func, insert, select, update
from sqlalchemy.orm import Session

from models.payment import event_log
from models.payment.tables import Event
from models.payment.webhooks import schedule
from models.payment.webhooks.endpoints import DISABLED, ENABLED, FAILING, GONE, view_of
from models.payment.webhooks.events import WebhookEndpointDisabled
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from models.ranges import join_values
from models.rows import columns_of, read_rows
from specd.db import table_of

TAKEN, GIVEN_UP, UNWANTED = "taken", "given_up", "unwanted"
"""`UNWANTED`: the endpoint no longer subscribes to events of that type."""

_DELIVERY = table_of(WebhookDelivery)
_ATTEMPT = table_of(WebhookAttempt)
_is_its = (_DELIVERY.c.event_id == bindparam("its_event")) & (
    _DELIVERY.c.endpoint_id == bindparam("its_endpoint")
)
_NOTE = (
    update(_DELIVERY)
    .where(_is_its)
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in ("attempts", "tried", "next_try_at", "outcome", "closed_at")
        }
    )
)
_MAKE_DUE = update(_DELIVERY).where(_is_its).values(next_try_at=bindparam("new_next_try_at"))


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one request. `status_code` is None if there was no response; `failure` is then
    the reason. `answer` is the beginning of the body as text, `retry_after` the response's header.
    """

    at: datetime
    duration_ms: int
    status_code: int | None
    failure: str | None
    answer: str
    retry_after: str | None = None

    @property
    def is_taken(self) -> bool:
        return is_success(self.status_code)


def is_success(status_code: int | None) -> bool:
    """Return whether a response with this status means that the message was delivered."""
    return status_code is not None and 200 <= status_code < 300


@dataclass(frozen=True, slots=True)
class Attempt:
    """A delivery that was tried."""

    endpoint_id: str
    event_id: int
    event_type: str
    reply: Reply

    @property
    def key(self) -> tuple[int, str]:
        return (self.event_id, self.endpoint_id)


def record_attempts(
    session: Session,
    endpoints: Mapping[str, WebhookEndpoint],
    attempts: Sequence[Attempt],
    *,
    holder: str,
    now: datetime,
) -> Counter[str]:
    """Record these attempts. Return how many were taken, failed or given up. `endpoints` contains
    their rows, locked by this unit.

    A delivered message is not sent again, regardless of which worker claims the endpoint now. A
    failed message is scheduled again only by the worker that claims the endpoint.
    """
    rows = _find_rows(session, attempts)
    noted, inserted = [], []
    closed: set[tuple[str, str]] = set()
    counts: Counter[str] = Counter()
    for attempt in attempts:
        endpoint, row = endpoints.get(attempt.endpoint_id), rows.get(attempt.key)
        if endpoint is None or row is None or endpoint.deleted_at is not None:
            continue
        row.tried += 1
        was_open = row.closed_at is None
        is_due = was_open or row.next_try_at is not None
        if is_due and attempt.reply.is_taken:
            row.close(TAKEN, now)
        elif is_due and endpoint.claimed_by == holder:
            row.schedule_retry(attempt.reply, now)
        if was_open and row.closed_at is not None and row.invoice_id is not None:
            closed.add((row.endpoint_id, row.invoice_id))
        _update_endpoint(session, endpoint, attempt.reply, now)
        counts["taken" if attempt.reply.is_taken else row.outcome or "failed"] += 1
        noted.append(row.values())
        inserted.append(_attempt_row(attempt, row))
    session.flush()
    if noted:
        session.connection().execute(_NOTE, noted)
        session.connection().execute(insert(_ATTEMPT), inserted)
    schedule_next(session, closed, now=now)
    return counts


@dataclass(slots=True)
class _Row:
    event_id: int
    endpoint_id: str
    invoice_id: str | None
    attempts: int
    tried: int
    next_try_at: datetime | None
    outcome: str | None
    closed_at: datetime | None
    redelivered: bool

    def close(self, outcome: str, now: datetime) -> None:
        self.attempts += 1
        if self.outcome != TAKEN:
            self.outcome = outcome
        self.closed_at, self.next_try_at = now, None

    def schedule_retry(self, reply: Reply, now: datetime) -> None:
        later = schedule.next_try(self.attempts + 1, now)
        if later is None:
            self.close(GIVEN_UP, now)
            return
        self.attempts += 1
        self.next_try_at = max(later, requested_pause(reply, now) or later)

    def values(self) -> dict[str, object]:
        return {
            "its_event": self.event_id,
            "its_endpoint": self.endpoint_id,
            "new_attempts": self.attempts,
            "new_tried": self.tried,
            "new_next_try_at": self.next_try_at,
            "new_outcome": self.outcome,
            "new_closed_at": self.closed_at,
        }


def requested_pause(reply: Reply, now: datetime) -> datetime | None:
    """Return the `Retry-After` time of a 429 or 503, or None. Nothing is sent before it."""
    if reply.status_code not in (429, 503) or reply.retry_after is None:
        return None
    return schedule.read_retry_after(reply.retry_after, now)


def schedule_next(session: Session, pairs: Iterable[tuple[str, str]], *, now: datetime) -> None:
    """Make the oldest open delivery of each endpoint and invoice due, unless it has a time."""
    ordered = sorted(pairs)
    if not ordered:
        return
    timed = case((_DELIVERY.c.next_try_at.is_not(None), _DELIVERY.c.event_id))
    oldest, oldest_timed = func.min(_DELIVERY.c.event_id), func.min(timed)
    open_ones = (
        select(_DELIVERY.c.endpoint_id, oldest)
        .select_from(join_values(ordered, _DELIVERY.c.endpoint_id, _DELIVERY.c.invoice_id))
        .where(_DELIVERY.c.closed_at.is_(None))
        .group_by(_DELIVERY.c.endpoint_id, _DELIVERY.c.invoice_id)
        .having(oldest_timed.is_(None) | (oldest < oldest_timed))
    )
    due = [
        {"its_event": event_id, "its_endpoint": endpoint_id, "new_next_try_at": now}
        for endpoint_id, event_id in session.connection().execute(open_ones)
    ]
    if due:
        session.connection().execute(_MAKE_DUE, due)


def give_up_forgotten(session: Session, endpoint_id: str, *, now: datetime) -> None:
    """Give up due deliveries whose event has expired, and make the next ones due."""
    its = select(Event.id).where(Event.id == _DELIVERY.c.event_id)
    is_lost = its.correlate(_DELIVERY).scalar_subquery().is_(None)
    closed = session.connection().execute(
        update(_DELIVERY)
        .where(_DELIVERY.c.endpoint_id == endpoint_id, _DELIVERY.c.next_try_at <= now, is_lost)
        .values(next_try_at=None, outcome=GIVEN_UP, closed_at=now)
        .returning(_DELIVERY.c.invoice_id)
    )
    schedule_next(session, {(endpoint_id, row[0]) for row in closed.all() if row[0]}, now=now)


def close_unwanted(
    session: Session, endpoint_id: str, event_ids: Sequence[int], *, now: datetime
) -> None:
    """Close deliveries of types without a subscription, and make the next ones due."""
    closed = session.connection().execute(
        update(_DELIVERY)
        .where(_DELIVERY.c.endpoint_id == endpoint_id, _DELIVERY.c.event_id.in_(event_ids))
        .values(next_try_at=None, outcome=UNWANTED, closed_at=now)
        .returning(_DELIVERY.c.invoice_id)
    )
    schedule_next(session, {(endpoint_id, row[0]) for row in closed.all() if row[0]}, now=now)


def _update_endpoint(
    session: Session, endpoint: WebhookEndpoint, reply: Reply, now: datetime
) -> None:
    """Record on the endpoint whether it fails, pauses, or is disabled after a reply."""
    if reply.is_taken:
        endpoint.failing_since = None
        return
    endpoint.failing_since = endpoint.failing_since or now
    endpoint.paused_until = requested_pause(reply, now) or endpoint.paused_until
    if endpoint.status != ENABLED:
        return
    is_gone = reply.status_code == 410
    if is_gone or now - endpoint.failing_since >= schedule.DISABLED_AFTER:
        endpoint.status, endpoint.updated_at = DISABLED, now
        endpoint.disabled_reason = GONE if is_gone else FAILING
        event = WebhookEndpointDisabled(view_of(endpoint))
        event_log.append(session, endpoint.project_id, event, now=now)


def _find_rows(session: Session, attempts: Sequence[Attempt]) -> dict[tuple[int, str], _Row]:
    if not attempts:
        return {}
    keys = sorted({attempt.key for attempt in attempts})
    source = join_values(keys, _DELIVERY.c.event_id, _DELIVERY.c.endpoint_id)
    query = select(*columns_of(_Row, _DELIVERY)).select_from(source)
    rows = read_rows(_Row, session.connection().execute(query))
    return {(row.event_id, row.endpoint_id): row for row in rows}


def _attempt_row(attempt: Attempt, row: _Row) -> dict[str, object]:
    reply = attempt.reply
    return {
        "endpoint_id": attempt.endpoint_id,
        "event_id": attempt.event_id,
        "event_type": attempt.event_type,
        "number": row.tried,
        "at": reply.at,
        "duration_ms": reply.duration_ms,
        "status_code": reply.status_code,
        "failure": reply.failure,
        "answer": reply.answer,
        "next_try_at": row.next_try_at,
        "redelivered": row.redelivered,
    }
