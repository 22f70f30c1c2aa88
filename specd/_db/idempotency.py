"""Idempotency keys: one row per (owner, key), holding the answer the key got.

Each service has a table of its own. The primary key decides which request is first. The loser of a
race waits on it until the winner's transaction ends and then reads the winner's row, so "in
progress" is only answered after the lock timeout.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from specd._db.base import upsert
from specd._db.errors import Refusal
from specd._db.outages import is_lock_timeout
from specd._db.prepared import Change, Query


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a key was answered the first time, byte for byte."""

    status: int
    body: bytes


class IdempotencyKeys:
    """The keys of one service.

    `table` has the columns `owner`, key, operation, fingerprint, status, body and created_at; its
    primary key is (owner, key). `reused` and `in_progress` are the service's two errors.
    """

    def __init__(
        self,
        table: Table,
        *,
        owner: str,
        reused: type[Refusal],
        in_progress: type[Refusal],
    ) -> None:
        is_this = (table.c[owner] == bindparam("its_owner")) & (table.c.key == bindparam("its_key"))
        self._owner = owner
        self._reused, self._in_progress = reused, in_progress
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
        """Claim the key for this transaction, or return the answer it already has.

        After None, the same transaction must call `keep` or roll back. Raise `reused` for another
        fingerprint and `in_progress` when the first request takes longer than the lock timeout
        (PostgreSQL; SQLite has one writer).
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
                raise self._in_progress() from error
            raise
        if claimed == 1:
            return None
        first, status, body = self._find.one(session, {"its_owner": owner, "its_key": key})
        if first != fingerprint:
            raise self._reused()
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
        """Store the answer of a key claimed in this transaction, and `columns` beside it."""
        row = {"its_owner": owner, "its_key": key, "status": status, "body": body}
        self._keep.run(session, row | columns)
