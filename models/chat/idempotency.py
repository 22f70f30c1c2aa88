"""Idempotency keys: one row per (user, key), holding the answer the key got.

The primary key decides who is first. The loser of a race waits on it until the winner's transaction
ends and then reads the winner's row, so "in progress" is only answered after the lock timeout.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import Table, bindparam, delete, literal, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from models.chat.errors.scheduling import IdempotencyInProgress, IdempotencyKeyReused
from models.chat.tables import IdempotencyKey
from models.database import is_lock_timeout

_table = cast(Table, IdempotencyKey.__table__)
_is_this = (_table.c.user_id == bindparam("user")) & (_table.c.key == bindparam("its_key"))
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
    session: Session, *, user_id: int, key: str, operation: str, fingerprint: str, now: datetime
) -> StoredAnswer | None:
    """Take the key for this transaction, or return the answer it already has.

    After None, the same transaction must call `keep_answer` or roll back. Raises
    `IdempotencyKeyReused` for another fingerprint and `IdempotencyInProgress` when the first
    request holds the key longer than the lock timeout (PostgreSQL; SQLite has one writer).
    """
    connection = session.connection()
    row = {
        "user_id": user_id,
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
    found = connection.execute(_FIND, {"user": user_id, "its_key": key}).one()
    if found.fingerprint != fingerprint:
        raise IdempotencyKeyReused()
    return StoredAnswer(status=found.status, body=found.body)


def keep_answer(session: Session, *, user_id: int, key: str, answer: StoredAnswer) -> None:
    """Store the answer of a key claimed in this transaction."""
    row = {"user": user_id, "its_key": key, "status": answer.status, "body": answer.body}
    session.connection().execute(_KEEP, row)


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
