"""Connections to SQLite: their pragmas, how units of work begin, and the time limit of reads."""

import sqlite3
import time

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from specd._db.driver import run_plain
from specd._db.outages import SQLITE_BUSY

STEPS_PER_LOOK = 100_000
"""Steps of SQLite's virtual machine, about a millisecond, between two checks of the time."""
WAL_RETRY_S = 0.01
_EVERYWHERE = ("PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
_WITHOUT_KEYS = "PRAGMA foreign_keys = OFF"
_DEADLINE = "deadline"
"""Key of `Connection.info`."""


def prepare_reader(engine: Engine) -> None:
    """Have the connections of an engine change nothing, and interrupt reads at the time limit that
    `limit_reading` sets.
    """
    _execute_pragmas(engine, *_EVERYWHERE, "PRAGMA query_only = ON")
    event.listen(engine, "connect", _watch_deadline)


def prepare_writer(engine: Engine, *, lock_timeout_s: float, rewrites_tables: bool) -> None:
    """Have the connections of an engine be good for units of work, which `begin_writing`.

    SQLite keeps how pages were before a statement, in case the statement fails. Beyond 64 KiB it
    does so in a file that it makes and removes for each statement, unless it may use memory. One
    that `rewrites_tables` could need as much memory as the table takes. It does so by a copy, and
    foreign keys would delete what refers to the table that the copy replaces.
    """
    store = "FILE" if rewrites_tables else "MEMORY"
    more = (_WITHOUT_KEYS,) if rewrites_tables else ()
    _execute_pragmas(engine, *_EVERYWHERE, f"PRAGMA temp_store = {store}", *more)

    @event.listens_for(engine, "connect")
    def on_connect(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        _use_wal(connection, time.monotonic() + lock_timeout_s)


def _use_wal(connection: DBAPIConnection, ends_at: float) -> None:
    """Set the journal mode, which the file keeps.

    SQLite does not wait for its lock here: of several that open a new file at once, all but one
    fail at once with "database is locked", whatever the busy timeout.
    """
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != SQLITE_BUSY or time.monotonic() > ends_at:
                raise
        time.sleep(WAL_RETRY_S)


def _execute_pragmas(engine: Engine, *pragmas: str) -> None:
    @event.listens_for(engine, "connect")
    def on_connect(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        for pragma in pragmas:
            connection.execute(pragma)


class _Deadline:
    """When SQLite interrupts the read under way; it calls this now and then."""

    ends_at = float("inf")

    def __call__(self) -> bool:
        return time.monotonic() > self.ends_at


def _watch_deadline(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    record.info[_DEADLINE] = deadline = _Deadline()
    connection.set_progress_handler(deadline, STEPS_PER_LOOK)


def limit_reading(connection: Connection, seconds: float) -> None:
    """Have a connection of `prepare_reader` interrupt its reads after so many seconds."""
    deadline: _Deadline = connection.info[_DEADLINE]
    deadline.ends_at = time.monotonic() + seconds


def begin_writing(connection: Connection) -> None:
    """Begin a unit of work as the only writer.

    A deferred BEGIN that reads and then writes fails at once with "database is locked" when another
    writer came between; IMMEDIATE waits for its turn, up to the busy timeout.
    """
    run_plain(connection, "BEGIN IMMEDIATE")
