"""Expressions for features that SQLite and PostgreSQL write differently."""

import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self, TypeVar

import orjson
import sqlalchemy
from sqlalchemy import (
    Alias,
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Dialect,
    FromClause,
    Index,
    Insert,
    Integer,
    LargeBinary,
    Select,
    SQLColumnExpression,
    String,
    Table,
    Text,
    TextClause,
    TypeDecorator,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
    tuple_,
    type_coerce,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import TypeEngine

from models.json import Json
from specd.db import Change, Db

T = TypeVar("T")
INT_MAX = 2_147_483_647
"""The largest value of an integer column. Ids are stored in such columns."""


def dialect_of(db: Db) -> str:
    """Return `sqlite` or `postgresql`."""
    bind = db.get_bind() if isinstance(db, Session) else db
    return bind.dialect.name


def partial_index(name: str, *columns: str, where: TextClause) -> Index:
    """Return an index of the rows that meet a condition."""
    return Index(name, *columns, postgresql_where=where, sqlite_where=where)


class ByDialect(FunctionElement[T]):
    """An expression with different SQL for each database. Both read the same tables."""

    inherit_cache = True

    def __init__(self, *, sqlite: ColumnElement[T], postgresql: ColumnElement[T]) -> None:
        super().__init__(sqlite, postgresql)
        self.type = sqlite.type

    def self_group(self, against: OperatorType | None = None) -> Self:
        """Return the expression unchanged, because it already has parentheses. SQLite would not use
        an index for a condition followed by `= 1`.
        """
        return self


@compiles(ByDialect)
def _by_dialect(element: ByDialect[Any], compiler: SQLCompiler, **options: Any) -> str:
    sqlite, postgresql = element.clauses
    expression = sqlite if compiler.dialect.name == "sqlite" else postgresql
    return f"({compiler.process(expression, **options)})"


def byte_length(of: SQLColumnExpression[Any]) -> ColumnElement[int]:
    """Return the size of a text in bytes, or null if it is null."""
    return ByDialect(
        sqlite=func.length(cast(of, LargeBinary), type_=Integer),
        postgresql=func.octet_length(of, type_=Integer),
    )


def least(one: ColumnElement[T], other: ColumnElement[T] | T) -> ColumnElement[T]:
    """Return the smaller of two values."""
    return ByDialect(sqlite=func.min(one, other), postgresql=func.least(one, other))


def greatest(one: ColumnElement[T], other: ColumnElement[T] | T) -> ColumnElement[T]:
    """Return the larger of two values."""
    return ByDialect(sqlite=func.max(one, other), postgresql=func.greatest(one, other))


# --- lists: one bound value, so that the cost of compilation does not depend on their length ------

IdColumn = SQLColumnExpression[int | None]
"""A column of ids. It may be nullable."""


class _Json(TypeDecorator[list[int | str]]):
    """A list as JSON, because SQLite has no arrays."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: list[int | str] | None, dialect: Dialect) -> str:
        return orjson.dumps(value).decode()


_IDS = postgresql.ARRAY(BigInteger).with_variant(_Json(), "sqlite")
_TEXTS = postgresql.ARRAY(Text).with_variant(_Json(), "sqlite")


class _Each(FunctionElement[Any]):
    inherit_cache = True


@compiles(_Each, "sqlite")
def _json_each(element: _Each, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Each, "postgresql")
def _unnest(element: _Each, compiler: SQLCompiler, **options: Any) -> str:
    return f"unnest({compiler.process(element.clauses, **options)})"


def each_of_parameter(name: str) -> FromClause:
    """Return a FROM clause in which each id of the list `name` is a row, in order. Its column is
    `value`.
    """
    return _each(bindparam(name, type_=_IDS))


def _each(listed: BindParameter[Any]) -> FromClause:
    # PostgreSQL gives the column the name of the table, SQLite the name `value`.
    return _Each(listed).table_valued(column("value", BigInteger), name="value")


def id_in(ids_column: SQLColumnExpression[Any], ids: Iterable[int | str]) -> ColumnElement[bool]:
    """Return the condition that the column is one of the ids, which are numbers or texts."""
    listed = bindparam(None, list(ids), type_=_list_type(ids_column), unique=True)
    return _is_listed(ids_column, listed)


def in_parameter(its: SQLColumnExpression[Any], name: str) -> ColumnElement[bool]:
    """Return the condition of `id_in` for a statement that is built once. The parameter `name` is
    the list of ids.
    """
    return _is_listed(its, bindparam(name, type_=_list_type(its)))


def _list_type(its: SQLColumnExpression[Any]) -> TypeEngine[Any]:
    is_text = isinstance(typing.cast(ColumnElement[Any], its).type, String)
    return _TEXTS if is_text else _IDS


def _is_listed(its: SQLColumnExpression[Any], listed: BindParameter[Any]) -> ColumnElement[bool]:
    return ByDialect(
        sqlite=its.in_(select(_each(listed).c.value)), postgresql=its == func.any(listed)
    )


class _Gathered(TypeDecorator[list[int]]):
    impl = Text
    cache_ok = True

    def process_result_value(self, value: str | list[int] | None, dialect: Dialect) -> list[int]:
        return sorted(orjson.loads(value) if isinstance(value, str) else value or ())


def ids_as_array(ids_column: IdColumn) -> ColumnElement[list[int]]:
    """Return the ids of all rows of a subquery as one value, in ascending order. Fetching many rows
    with one number each takes longer than finding them.
    """
    return type_coerce(
        ByDialect(sqlite=func.json_group_array(ids_column), postgresql=func.array_agg(ids_column)),
        _Gathered(),
    )


def key_in(
    columns: Sequence[Column[Any]], keys: Sequence[Sequence[int | str]]
) -> ColumnElement[bool]:
    """Return the condition that some columns together have one of these values. Numbers and texts
    are in separate columns.
    """
    if len(columns) == 1:
        return id_in(columns[0], [key[0] for key in keys])
    return ByDialect(
        sqlite=tuple_(*columns).in_(_json_keys(columns, keys)),
        postgresql=tuple_(*columns).in_(_array_keys(columns, keys)),
    )


def _json_keys(columns: Sequence[Column[Any]], keys: Sequence[Sequence[int | str]]) -> Select[Any]:
    listed = bindparam(None, [list(key) for key in keys], type_=_Json(), unique=True)
    each = _each(listed)
    return select(*(func.json_extract(each.c.value, f"$[{n}]") for n in range(len(columns))))


def _array_keys(columns: Sequence[Column[Any]], keys: Sequence[Sequence[int | str]]) -> Select[Any]:
    lists = [
        bindparam(None, [key[n] for key in keys], type_=postgresql.ARRAY(its.type), unique=True)
        for n, its in enumerate(columns)
    ]
    names = [f"key{n}" for n in range(len(columns))]
    listed = func.unnest(*lists).table_valued(*map(column, names), name="listed").render_derived()
    return select(*listed.c)


# --- tables -------------------------------------------------------------------------------------


@cache
def _insert_of_lists(table: Table, names: tuple[str, ...]) -> Insert:
    """Return an INSERT whose parameters are lists with the values of each column."""
    lists = [bindparam(name, type_=postgresql.ARRAY(table.c[name].type)) for name in names]
    listed = func.unnest(*lists).table_valued(*map(column, names), name="listed").render_derived()
    return insert(table).from_select(names, select(*(listed.c[name] for name in names)))


@cache
def _insert_of_values(table: Table) -> Change:
    return Change(insert(table))


def insert_all(session: Session, table: Table, rows: Sequence[Mapping[str, Json]]) -> None:
    """Add many rows with the same columns. PostgreSQL needs only one statement."""
    if dialect_of(session) == "sqlite":
        _insert_of_values(table).run_all(session, rows)
        return
    names = tuple(rows[0])
    values = {name: [row[name] for row in rows] for name in names}
    session.connection().execute(_insert_of_lists(table, names), values)


if not hasattr(Alias, "_construct"):
    raise ImportError(
        f"SQLAlchemy {sqlalchemy.__version__} has no Alias._construct, which indexed_by uses;"
        " install the versions of constraints.txt"
    )


class _IndexedBy(Alias[Any]):
    inherit_cache = True


@compiles(_IndexedBy, "sqlite")
def _indexed_by(element: _IndexedBy, compiler: SQLCompiler, **options: Any) -> str:
    table = compiler.visit_alias(element, **options)  # type: ignore[no-untyped-call]
    return f"{table} INDEXED BY {element.name}" if options.get("asfrom") else table


def indexed_by(table: FromClause, index: str) -> FromClause:
    """Return the table with an index that SQLite must use. SQLite's planner knows only averages, so
    it would read all rows of a user who has more than others.
    """
    return _IndexedBy._construct(table, name=index)
