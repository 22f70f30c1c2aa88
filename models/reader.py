"""What a read may run on, which database answers it, and what each dialect says in its own way:
upserts, and long lists of ids.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    SQLColumnExpression,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    select,
    type_coerce,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.types import NullType

Db = Connection | Session
"""What a read may run on: a Core connection of a GET, or the session of a write unit."""

UNIT_CONNECTION = "connection"
"""Key of `Session.info`, in a unit of work: its connection. A session walks through its
transactions to find it, which takes longer than some statements.
"""
Listed = TypeVar("Listed", int, str)
Upsert = postgresql.Insert | sqlite.Insert
"""An INSERT with `on_conflict_do_update` and `on_conflict_do_nothing`."""

UPSERTS: Mapping[str, Callable[[Table | type[DeclarativeBase]], Upsert]] = {
    "postgresql": postgresql.insert,
    "sqlite": sqlite.insert,
}
"""Dialect -> the maker of its upserts into a table, for statements that are prebuilt."""


def dialect_of(db: Db) -> str:
    """`sqlite` or `postgresql`."""
    bind = db.get_bind() if isinstance(db, Session) else db
    return bind.dialect.name


def upsert(session: Session, table: Table | type[DeclarativeBase]) -> Upsert:
    """An upsert into a table or a mapped class, in the dialect of the session's database."""
    return UPSERTS[dialect_of(session)](table)


# --- long lists of ids: one bound value, so that thousands cost no more to compile -------------

INT_MAX = 2_147_483_647
"""The largest value of an integer column; ids are such columns."""


IdColumn = SQLColumnExpression[int | None]
"""A column of ids, null or not."""


def id_in(db: Db, ids_column: IdColumn, ids: Iterable[int]) -> ColumnElement[bool]:
    """The condition that the column is one of the ids."""
    if dialect_of(db) == "sqlite":
        text: BindParameter[str] = bindparam(None, orjson.dumps(list(ids)).decode(), unique=True)
        values = func.json_each(text).table_valued(column("value", Integer))
        return ids_column.in_(select(values.c.value))
    array: BindParameter[Any] = bindparam(None, list(ids), type_=ARRAY(BigInteger), unique=True)
    return ids_column == func.any(array)


def bound_id_in(dialect: str, ids_column: IdColumn, name: str) -> ColumnElement[bool]:
    """The same for a statement that is built once: the ids are its parameter `name`, as
    `bound_ids` makes it.
    """
    if dialect == "sqlite":
        values = func.json_each(bindparam(name)).table_valued(column("value", Integer))
        return ids_column.in_(select(values.c.value))
    return ids_column == func.any(bindparam(name, type_=ARRAY(BigInteger)))


def bound_text_in(
    dialect: str, texts_column: SQLColumnExpression[str], name: str
) -> ColumnElement[bool]:
    """The same for a column of texts."""
    if dialect == "sqlite":
        values = func.json_each(bindparam(name)).table_valued(column("value", Text))
        return texts_column.in_(select(values.c.value))
    return texts_column == func.any(bindparam(name, type_=ARRAY(Text)))


def bound_each(dialect: str, name: str) -> ColumnElement[int]:
    """A row for each of the ids, in their order: the column to select them by."""
    if dialect == "sqlite":
        found = func.json_each(bindparam(name)).table_valued(column("value", Integer))
    else:
        ids: BindParameter[Any] = bindparam(name, type_=ARRAY(BigInteger))
        found = func.unnest(ids).table_valued(column("value", BigInteger)).render_derived()
    each: ColumnElement[int] = found.c.value
    return each


def bound_ids(dialect: str, ids: Sequence[Listed]) -> str | list[Listed]:
    """The value of such a parameter."""
    return orjson.dumps(ids).decode() if dialect == "sqlite" else list(ids)


def gathered_ids(dialect: str, ids_column: IdColumn) -> ColumnElement[str | list[int] | None]:
    """The ids of all rows of a subquery as one value, which `read_ids` reads: many rows that hold
    one number each take longer to fetch than to find.
    """
    make = func.json_group_array if dialect == "sqlite" else func.array_agg
    gathered: ColumnElement[str | list[int] | None] = type_coerce(make(ids_column), NullType())
    return gathered


def byte_length(dialect: str, of: SQLColumnExpression[Any]) -> ColumnElement[int]:
    """The bytes of a text; null of null."""
    if dialect == "sqlite":
        return func.length(cast(of, LargeBinary))
    return func.octet_length(of)


def read_ids(gathered: str | list[int] | None) -> list[int]:
    """The ids that were gathered, ascending; none of a subquery without rows."""
    found: list[int] = orjson.loads(gathered) if isinstance(gathered, str) else gathered or []
    return sorted(found)
