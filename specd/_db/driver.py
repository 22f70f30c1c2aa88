"""Executes statements directly with the driver, without SQLAlchemy.

A connection reuses its cursor. A new psycopg cursor looks up how to convert each type of parameter
and result, which takes as long as all its other work for a statement.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

from sqlalchemy import Connection

Parameters = tuple[Any, ...] | dict[str, Any] | list[Any]
"""The parameters for SQLite's driver, for PostgreSQL's driver, and for several rows."""
How = Mapping[str, bool]
"""Keyword arguments of psycopg's `execute`."""
Rows = Sequence[Sequence[object]]
MAX_KEPT = 100
"""The maximum number of rows that a reused cursor may keep in memory until its next statement."""
_DRIVER = "driver"
"""The key of `Connection.info`, which SQLAlchemy clears when it reconnects."""


class _Cursor(Protocol):
    rowcount: int

    def execute(self, sql: str, parameters: Parameters, /, **how: bool) -> object: ...
    def executemany(self, sql: str, parameters: Parameters, /) -> object: ...
    def fetchall(self) -> Rows: ...
    def fetchmany(self, size: int, /) -> Rows: ...


class _Driver(Protocol):
    """A connection of `sqlite3` or psycopg."""

    def cursor(self) -> _Cursor: ...


class _Kept:
    """The state of a connection between statements: the driver's own connection, because a lookup
    in SQLAlchemy takes longer than the lookup of a row in SQLite, and a cursor that is not in use.
    """

    __slots__ = ("connection", "cursor")

    def __init__(self, connection: _Driver) -> None:
        self.connection = connection
        self.cursor: _Cursor | None = None

    def take_cursor(self) -> _Cursor:
        """Return the cursor to reuse, or a new one. The caller puts it back after its statement."""
        cursor, self.cursor = self.cursor, None
        return cursor or self.connection.cursor()


def run_plain(connection: Connection, sql: str) -> None:
    """Execute a statement without parameters and rows."""
    count(connection, sql, ())


def fetch(connection: Connection, sql: str, parameters: Parameters, how: How) -> Rows:
    """Return every row."""
    if _has_listeners(connection):
        return connection.exec_driver_sql(sql, parameters).fetchall()
    kept = _kept_by(connection)
    cursor = kept.take_cursor()
    try:
        cursor.execute(sql, parameters, **how)
        rows = cursor.fetchall()
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)
    if len(rows) <= MAX_KEPT:
        kept.cursor = cursor
    return rows


def fetch_some(
    connection: Connection, sql: str, parameters: Parameters, how: How, size: int
) -> Iterator[Rows]:
    """Yield every row, `size` at a time."""
    if _has_listeners(connection):
        with connection.exec_driver_sql(sql, parameters) as result:
            yield from result.partitions(size)
        return
    cursor = _kept_by(connection).connection.cursor()
    try:
        cursor.execute(sql, parameters, **how)
        while rows := cursor.fetchmany(size):
            yield rows
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)


def count(connection: Connection, sql: str, parameters: Parameters, *, many: bool = False) -> int:
    """Execute a statement and return the number of rows it changed. With `many`, `parameters` has
    several rows.
    """
    if _has_listeners(connection):
        counting = {"preserve_rowcount": True}
        return connection.exec_driver_sql(sql, parameters, execution_options=counting).rowcount
    kept = _kept_by(connection)
    cursor = kept.take_cursor()
    try:
        (cursor.executemany if many else cursor.execute)(sql, parameters)
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)
    kept.cursor = cursor
    return cursor.rowcount


def _has_listeners(connection: Connection) -> bool:
    """Return whether statements have listeners. Check `_has_events` first, as SQLAlchemy does,
    because it is faster to read.
    """
    engine = connection.engine
    return bool(
        (connection._has_events and connection.dispatch.before_cursor_execute)
        or (engine._has_events and engine.dispatch.before_cursor_execute)
    )


def _kept_by(connection: Connection) -> _Kept:
    info = connection.info
    kept: _Kept | None = info.get(_DRIVER)
    if kept is None:
        own = cast(_Driver, connection.connection.driver_connection)
        kept = info[_DRIVER] = _Kept(own)
    return kept


def _fail(connection: Connection, sql: str, error: Exception) -> NoReturn:
    """Raise the error as SQLAlchemy's. SQLAlchemy replaces a pool whose connection is dead."""
    connection._handle_dbapi_exception(error, sql, None, None, None)
