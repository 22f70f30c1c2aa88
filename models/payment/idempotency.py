"""The payment service's idempotency keys, each of a project (models/idempotency.py)."""

from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, delete, literal, select, tuple_
from sqlalchemy.orm import Session

from models.idempotency import IdempotencyKeys
from models.payment import lifecycle
from models.payment.errors import IdempotencyInProgress, IdempotencyKeyReused
from models.payment.tables import IdempotencyKey, Invoice

_table = cast(Table, IdempotencyKey.__table__)

KEYS = IdempotencyKeys(
    _table, owner="project_id", reused=IdempotencyKeyReused, in_progress=IdempotencyInProgress
)


def forget_old_keys(session: Session, *, retention: timedelta, now: datetime, limit: int) -> int:
    """Delete up to `limit` keys older than `retention` whose invoice, if any, is closed.

    An open invoice (stored as unpaid or processing) keeps its keys. Returns how many went.
    """
    is_open = (
        select(Invoice.id)
        .where(
            Invoice.id == _table.c.invoice_id,
            Invoice.status.in_((lifecycle.UNPAID, lifecycle.PROCESSING)),
        )
        .exists()
    )
    old = (
        select(_table.c.project_id, _table.c.key)
        .where(_table.c.created_at < now - retention, ~is_open)
        .order_by(_table.c.created_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    chosen = tuple_(_table.c.project_id, _table.c.key).in_(old)
    gone = session.connection().execute(delete(_table).where(chosen).returning(literal(1)))
    return len(gone.all())
