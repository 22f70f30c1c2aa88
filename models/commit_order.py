"""Log ids in the order in which the entries were committed.

A reader that requests "id > the last id that I received" must not miss an entry. SQLite has only
one writer, so its ids are always in order. On PostgreSQL, a sequence assigns ids before the commit,
and a transaction with a smaller id may commit later. So a transaction that adds to a log first
takes the lock of the log, as its last step. PostgreSQL releases the lock when the commit is
visible, and the next writer of that log draws its ids afterwards. Logs do not wait for each other,
and a transaction that has the lock of a log does not wait for anything else, so there are no
deadlocks.

Ids of messages are not ordered like this: they are drawn in the middle of a transaction (decision
42).

All transactions that add to logs of two families take their locks in the same order
(`models.chat.presence.reports`).
"""

from collections.abc import Iterable

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from models.dialects import dialect_of
from specd.db import Query

KEYS = 2**31
_LOCK = Query(select(func.pg_advisory_xact_lock(bindparam("family"), bindparam("log"))))


def lock_logs(session: Session, family: int, logs: Iterable[int]) -> None:
    """Wait until no other transaction adds to these logs, and block others until this unit ends.

    Call it in a function for `specd._db.database.before_commit`, right before the INSERT. `family`
    distinguishes the kinds of logs in one database.
    """
    if dialect_of(session) == "sqlite":
        return
    for log in sorted({log % KEYS for log in logs}):
        _LOCK.all(session, {"family": family, "log": log})
