"""Retention of rows: one rule per table, and the deletion of one small batch of old rows.

Each service lists its rules, which a worker applies (specd/_workers/retention.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import ColumnElement, Select, Table, delete, literal, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

N = TypeVar("N")
Delete = Callable[[Session, datetime, int], bool]
"""Deletes at most a number of rows that are older than a time, and returns whether there
were any.
"""
DAY_S = 86_400


class HasPeriods(Protocol):
    """The settings, which contain the periods that an operator has set."""

    @property
    def retention_s(self) -> Mapping[str, int]: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule by which old rows of one table are deleted.

    A service lists its rules as `retention` in the module `NAME.retention`, and the worker
    NAME_retention applies them.

    `period` is the name of the retention period, whose default length is `days`. An operator sets
    another number of seconds in the variable that is named after it: `events` in
    `SPECD_EVENTS_RETENTION_S`. Rules with the same period must have the same `days`. `help`
    explains the variable to operators. The period is None if the deletion does not depend on the
    age of a row.

    `delete_expired(session, before, limit)` deletes a batch of rows that are older than `before`
    and returns whether there were any. It should skip locked rows, so that workers can share the
    work.
    """

    table: str
    period: str | None
    delete_expired: Delete
    days: float = 0
    help: str = ""

    def retention(self, settings: HasPeriods) -> timedelta:
        """Return the length of the rule's period."""
        if self.period is None:
            return timedelta(0)
        return timedelta(seconds=settings.retention_s.get(self.period, self.days * DAY_S))


def older_than(
    age: InstrumentedAttribute[Any],
    period: str,
    *,
    days: float,
    help: str = "",
    only: ColumnElement[bool] | None = None,
    by_key: bool = False,
    note: Callable[[Session, Sequence[N]], None] | None = None,
    noted: Sequence[InstrumentedAttribute[Any]] = (),
) -> Rule:
    """Return a rule that deletes rows by the time in the column `age`.

    Rows are kept for `days`, unless an operator sets another time for the `period` (see `Rule`).
    The column must have an index. With the condition `only`, rows that do not satisfy it are kept.

    With `by_key`, the old rows are found by the primary key, because the oldest rows have the
    lowest ids. A table with many inserts then needs no index on the time. If a clock was ahead,
    rows are deleted late, but never early.

    `note(session, rows)` is called in the same unit of work. Its `rows` are the columns `noted` of
    the deleted rows.
    """
    table = cast(Table, age.class_.__table__)
    key = tuple(table.primary_key)
    column = table.c[age.key]

    def find_by_time(before: datetime, limit: int) -> Select[Any]:
        old = select(*key).where(column < before)
        if only is not None:
            old = old.where(only)
        return old.order_by(column).limit(limit).with_for_update(of=table, skip_locked=True)

    def find_by_key(before: datetime, limit: int) -> Select[Any]:
        first = select(*key, column).order_by(*key).limit(limit)
        if only is not None:
            first = first.where(only)
        found = first.subquery()
        return select(*(found.c[each.name] for each in key)).where(found.c[column.name] < before)

    def delete_expired(session: Session, before: datetime, limit: int) -> bool:
        old = (find_by_key if by_key else find_by_time)(before, limit)
        gone = _delete(session, table, old, noted)
        if gone and note is not None:
            note(session, cast(Sequence[N], gone))
        return bool(gone)

    return Rule(table.name, period, delete_expired, days, help)


def _delete(
    session: Session,
    table: Table,
    old: Select[Any],
    noted: Sequence[InstrumentedAttribute[Any]],
) -> Sequence[object]:
    """Delete rows and return the columns `noted` of each."""
    columns: list[ColumnElement[Any]] = [table.c[each.key] for each in noted]
    gone = session.connection().execute(
        delete(table)
        .where(tuple_(*table.primary_key).in_(old))
        .returning(*(columns or [literal(1)]))
    )
    return gone.all()
