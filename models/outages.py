"""What a database error means: an outage, a lost race, or a lock that was not granted in time."""

import sqlite3

import structlog
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from models.errors import DatabaseUnavailable

SQLITE_BUSY = 5
SQLITE_OUTAGES = frozenset({5, 6, 7, 9, 10, 11, 13, 14, 15, 26})
# busy, locked, out of memory, interrupted, ..., full, no file
SQLITE_UNIQUE = frozenset({1555, 2067})  # SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE
UNIQUE_VIOLATION = "23505"
LOCK_NOT_AVAILABLE = "55P03"
RACES = frozenset({UNIQUE_VIOLATION, "40001", "40P01"})  # and serialization failure, deadlock


def is_lock_timeout(error: DBAPIError) -> bool:
    """Did this statement give up waiting for somebody else's lock?"""
    return (
        getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE
        or getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == SQLITE_BUSY
    )


def is_outage(error: Exception) -> bool:
    """Is the database away, full or busy, rather than asked something wrong?

    SQLite reports "no such table" as the same class as "locked", so its codes decide.
    """
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in SQLITE_OUTAGES
    return isinstance(error, (OperationalError, InterfaceError, PoolTimeout))


def is_lost_race(error: DBAPIError) -> bool:
    """Would the same unit, run again, see what the winner wrote?"""
    return (
        getattr(error.orig, "sqlstate", None) in RACES
        or getattr(error.orig, "sqlite_errorcode", None) in SQLITE_UNIQUE
    )


def raise_outage(error: Exception) -> None:
    """Raise the failure callers know for an outage; whatever else went wrong is a bug."""
    if is_outage(error):
        cause = getattr(error, "orig", None) or error
        log = structlog.get_logger("database")
        log.warning("database_unavailable", kind=type(cause).__name__, cause=str(cause).strip())
        raise DatabaseUnavailable() from error
