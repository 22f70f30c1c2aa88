"""Idempotency keys: one row per (owner, key), with the stored response.

Each service has its own table. The primary key decides which request is first. The loser of a race
waits for the winner's transaction to end and then reads the winner's row, so "in progress" is only
returned after the lock timeout.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, LargeBinary, String, Table, bindparam, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, Session, mapped_column

from specd._db.base import upsert
from specd._db.errors import Refusal
from specd._db.outages import is_lock_timeout
from specd._db.prepared import Change, Query
from specd._db.types import UtcMs


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The response to the first request with a key, byte for byte."""

    status: int
    body: bytes


class IdempotencyKeyReused(Refusal):
    """The key belongs to a different request."""

    status = 422
    code = "idempotency_key_reused"
    sentence = (
        "This Idempotency-Key was used for a different request; use a fresh key for each request."
    )
    advice = (
        "Send a new `Idempotency-Key` with each new request. Send the old key only to repeat "
        "its request."
    )


class IdempotencyInProgress(Refusal):
    """The first request with this key is still running."""

    status = 409
    code = "idempotency_in_progress"
    retry_after_s = 1
    sentence = (
        "A request with this Idempotency-Key is still in progress; send it again in a moment."
    )
    advice = (
        "Wait the number of seconds in `Retry-After`, then send the same request with the same "
        "key again."
    )


class IdempotencyKeyColumns:
    """The columns of a table of keys, for services that do not define their own.

    With `class IdempotencyKey(IdempotencyKeyColumns, Base)` in the tables of a service, its
    handlers can use `@idempotent`.
    """

    __tablename__ = "idempotency_key"

    owner: Mapped[str] = mapped_column(String(100), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    operation: Mapped[str] = mapped_column(String(255))
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int] = mapped_column(Integer)
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class IdempotencyKeys:
    """The keys of one service.

    `table` has the columns key, operation, fingerprint, status, body and created_at, and a column
    named by `owner`. Its primary key is (owner, key).
    """

    def __init__(
        self,
        table: Table,
        *,
        owner: str = "owner",
    ) -> None:
        is_this = (table.c[owner] == bindparam("its_owner")) & (table.c.key == bindparam("its_key"))
        self._owner = owner
        self._claim = Change(upsert(table).on_conflict_do_nothing())
        self._find: Query[str, int, bytes] = Query(
            select(table.c.fingerprint, table.c.status, table.c.body).where(is_this)
        )
        self._keep = Change(update(table).where(is_this))

    def claim(
        self,
        session: Session,
        *,
        owner: str | int,
        key: str,
        operation: str,
        fingerprint: str,
        now: datetime,
    ) -> StoredAnswer | None:
        """Claim the key for this transaction and return None, or return its stored response.

        After None, the same transaction must call `keep` or roll back. Raise `IdempotencyKeyReused`
        for another fingerprint, and `IdempotencyInProgress` if the first request takes longer than
        the lock timeout (only PostgreSQL, because SQLite has one writer).
        """
        row = {
            self._owner: owner,
            "key": key,
            "operation": operation,
            "fingerprint": fingerprint,
            "status": 0,
            "body": b"",
            "created_at": now,
        }
        try:
            claimed = self._claim.run(session, row)
        except OperationalError as error:
            if is_lock_timeout(error):
                raise IdempotencyInProgress from error
            raise
        if claimed == 1:
            return None
        first, status, body = self._find.one(session, {"its_owner": owner, "its_key": key})
        if first != fingerprint:
            raise IdempotencyKeyReused
        return StoredAnswer(status, body)

    def keep(
        self,
        session: Session,
        *,
        owner: str | int,
        key: str,
        status: int,
        body: bytes,
        **columns: Any,
    ) -> None:
        """Store the response of a key claimed in this transaction, together with `columns`."""
        row = {"its_owner": owner, "its_key": key, "status": status, "body": body}
        self._keep.run(session, row | columns)
