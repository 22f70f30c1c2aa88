"""The chat service's idempotency keys, each of a user (models/idempotency.py)."""

from datetime import datetime
from typing import cast

from sqlalchemy import Table, delete, literal, select, tuple_
from sqlalchemy.orm import Session

from models.chat.errors.scheduling import IdempotencyInProgress, IdempotencyKeyReused
from models.chat.tables import IdempotencyKey
from models.idempotency import IdempotencyKeys

_table = cast(Table, IdempotencyKey.__table__)

KEYS = IdempotencyKeys(
    _table, owner="user_id", reused=IdempotencyKeyReused, in_progress=IdempotencyInProgress
)


def try_forget_keys(session: Session, *, used_before: datetime, limit: int) -> bool:
    """Delete up to `limit` keys older than that; says whether there were any."""
    old = (
        select(_table.c.user_id, _table.c.key)
        .where(_table.c.created_at < used_before)
        .order_by(_table.c.created_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    chosen = tuple_(_table.c.user_id, _table.c.key).in_(old)
    gone = session.connection().execute(delete(_table).where(chosen).returning(literal(1)))
    return bool(gone.all())
