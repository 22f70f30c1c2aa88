"""The delivery attempts of an endpoint: their list, and redelivery on request."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.payment.errors import EventDoesNotExist, WebhookEndpointNotEnabled
from models.payment.tables import Event
from models.payment.webhooks.endpoints import ENABLED, access_endpoint, access_row
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery
from models.ranges import LAST, IndexRange
from models.rows import columns_of, read_rows
from specd.db import Db

DUE = "due"
_ID = re.compile(r"att_([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt, and when the next one is planned after it (`next_try_at`, or None)."""

    id: int
    event_id: int
    event_type: str
    number: int
    at: datetime
    duration_ms: int
    status_code: int | None
    failure: str | None
    answer: str
    next_try_at: datetime | None
    redelivered: bool


_LISTED = IndexRange([WebhookAttempt.endpoint_id], [WebhookAttempt.id])
_COLUMNS = columns_of(AttemptRow, WebhookAttempt)


def written_id(attempt_id: int) -> str:
    """Return the id for merchants."""
    return f"att_{attempt_id:016x}"


def read_id(written: str) -> int:
    """Return the id that a merchant sent, or 0 if it is malformed. The document has its pattern."""
    match = _ID.fullmatch(written)
    return int(match[1], 16) if match else 0


def list_attempts(
    db: Db, *, project_id: str, endpoint_id: str, before: int | None, limit: int
) -> tuple[Sequence[AttemptRow], bool]:
    """Return up to `limit` attempts before an id, newest first, and whether there are older ones.
    Raise `WebhookEndpointDoesNotExist`.
    """
    endpoint = access_endpoint(db, project_id=project_id, endpoint_id=endpoint_id)
    end = LAST if before is None else (before,)
    query = select(*_COLUMNS).where(_LISTED.rows(endpoint.id, before=end))
    newest = query.order_by(*_LISTED.descending).limit(limit + 1)
    rows = read_rows(AttemptRow, db.execute(newest))
    return rows[:limit], len(rows) > limit


def redeliver(
    session: Session, *, project_id: str, endpoint_id: str, event_id: int, now: datetime
) -> str:
    """Send an event of any type to an endpoint now, out of order, even if it was never sent there.
    Return the delivery's state, which is `DUE`.

    A pause that the receiver requested ends, and the pauses between attempts start again from the
    first one. The order of first deliveries is unchanged: a closed delivery stays closed, so later
    events do not wait for it; an open one still blocks later events until it is closed. Raise
    `WebhookEndpointDoesNotExist`, `WebhookEndpointNotEnabled` or `EventDoesNotExist`.
    """
    endpoint = access_row(session, project_id=project_id, endpoint_id=endpoint_id)
    invoice = session.execute(
        select(Event.invoice_id).where(Event.id == event_id, Event.project_id == project_id)
    ).first()
    if invoice is None:
        raise EventDoesNotExist()
    if endpoint.status != ENABLED:
        raise WebhookEndpointNotEnabled()
    (invoice_id,) = invoice
    row = session.get(WebhookDelivery, (event_id, endpoint.id))
    if row is None:
        row = WebhookDelivery(
            event_id=event_id,
            endpoint_id=endpoint.id,
            invoice_id=invoice_id,
            tried=0,
            created_at=now,
            # The first delivery of an event after the endpoint's cursor, or an extra delivery.
            closed_at=None if event_id > endpoint.cursor else now,
        )
        session.add(row)
    row.attempts, row.next_try_at, row.redelivered = 0, now, True
    endpoint.paused_until = None
    session.flush()
    return DUE
