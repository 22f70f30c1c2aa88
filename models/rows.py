"""Rows of selects as named tuples or dataclasses. Each value is in the field with its column's
name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import ColumnElement, FromClause, Result, Select
from sqlalchemy.orm import DeclarativeBase
from typing_extensions import TypeVarTuple

from specd.db import Db, Query

R = TypeVar("R")
Columns = TypeVarTuple("Columns")
NO_VALUES: Mapping[str, object] = {}


def columns_of(
    row: type[object], table: FromClause | type[DeclarativeBase]
) -> list[ColumnElement[Any]]:
    """Return the columns of a table for which a row has fields."""
    columns = table.c if isinstance(table, FromClause) else table.__table__.c
    return [columns[name] for name in names_of(row) if name in columns]


def read_rows(row: Callable[..., R], result: Result[*Columns]) -> list[R]:
    """Return all rows of a result. Raise `TypeError` unless its columns have the names of the
    fields.
    """
    return [*map(_maker(row, tuple(result.keys())), result)]


def read_row(row: Callable[..., R], result: Result[*Columns]) -> R | None:
    """Return the first row of a small result, or None if there is none."""
    rows = read_rows(row, result)
    return rows[0] if rows else None


def row_of(row: Callable[..., R], source: object, **others: object) -> R:
    """Return a row with the values of another object's attributes, and with `others`."""
    names = [name for name in names_of(row) if name not in others]
    return row(**{name: getattr(source, name) for name in names}, **others)


class RowQuery(Generic[R]):
    """A prepared query whose rows have a type. Raises `TypeError` unless the columns of the
    statement have the names of the fields.
    """

    def __init__(
        self, row: Callable[..., R], statement: Select[*tuple[Any, ...]], *, one_plan: bool = True
    ) -> None:
        self._query = Query(statement, one_plan=one_plan)
        self._make = _maker(row, tuple(statement.selected_columns.keys()))

    def all(self, db: Db, values: Mapping[str, object] = NO_VALUES) -> list[R]:
        """Return every row."""
        return [*map(self._make, self._query.all(db, values))]

    def first(self, db: Db, values: Mapping[str, object] = NO_VALUES) -> R | None:
        """Return the first row of a small result, or None if there is none."""
        rows = self.all(db, values)
        return rows[0] if rows else None


def names_of(row: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of the fields of a named tuple or a dataclass."""
    names: tuple[str, ...] | None = getattr(row, "_fields", None)
    return names or tuple(field.name for field in fields(cast(Any, row)))


@cache
def _maker(row: Callable[..., R], names: tuple[str, ...]) -> Callable[[Sequence[Any]], R]:
    wanted = names_of(row)
    if sorted(names) != sorted(wanted):
        raise TypeError(f"{row.__name__} has the fields {wanted}, its select the columns {names}")
    make: Callable[[Iterable[Any]], R] | None = getattr(row, "_make", None)
    if make is None:
        return lambda values: row(**dict(zip(names, values, strict=True)))
    if names == wanted:
        return make
    places = [names.index(name) for name in wanted]
    return lambda values: make([values[place] for place in places])
