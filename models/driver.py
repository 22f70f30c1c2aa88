"""Statements as the driver takes them, past SQLAlchemy: what it finds, counts, and how it fails.

A connection to PostgreSQL keeps its cursor. A new one of psycopg's looks anew for how each type of
parameter and result is written, which takes as long as all else that it does for a statement.
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
_CURSOR = "cursor"


class _Cursor(Protocol):
    rowcount: int

    def execute(self, sql: str, parameters: Parameters, /, **how: bool) -> object: ...
    def executemany(self, sql: str, parameters: Parameters, /) -> object: ...
    def fetchall(self) -> Rows: ...
    def fetchmany(self, size: int, /) -> Rows: ...


class _Driver(Protocol):
    """What the connections of `sqlite3` and psycopg have in common."""

    def cursor(self) -> _Cursor: ...


def run_plain(connection: Connection, sql: str) -> None:
    """A statement without parameters and rows, as the database takes it."""
    count(connection, sql, ())


def fetch(connection: Connection, sql: str, parameters: Parameters, how: How) -> Rows:
    """Every row."""
    if connection.engine.dispatch.before_cursor_execute:  # somebody listens
        return connection.exec_driver_sql(sql, parameters).fetchall()
    cursor = _take_cursor(connection)
    try:
        cursor.execute(sql, parameters, **how)
        rows = cursor.fetchall()
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)
    if len(rows) <= MOST_KEPT:
        _keep_cursor(connection, cursor)
    return rows


def fetch_some(
    connection: Connection, sql: str, parameters: Parameters, how: How, size: int
) -> Iterator[Rows]:
    """Every row, so many at a time."""
    if connection.engine.dispatch.before_cursor_execute:
        with connection.exec_driver_sql(sql, parameters) as result:
            yield from result.partitions(size)
        return
    cursor = _driver_of(connection).cursor()
    try:
        cursor.execute(sql, parameters, **how)
        while rows := cursor.fetchmany(size):
            yield rows
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)


def count(connection: Connection, sql: str, parameters: Parameters, *, many: bool = False) -> int:
    """How many rows a statement changed, or one for several rows together."""
    if connection.engine.dispatch.before_cursor_execute:
        counting = {"preserve_rowcount": True}
        return connection.exec_driver_sql(sql, parameters, execution_options=counting).rowcount
    cursor = _take_cursor(connection)
    try:
        (cursor.executemany if many else cursor.execute)(sql, parameters)
    except connection.dialect.loaded_dbapi.Error as error:
        _fail(connection, sql, error)
    changed = cursor.rowcount
    _keep_cursor(connection, cursor)
    return changed


def _driver_of(connection: Connection) -> _Driver:
    return cast(_Driver, connection.connection.driver_connection)


def _take_cursor(connection: Connection) -> _Cursor:
    """The cursor that the connection keeps, for one statement, or a new one."""
    kept: _Cursor | None = None
    if _keeps_cursors(connection):
        kept = connection.info.pop(_CURSOR, None)
    return _driver_of(connection).cursor() if kept is None else kept


def _keep_cursor(connection: Connection, cursor: _Cursor) -> None:
    if _keeps_cursors(connection):
        connection.info[_CURSOR] = cursor


def _keeps_cursors(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _fail(connection: Connection, sql: str, error: Exception) -> NoReturn:
    """Raise what SQLAlchemy makes of it. A dead connection it throws away with its whole pool."""
    connection._handle_dbapi_exception(error, sql, None, None, None)
