"""What a database error means: an outage, a lost race, or a lock that was not granted in time."""

import sqlite3
from collections.abc import Mapping

from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from specd._db.availability import Availability
from specd._db.errors import DatabaseUnavailable

SQLITE_BUSY = 5
SQLITE_SLOW = frozenset({SQLITE_BUSY, 6, 9})  # and locked, interrupted at the time limit
SQLITE_OUTAGES = frozenset({5, 6, 7, 9, 10, 11, 13, 14, 15, 26})
# busy, locked, out of memory, interrupted, ..., full, no file
SQLITE_UNIQUE = frozenset({1555, 2067})  # SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE
UNIQUE_VIOLATION = "23505"
LOCK_NOT_AVAILABLE = "55P03"
READ_ONLY = "25006"
RACES = frozenset({UNIQUE_VIOLATION, "40001", "40P01"})  # and serialization failure, deadlock
SLOW: Mapping[str, str] = {
    "40001": "The unit lost a race, ran again, and lost again.",
    "40P01": "The same for a deadlock.",
    "55P03": "Another unit has kept the lock for too long.",
    "57014": "The statement took longer than its time limit.",
}
"""SQLSTATEs of a database that is available and did not answer in time."""
AWAY: Mapping[str, str] = {
    "08": "The connection failed, or a proxy on the way reports that it did.",
    "25006": "The node takes no writes, because it was demoted or an operator made it read-only.",
    "25P03": "The server ended a transaction that was idle for too long.",
    "25P04": "The server ended a transaction that took too long.",
    "53": "The server lacks memory, disk (53100) or free connections (53300).",
    "57P": "The server is starting, stopping or recovering, or the session was ended.",
    "58": "The server's operating system failed it, as a disk does that cannot be read.",
}
"""SQLSTATEs, or how they begin, of an unavailable database. All others are errors of ours, and an
error without one comes from the connection itself.
"""


def is_lock_timeout(error: DBAPIError) -> bool:
    """Return whether the statement was not granted a lock in time."""
    return (
        getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE
        or getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == SQLITE_BUSY
    )


def is_read_only(error: BaseException | None) -> bool:
    """Return whether the database takes no writes."""
    return getattr(getattr(error, "orig", None), "sqlstate", None) == READ_ONLY


def is_out_of_step(error: DBAPIError) -> bool:
    """Return whether the driver and its peer no longer agree on what was asked: a pooler that loses
    the server adds its error to the answer. The connection is of no more use.
    """
    return isinstance(error, InternalError) and getattr(error.orig, "sqlstate", None) is None


def is_outage(error: BaseException) -> bool:
    """Return whether the database is unavailable, full or busy, and the statement is right.

    SQLite reports "no such table" as the same class as "locked", so its codes decide. psycopg sorts
    SQLSTATEs into classes that cut across outages, so these decide too.
    """
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in SQLITE_OUTAGES
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return state in SLOW or state.startswith(tuple(AWAY))
    return isinstance(error, (OperationalError, InterfaceError, InternalError, PoolTimeout))


def is_conflict(error: DBAPIError) -> bool:
    """Return whether the same unit, run again, would see what the winner wrote."""
    return (
        getattr(error.orig, "sqlstate", None) in RACES
        or getattr(error.orig, "sqlite_errorcode", None) in SQLITE_UNIQUE
    )


def raise_outage(error: Exception, availability: Availability, ended: int) -> None:
    """Raise `DatabaseUnavailable` for an outage, and note it; return for any other error."""
    if not is_outage(error):
        return
    cause = getattr(error, "orig", None) or error
    is_slow = (
        getattr(cause, "sqlstate", None) in SLOW
        or getattr(cause, "sqlite_errorcode", 0) & 0xFF in SQLITE_SLOW
    )
    if is_slow:
        availability.note_slow(cause)
    else:
        availability.note_failure(cause, ended)
    raise DatabaseUnavailable() from error
