"""Connections to SQLite: pragmas, the beginning of units of work, and the time limit of reads."""

import sqlite3
import time

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from specd._db.outages import SQLITE_BUSY

STEPS_PER_LOOK = 100_000
"""Steps of SQLite's virtual machine, about a millisecond, between two checks of the time."""
WAL_RETRY_S = 0.01
_EVERYWHERE = ("PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
_WITHOUT_KEYS = "PRAGMA foreign_keys = OFF"
_DEADLINE = "deadline"
"""The key of `Connection.info` with the `_Deadline`."""


def prepare_reader(engine: Engine) -> None:
    """Configure the connections of an engine as read-only, and interrupt reads at the time limit
    that `limit_reading` sets.
    """
    _execute_pragmas(engine, *_EVERYWHERE, "PRAGMA query_only = ON")
    event.listen(engine, "connect", _watch_deadline)


def prepare_writer(engine: Engine, *, lock_timeout_s: float, rewrites_tables: bool) -> None:
    """Configure the connections of an engine for units of work, which begin with BEGIN IMMEDIATE.

    After a deferred BEGIN, a transaction that reads and then writes fails immediately with
    "database is locked" if another writer committed in between. IMMEDIATE waits for its turn, up to
    the busy timeout.

    SQLite keeps the previous content of pages, in case a statement fails. Beyond 64 KiB it creates
    and deletes a file for each statement, unless temporary storage is in memory. With
    `rewrites_tables`, a statement could need as much memory as the table, so files are used.
    Foreign keys are off then, because a table is rewritten as a copy, and dropping the original
    would delete the rows that refer to it.
    """
    store = "FILE" if rewrites_tables else "MEMORY"
    more = (_WITHOUT_KEYS,) if rewrites_tables else ()
    _execute_pragmas(engine, *_EVERYWHERE, f"PRAGMA temp_store = {store}", *more)

    @event.listens_for(engine, "connect")
    def on_connect(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        _use_wal(connection, time.monotonic() + lock_timeout_s)


def _use_wal(connection: DBAPIConnection, ends_at: float) -> None:
    """Set the journal mode, which is stored in the file.

    SQLite does not wait for a lock here. If several processes open a new file simultaneously, all
    but one fail immediately with "database is locked", regardless of the busy timeout.
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
    """The time at which SQLite interrupts the current read. SQLite calls it every `STEPS_PER_LOOK`
    steps.
    """

    ends_at = float("inf")

    def __call__(self) -> bool:
        return time.monotonic() > self.ends_at


def _watch_deadline(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    record.info[_DEADLINE] = deadline = _Deadline()
    connection.set_progress_handler(deadline, STEPS_PER_LOOK)


def limit_reading(connection: Connection, seconds: float) -> None:
    """Interrupt the reads of a connection of `prepare_reader` after `seconds`."""
    deadline: _Deadline = connection.info[_DEADLINE]
    deadline.ends_at = time.monotonic() + seconds
