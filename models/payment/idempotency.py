"""Idempotency keys: one row per (project, key), holding the answer the key got.

The primary key decides who is first. The loser of a race waits on it until the winner's transaction
ends and then reads the winner's row, so "in progress" is only answered after the lock timeout.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from models.database import is_lock_timeout
from models.payment import lifecycle
from models.payment.errors import IdempotencyInProgress, IdempotencyKeyReused
from models.payment.tables import IdempotencyKey, Invoice

_table = cast(Table, IdempotencyKey.__table__)
_is_this = (_table.c.project_id == bindparam("project")) & (_table.c.key == bindparam("its_key"))
_CLAIM = {  # psycopg forgets an INSERT's row count with its cursor, unless told to keep it
    name: insert(_table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    for name, insert in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_FIND = select(_table.c.fingerprint, _table.c.status, _table.c.body).where(_is_this)
_KEEP = update(_table).where(_is_this)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a key was answered the first time, byte for byte."""

    status: int
    body: bytes


def claim_key(
    session: Session,
    *,
    project_id: str,
    key: str,
    operation: str,
    fingerprint: str,
    now: datetime,
) -> StoredAnswer | None:
    """Take the key for this transaction, or return the answer it already has.

    After None, the same transaction must call `keep_answer` or roll back. Raises
    `IdempotencyKeyReused` for another fingerprint and `IdempotencyInProgress` when the first
    request holds the key longer than the lock timeout (PostgreSQL; SQLite has one writer).
    """
    connection = session.connection()
    row = {
        "project_id": project_id,
        "key": key,
        "operation": operation,
        "fingerprint": fingerprint,
        "status": 0,
        "body": b"",
        "created_at": now,
    }
    try:
        is_first = connection.execute(_CLAIM[connection.dialect.name], row).rowcount == 1
    except OperationalError as error:
        if is_lock_timeout(error):
            raise IdempotencyInProgress() from error
        raise
    if is_first:
        return None
    found = connection.execute(_FIND, {"project": project_id, "its_key": key}).one()
    if found.fingerprint != fingerprint:
        raise IdempotencyKeyReused()
    return StoredAnswer(status=found.status, body=found.body)


def keep_answer(
    session: Session, *, project_id: str, key: str, answer: StoredAnswer, invoice_id: str | None
) -> None:
    """Store the answer of a key claimed in this transaction."""
    session.connection().execute(
        _KEEP,
        {
            "project": project_id,
            "its_key": key,
            "status": answer.status,
            "body": answer.body,
            "invoice_id": invoice_id,
        },
    )


def forget_old_keys(session: Session, *, retention: timedelta, now: datetime, limit: int) -> int:
    """Delete up to `limit` keys older than `retention` whose invoice, if any, is closed.

    An open invoice (stored as unpaid or processing) keeps its keys. Returns how many went.
    """
    is_open = (
        select(Invoice.id)
        .where(
            Invoice.id == IdempotencyKey.invoice_id,
            Invoice.status.in_((lifecycle.UNPAID, lifecycle.PROCESSING)),
        )
        .exists()
    )
    old = session.execute(
        select(IdempotencyKey.project_id, IdempotencyKey.key)
        .where(IdempotencyKey.created_at < now - retention, ~is_open)
        .order_by(IdempotencyKey.created_at)
        .limit(limit)
    ).all()
    for project_id, key in old:
        session.execute(
            delete(IdempotencyKey)
            .where(IdempotencyKey.project_id == project_id, IdempotencyKey.key == key)
            .execution_options(synchronize_session=False)
        )
    return len(old)
