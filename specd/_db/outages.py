"""Classifies database errors: an outage, a lost race, or a lock that was not granted in time."""

import sqlite3
from collections.abc import Mapping

from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from specd._db.availability import Availability
from specd._db.errors import DatabaseUnavailable

SQLITE_BUSY = 5
SQLITE_SLOW = frozenset({SQLITE_BUSY, 6, 9})  # and locked, and interrupted at the time limit
SQLITE_OUTAGES = frozenset({5, 6, 7, 9, 10, 11, 13, 14, 15, 26})
# busy, locked, out of memory, interrupted, ..., full, no file
SQLITE_READONLY = 8
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
"""SQLSTATEs of a database that is available but did not respond in time."""
AWAY: Mapping[str, str] = {
    "08": "The connection failed, or a proxy on the way reports that it did.",
    "25006": "The node takes no writes, because it was demoted or an operator made it read-only.",
    "25P03": "The server ended a transaction that was idle for too long.",
    "25P04": "The server ended a transaction that took too long.",
    "53": "The server lacks memory, disk (53100) or free connections (53300).",
    "57P": "The server is starting, stopping or recovering, or the session was ended.",
    "58": "The server's operating system failed it, as a disk does that cannot be read.",
}
"""SQLSTATEs of an unavailable database, or their prefixes. All other SQLSTATEs are bugs, and an
error without an SQLSTATE comes from the connection itself.
"""


def is_lock_timeout(error: DBAPIError) -> bool:
    """Return whether the statement was not granted a lock in time."""
    return (
        getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE
        or getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == SQLITE_BUSY
    )


def is_read_only(error: BaseException | None) -> bool:
    """Return whether the error says that the database does not accept writes."""
    return getattr(getattr(error, "orig", None), "sqlstate", None) == READ_ONLY


def is_refused_write(error: BaseException | None) -> bool:
    """Return whether a statement that writes was refused where only reading is allowed."""
    cause = getattr(error, "orig", None)
    code = getattr(cause, "sqlite_errorcode", None)
    return is_read_only(error) or (code is not None and code & 0xFF == SQLITE_READONLY)


def is_out_of_step(error: DBAPIError) -> bool:
    """Return whether the driver and its peer are out of step, for example because a pooler that
    lost the server added its error to a response. The connection cannot be used any longer.
    """
    return isinstance(error, InternalError) and getattr(error.orig, "sqlstate", None) is None


def is_outage(error: BaseException) -> bool:
    """Return whether the error is an outage: the database is unavailable, full or busy, and the
    statement is correct.

    The codes decide, not the classes of errors: SQLite's driver has the same class for "no such
    table" and "locked", and the classes of psycopg contain both outages and other errors.
    """
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in SQLITE_OUTAGES
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return state in SLOW or state.startswith(tuple(AWAY))
    return isinstance(error, (OperationalError, InterfaceError, InternalError, PoolTimeout))


def is_conflict(error: DBAPIError) -> bool:
    """Return whether the unit lost a race, so that it may succeed if it is run again."""
    return (
        getattr(error.orig, "sqlstate", None) in RACES
        or getattr(error.orig, "sqlite_errorcode", None) in SQLITE_UNIQUE
    )


def raise_outage(error: Exception, availability: Availability, ended: int) -> None:
    """Record an outage and raise `DatabaseUnavailable`. Do nothing for any other error."""
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
