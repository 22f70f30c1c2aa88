"""Ids of a log in the order in which its entries were committed.

A reader that asks for "id > the last one I saw" must never miss an entry. SQLite has one writer at
a time, so there ids are in order by themselves. On PostgreSQL a sequence hands out ids before the
commit, and a transaction with a smaller id may commit later. So a transaction that adds to a log
first takes the lock of the log, as its last step, and PostgreSQL releases the lock when the commit
is visible: the next writer of that log draws its ids after that. Logs do not wait for each other,
and a transaction with the lock of a log waits for nothing else, so there is no deadlock.
Ids of messages are not of this kind: they are drawn in the middle of a transaction (decision 42).
Transactions that add to logs of two families all take their locks in the same order
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
    """Wait until nobody else adds to these logs, and keep others from it until this unit ends.

    Call it from what `specd._db.database.before_commit` calls, right before the INSERT. `family`
    tells the kinds of logs in one database apart.
    """
    if dialect_of(session) == "sqlite":
        return
    for log in sorted({log % KEYS for log in logs}):
        _LOCK.all(session, {"family": family, "log": log})
