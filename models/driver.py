"""Statements as the driver takes them, past SQLAlchemy: what it finds, counts, and how it fails.

A connection keeps its cursor. A new one of psycopg's looks anew for how each type of parameter and
result is written, which takes as long as all else that it does for a statement.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

from sqlalchemy import Connection

Parameters = tuple[Any, ...] | dict[str, Any] | list[Any]
"""As the driver of SQLite takes them, as that of PostgreSQL does, and those of several rows."""
How = Mapping[str, bool]
"""More for psycopg's `execute`."""
Rows = Sequence[Sequence[object]]
MOST_KEPT = 100
"""Rows that a cursor may hold on to until its next statement."""
_DRIVER = "driver"
"""Key of `Connection.info`, which SQLAlchemy clears where it connects anew."""


class _Cursor(Protocol):
    rowcount: int

    def execute(self, sql: str, parameters: Parameters, /, **how: bool) -> object: ...
    def executemany(self, sql: str, parameters: Parameters, /) -> object: ...
    def fetchall(self) -> Rows: ...
    def fetchmany(self, size: int, /) -> Rows: ...


class _Driver(Protocol):
    """What the connections of `sqlite3` and psycopg have in common."""

    def cursor(self) -> _Cursor: ...


class _Kept:
    """What a connection keeps between statements: the driver's own connection, which takes
    SQLAlchemy longer to find than SQLite to find a row, and a cursor that nobody uses.
    """

    __slots__ = ("connection", "cursor")

    def __init__(self, connection: _Driver) -> None:
        self.connection = connection
        self.cursor: _Cursor | None = None

    def take_cursor(self) -> _Cursor:
        """The kept cursor, for one statement, or a new one."""
        cursor, self.cursor = self.cursor, None
        return cursor or self.connection.cursor()


def run_plain(connection: Connection, sql: str) -> None:
    """A statement without parameters and rows, as the database takes it."""
    count(connection, sql, ())


def fetch(connection: Connection, sql: str, parameters: Parameters, how: How) -> Rows:
    """Every row."""
    if _is_heard(connection):
        return connection.exec_driver_sql(sql, parameters).fetchall()
    kept = _kept_by(connection)
    cursor = kept.take_cursor()
    try:
        cursor.execute(sql, parameters, **how)
        rows = cursor.fetchall()
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)
    if len(rows) <= MOST_KEPT:
        kept.cursor = cursor
    return rows


def fetch_some(
    connection: Connection, sql: str, parameters: Parameters, how: How, size: int
) -> Iterator[Rows]:
    """Every row, so many at a time."""
    if _is_heard(connection):
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
    """How many rows a statement changed, or one for several rows together."""
    if _is_heard(connection):
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


def _is_heard(connection: Connection) -> bool:
    """Does somebody listen to its statements? Whether anybody ever did, as SQLAlchemy itself asks,
    is seen sooner.
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
    """Raise what SQLAlchemy makes of it. A dead connection it throws away with its whole pool."""
    connection._handle_dbapi_exception(error, sql, None, None, None)
