"""Statements that are compiled once, so that a request only executes them with the driver.

For each execution, SQLAlchemy looks up the text of a statement by its tree and describes every
column of the result: 15 to 200 us for work that takes the driver 3 to 40. Statements of many
requests are a `Query` or a `Change` at the top of their module. Values and rows are converted by
the types of their columns, errors are SQLAlchemy's, and its event listeners are called for these
statements too.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    Insert,
    UpdateBase,
    type_coerce,
)
from sqlalchemy.orm import DeclarativeBase, QueryableAttribute, Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import TypedReturnsRows
from sqlalchemy.types import NullType
from typing_extensions import TypeVarTuple

from specd._db.driver import How, Parameters, count, fetch, fetch_some
from specd._db.reader import Db

Columns = TypeVarTuple("Columns")
T = TypeVar("T")
Values = Mapping[str, object]
NOTHING: Values = {}
_PREPARE = {"prepare": True}


class _Text:
    """A statement compiled for the driver of one dialect, with parameters of these names."""

    __slots__ = ("_constants", "_is_positional", "_places", "_results", "how", "sql", "table")

    def __init__(
        self, statement: Executable, dialect: Dialect, names: Sequence[str], *, one_plan: bool
    ) -> None:
        self.how: How = _PREPARE if one_plan and dialect.name == "postgresql" else {}
        element = cast(Any, statement)
        if isinstance(statement, Insert):
            element = statement.inline()  # the new row's key is not needed
        compiled: SQLCompiler = element.compile(dialect=dialect, column_keys=sorted(names))
        if compiled.insert_prefetch or compiled.update_prefetch or compiled.post_compile_params:
            raise TypeError("a prepared statement has no defaults and no expanding parameters")
        self.sql = compiled.string
        self.table = element.table.name if isinstance(statement, UpdateBase) else None
        self._is_positional = bool(compiled.positional)
        binds: dict[str, Callable[[Any], object] | None] = {}
        self._constants: dict[str, object] = {}
        for bind, name in compiled.bind_names.items():
            binds[name] = bind.type.dialect_impl(dialect).bind_processor(dialect) or binds.get(name)
            if not bind.required:
                self._constants[name] = bind.value
        self._places = [(name, binds[name]) for name in compiled.positiontup or binds]
        types = [column.type for column in getattr(element, "exported_columns", ())]
        made = [type_.dialect_impl(dialect).result_processor(dialect, None) for type_ in types]
        self._results = [(at, result) for at, result in enumerate(made) if result is not None]

    def bind(self, values: Values) -> Parameters:
        """Return the parameters in the driver's form."""
        if self._constants:
            values = {**self._constants, **values}
        if self._is_positional:
            return tuple(
                [
                    values[name] if bind is None else bind(values[name])
                    for name, bind in self._places
                ]
            )
        return {
            name: values[name] if bind is None else bind(values[name])
            for name, bind in self._places
        }

    def bind_all(self, rows: Sequence[Values]) -> Parameters:
        """Return the parameters of several rows with the same names. Convert column by column."""
        if not self._is_positional:
            return [self.bind(row) for row in rows]
        columns: list[Iterable[object]] = []
        for name, bind in self._places:
            if name in self._constants and name not in rows[0]:
                columns.append([self._constants[name]] * len(rows))
                continue
            values = [row[name] for row in rows]
            columns.append(values if bind is None else map(bind, values))
        return list(zip(*columns, strict=True))

    def read(self, rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
        """Return the driver's rows, converted by the types of their columns."""
        if not self._results:
            return cast(list[tuple[object, ...]], rows)
        read = []
        for row in rows:
            values = list(row)
            for at, result in self._results:
                values[at] = result(values[at])
            read.append(tuple(values))
        return read


class _Prepared:
    """A statement that is compiled on first use. It must have neither Python defaults nor expanding
    parameters such as those of `in_`. A session is flushed before the statement runs.

    With `one_plan`, the same query plan is good for all values, as it is for keys and lists of
    keys. PostgreSQL then plans the statement once per connection. Planning takes longer than
    execution.
    """

    __slots__ = ("_one_plan", "_statement", "_texts")

    def __init__(self, statement: Executable, *, one_plan: bool) -> None:
        self._statement = statement
        self._one_plan = one_plan
        self._texts: dict[tuple[str, ...], _Text] = {}

    def _text(self, connection: Connection, names: Values) -> _Text:
        dialect = connection.dialect
        key = (dialect.name, *names)
        text = self._texts.get(key)
        if text is None:
            text = _Text(self._statement, dialect, list(names), one_plan=self._one_plan)
            self._texts[key] = text
        return text


class Query(_Prepared, Generic[*Columns]):
    """A statement that returns rows."""

    __slots__ = ()

    def __init__(self, statement: TypedReturnsRows[*Columns], *, one_plan: bool = True) -> None:
        super().__init__(statement, one_plan=one_plan)

    @staticmethod
    def unconverted(column: QueryableAttribute[T]) -> ColumnElement[T]:
        """Return a column whose values are not converted, for a statement with many rows: Unix
        milliseconds for a time, and on SQLite 0 or 1 for a boolean.
        """
        return cast(
            ColumnElement[Any], type_coerce(column.expression, NullType()).label(column.key)
        )

    def all(self, db: Db, values: Values = NOTHING) -> list[tuple[*Columns]]:
        """Return every row."""
        connection = _connection_of(db)
        text = self._text(connection, values)
        rows = text.read(fetch(connection, text.sql, text.bind(values), text.how))
        return cast("list[tuple[*Columns]]", rows)

    def chunks(
        self, db: Db, size: int, values: Values = NOTHING
    ) -> Generator[list[tuple[*Columns]]]:
        """Yield every row, at most `size` at a time."""
        connection = _connection_of(db)
        text = self._text(connection, values)
        for rows in fetch_some(connection, text.sql, text.bind(values), text.how, size):
            yield cast("list[tuple[*Columns]]", text.read(rows))

    def first(self, db: Db, values: Values = NOTHING) -> tuple[*Columns] | None:
        """Return the first row, or None if there is none."""
        rows = self.all(db, values)
        return rows[0] if rows else None

    def one(self, db: Db, values: Values = NOTHING) -> tuple[*Columns]:
        """Return the only row of a statement that always has one."""
        (row,) = self.all(db, values)
        return row


class Change(_Prepared):
    """A statement that changes rows and does not return rows. Objects of its table that the session
    has loaded are read again on their next use.
    """

    __slots__ = ()

    def __init__(self, statement: Executable) -> None:
        super().__init__(statement, one_plan=False)

    def run(self, db: Session, values: Values = NOTHING) -> int:
        """Execute the statement and return the number of rows it changed."""
        connection = _connection_of(db)
        text = self._text(connection, values)
        changed = count(connection, text.sql, text.bind(values))
        _expire(db, text.table)
        return changed

    def run_all(self, db: Session, rows: Sequence[Values]) -> None:
        """Execute the statement for several rows with the same names. `rows` must not be empty."""
        if len(rows) == 1:
            self.run(db, rows[0])
            return
        connection = _connection_of(db)
        text = self._text(connection, rows[0])
        count(connection, text.sql, text.bind_all(rows), many=True)
        _expire(db, text.table)


def _expire(session: Session, table: str | None) -> None:
    for loaded in cast(list[DeclarativeBase], session.identity_map.values()):
        if loaded.__tablename__ == table:
            session.expire(loaded)


def _connection_of(db: Db) -> Connection:
    if isinstance(db, Connection):
        return db
    db.flush()
    return db.connection()
