"""Work queues: rows of a table, each with a due time, which several workers share.

To claim a row, a worker increases its attempts and moves its due time to the end of a lease. So if
the worker dies, the row is due again. The outcome of an attempt counts only while the claim is
valid. If two workers query at the same time, the second skips the rows that the first has locked
(PostgreSQL) or waits (SQLite).
"""

import random
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    Table,
    bindparam,
    func,
    literal,
    select,
    true,
    update,
)
from sqlalchemy.orm import Session

from specd._db.database import Database

T = TypeVar("T")
Columns = TypeVar("Columns", bound=tuple[Any, ...])


class Claim(Protocol):
    """A claimed row, and the number of the attempt."""

    @property
    def id(self) -> int: ...
    @property
    def attempts(self) -> int: ...


class WorkQueue:
    """A work queue in a table with `id`, `next_try_at` and `attempts`. Open rows are those in one
    of `states`, or all rows without `states`. `pauses` are the pauses after the first attempt, the
    second, and so on.
    """

    MAX_COUNTED = 10_000
    """The maximum that `backlog_at` and `count_up_to` count."""

    def __init__(
        self, table: Table, *states: str, pauses: Sequence[timedelta] = (), jitter: float = 0.0
    ) -> None:
        self._table, self.pauses, self.jitter = table, pauses, jitter
        self._is_open: ColumnElement[bool] = true()
        # The condition must be like that of the partial index, or the databases do not use the
        # index: with literals, and "=" for one state.
        words = [literal(state, literal_execute=True) for state in states]
        if words:
            state = table.c.state
            self._is_open = state == words[0] if len(words) == 1 else state.in_(words)
        self._is_due = self._is_open & (table.c.next_try_at <= bindparam("at"))
        self._any = select(table.c.id).where(self._is_due).limit(1)
        self.first = self.due(select(*table.c)).limit(1)

    def backlog_at(self, now: datetime) -> tuple[ColumnElement[Any], ...]:
        """Return three expressions: the number of open rows, the number of due rows, and the time
        at which the first of these became due. Each count reads at most `MAX_COUNTED` rows of an
        index.
        """
        times = select(self._table.c.next_try_at)
        due = times.where(self._is_open, self._table.c.next_try_at <= now)
        first = due.order_by(self._table.c.next_try_at).limit(1).scalar_subquery()
        return self.count_up_to(times.where(self._is_open)), self.count_up_to(due), first

    @classmethod
    def count_up_to(cls, rows: Select[*tuple[Any, ...]]) -> ScalarSelect[int]:
        """Return the expression for the number of rows, at most `MAX_COUNTED`."""
        some = rows.limit(cls.MAX_COUNTED).subquery()
        return select(func.count()).select_from(some).scalar_subquery()

    @staticmethod
    def next_try(
        attempts: int, pauses: Sequence[timedelta], jitter: float, now: datetime
    ) -> datetime | None:
        """Return the time of the next attempt, or None if there are more attempts than pauses.

        A pause is extended by a random fraction of it, at most `jitter`, so that rows that failed
        together are not tried again together.
        """
        if attempts > len(pauses):
            return None
        return now + pauses[attempts - 1] * random.uniform(1.0, 1.0 + jitter)

    def try_run(
        self, database: Database, work: Callable[[Session], T], *, now: datetime
    ) -> T | None:
        """If a row is due, run `work` in a unit of work and return its result, otherwise return
        None. The check locks nothing.
        """
        with database.reading() as reader:
            if reader.execute(self._any, {"at": now}).first() is None:
                return None
        return database.run(work)

    def due(self, query: Select[Columns]) -> Select[Columns]:
        """Return the query for rows that are due at the parameter `at`, the longest due first. It
        locks the rows.
        """
        return self.listed(query.with_for_update(skip_locked=True, of=self._table))

    def listed(self, query: Select[Columns]) -> Select[Columns]:
        """Return the query for rows that are due at the parameter `at`, the longest due first."""
        order = self._table.c.next_try_at, self._table.c.id
        return query.where(self._is_due).order_by(*order)

    def claimed(self, claim: Claim) -> Select[*tuple[Any, ...]]:
        """Return the query for a claimed row. It finds no row if the claim is no longer valid."""
        return select(*self._table.c).where(self._is_claimed(claim))

    def is_valid(self, session: Session, claim: Claim) -> bool:
        """Return whether the claim is valid. If so, lock the row until the unit of work ends."""
        locked = self.claimed(claim).with_for_update()
        return session.connection().execute(locked).first() is not None

    def claim(
        self, session: Session, ids: Collection[int], *, until: datetime, **more: Any
    ) -> None:
        """Claim rows that this unit of work has locked, until the time `until`."""
        self._count(session, ids, 1, next_try_at=until, **more)

    def release(self, session: Session, ids: Collection[int], *, now: datetime) -> None:
        """Release unused claims. The rows are due immediately, and the attempt does not count."""
        self._count(session, ids, -1, next_try_at=now)

    def change(self, session: Session, claim: Claim, **values: Any) -> bool:
        """Change a claimed row. Return False if the claim is no longer valid."""
        changed = update(self._table).where(self._is_claimed(claim)).values(values)
        return session.connection().execute(changed).rowcount == 1

    def reschedule(self, session: Session, claim: Claim, *, now: datetime, **more: Any) -> bool:
        """Schedule a claimed row again after a pause. Return False if there are no more pauses."""
        later = self.next_try(claim.attempts, self.pauses, self.jitter, now)
        if later is not None:
            self.change(session, claim, next_try_at=later, **more)
        return later is not None

    def is_exhausted(self, row: Claim) -> bool:
        """Return whether a row has had its maximum number of attempts."""
        return row.attempts > len(self.pauses)

    def _is_claimed(self, claim: Claim) -> ColumnElement[bool]:
        columns = self._table.c
        return self._is_open & (columns.id == claim.id) & (columns.attempts == claim.attempts)

    def _count(self, session: Session, ids: Collection[int], by: int, **values: Any) -> None:
        columns = self._table.c
        rows = update(self._table).where(columns.id.in_(sorted(ids)))
        session.connection().execute(rows.values(attempts=columns.attempts + by, **values))
