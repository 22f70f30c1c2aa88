"""Pages as ranges of an index, so that a database has only one plan for them (decision 68).

For `project_id = ? ORDER BY created_at`, a planner compares all indexes that begin with the project
with the index that has the order, using estimates of the rows. It chooses different plans for one
statement with and without statistics, in another release of the database, and for a merchant who
has nearly all rows. A range of row values, in the order of all columns of an index, can use only
that index.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    FromClause,
    String,
    and_,
    column,
    literal,
    tuple_,
    type_coerce,
    values,
)
from sqlalchemy.orm import QueryableAttribute

from models.dialects import ByDialect

AnyColumn = ColumnElement[Any] | QueryableAttribute[Any]
Place = tuple[object, ...]
"""Values of the ordered columns, or of the first of them."""
FIRST, LAST = (-(2**63),), (2**63 - 1,)
"""Values before and after all stored numbers and times."""
ENDS = (FIRST, LAST)


class IndexRange:
    """An index in which rows with the same values of `first` are ordered by a number or a time, and
    then by the other columns of `ordered`. Times are Unix milliseconds.
    """

    def __init__(self, first: Sequence[AnyColumn], ordered: Sequence[AnyColumn]) -> None:
        self._first = [_plain(each) for each in first]
        self.ordered = [_plain(each) for each in ordered]
        self._is_numbered = bool(ordered[0].primary_key)

    def rows(
        self,
        *first: object,
        since: Place = FIRST,
        behind: Place | None = None,
        before: Place = LAST,
    ) -> ColumnElement[bool]:
        """Return the condition that rows have these first values, which may be columns of another
        table, and are in a range: from `since` on, or after `behind` if it is given, and before
        `before`.
        """
        its = [_expression(each) for each in first]
        bounds = [(operator.ge, since) if behind is None else (operator.gt, behind)]
        bounds.append((operator.lt, before))
        rows = and_(
            *(_compared([*self._first, *self.ordered], (*its, *place), by) for by, place in bounds)
        )
        # SQLite cannot compare row values with an index that ends in the row number.
        numbered = and_(
            *(mine == other for mine, other in zip(self._first, its, strict=True)),
            *(_compared(self.ordered, place, by) for by, place in bounds if place not in ENDS),
        )
        # These conditions follow from the others. They help PostgreSQL estimate the number of rows
        # without statistics.
        of_first = and_(self._first[0] >= its[0], self._first[0] <= its[0])
        return ByDialect(
            sqlite=numbered if self._is_numbered else rows, postgresql=and_(rows, of_first)
        )

    @property
    def ascending(self) -> Sequence[ColumnElement[Any]]:
        """The order of the index, for `order_by`."""
        return [*self._first, *self.ordered]

    @property
    def descending(self) -> Sequence[ColumnElement[Any]]:
        """The reverse order of the index, for `order_by`."""
        return [each.desc() for each in self.ascending]


def without_index(column: AnyColumn) -> ColumnElement[Any]:
    """Return the column as an expression for which no index is used, so that other conditions
    select the index. Times are Unix milliseconds.
    """
    plain = _plain(column)
    return plain + "" if isinstance(plain.type, String) else plain + 0


def join_values(rows: Sequence[Sequence[object]], *columns: Column[Any]) -> FromClause:
    """Return a FROM clause in which each of these rows is looked up by an index of the columns. For
    `(a, b) IN (...)`, SQLite 3.40 would read the complete index.
    """
    table = values(*(column(each.name, each.type) for each in columns), name="wanted")
    wanted = table.data([tuple(row) for row in rows]).cte("wanted")
    return wanted.join(columns[0].table, and_(*(each == wanted.c[each.name] for each in columns)))


def _compared(
    columns: Sequence[ColumnElement[Any]],
    place: Place,
    compare: Callable[[Any, Any], ColumnElement[bool]],
) -> ColumnElement[bool]:
    its = [_expression(each) for each in place]
    if len(its) == 1:
        return compare(columns[0], its[0])
    return compare(tuple_(*columns[: len(its)]), tuple_(*its))


def _expression(its: object) -> ColumnElement[Any]:
    return its if isinstance(its, ColumnElement) else literal(its)


def _plain(its: AnyColumn) -> ColumnElement[Any]:
    return type_coerce(its, String if isinstance(its.type, String) else BigInteger)
