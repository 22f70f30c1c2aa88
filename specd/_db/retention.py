"""How long rows are kept: a rule per table, and the deletion of one small batch of old rows.

Each service lists its rules, and beside them the tables that keep their rows for ever, with the
reason. A worker follows the rules (specd/_workers/retention.py); a test reads the tables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, Select, Table, delete, literal, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

N = TypeVar("N")
Forget = Callable[[Session, datetime, int], bool]
"""Deletes up to so many rows that are older than a time; returns whether there were any."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How long the rows of one table are kept.

    `setting` is the key of `Settings.retention_s`; None where it is not a matter of time.
    `forget` deletes one batch in the caller's unit of work. It skips rows that are locked, so that
    any number of workers share the work.
    """

    table: str
    setting: str | None
    forget: Forget


@dataclass(frozen=True, slots=True)
class Policy:
    """What one service keeps: `rules` by time, `kept` by another reason (table -> why)."""

    rules: tuple[Rule, ...]
    kept: Mapping[str, str]


def older_than(
    age: InstrumentedAttribute[Any], setting: str, *, only: ColumnElement[bool] | None = None
) -> Rule:
    """Return the rule that rows go by the time in `age`, which has an index; `only`: those rows."""
    table = cast(Table, age.class_.__table__)
    column = table.c[age.key]

    def forget(session: Session, before: datetime, limit: int) -> bool:
        old = select(*table.primary_key).where(column < before)
        if only is not None:
            old = old.where(only)
        old = old.order_by(column).limit(limit).with_for_update(of=table, skip_locked=True)
        return bool(_delete(session, table, old))

    return Rule(table.name, setting, forget)


def first_in_first_out(
    age: InstrumentedAttribute[Any],
    setting: str,
    *,
    note: Callable[[Session, Sequence[N]], None] | None = None,
    noted: Sequence[InstrumentedAttribute[Any]] = (),
) -> Rule:
    """Return the same for a table that is only appended to: its oldest rows have its lowest ids.

    The primary key leads to them, so that a table that is written all the time needs no index on
    time. A row whose clock was ahead goes late, never early. `note` gets the columns `noted` of
    the rows that are deleted, in the same unit of work.
    """
    table = cast(Table, age.class_.__table__)
    key = tuple(table.primary_key)

    def forget(session: Session, before: datetime, limit: int) -> bool:
        first = select(*key, table.c[age.key]).order_by(*key).limit(limit).subquery()
        old = select(*(first.c[column.name] for column in key))
        gone = _delete(session, table, old.where(first.c[age.key] < before), noted)
        if gone and note is not None:
            note(session, cast(Sequence[N], gone))
        return bool(gone)

    return Rule(table.name, setting, forget)


def _delete(
    session: Session,
    table: Table,
    old: Select[Any],
    noted: Sequence[InstrumentedAttribute[Any]] = (),
) -> Sequence[object]:
    """Delete rows; return the columns `noted` of each."""
    columns: list[ColumnElement[Any]] = [table.c[each.key] for each in noted]
    gone = session.connection().execute(
        delete(table)
        .where(tuple_(*table.primary_key).in_(old))
        .returning(*(columns or [literal(1)]))
    )
    return gone.all()
