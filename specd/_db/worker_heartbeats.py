"""Heartbeats of workers: one row for each name, which is written by every process with this worker.

They reveal a missing worker even if there is nothing for it to do.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Table, delete, select
from sqlalchemy.orm import Session

from specd._db.base import upsert
from specd._db.reader import Db


class Heartbeat(NamedTuple):
    """The last time at which a worker ran without a failure."""

    name: str
    seen_at: datetime


def record_heartbeats(
    session: Session, table: Table, names: Collection[str], now: datetime
) -> None:
    """Record that the named workers run. `names` must not be empty."""
    rows = upsert(table).values([{"name": name, "seen_at": now} for name in sorted(names)])
    session.connection().execute(
        rows.on_conflict_do_update(
            index_elements=[table.c.name], set_={"seen_at": rows.excluded.seen_at}
        )
    )


def expect_heartbeats(
    session: Session, table: Table, names: Collection[str], now: datetime
) -> None:
    """Expect the named workers from now on, and no others, so that a worker that never starts is
    also reported.
    """
    session.connection().execute(delete(table).where(table.c.name.not_in(names)))
    rows = upsert(table).values([{"name": name, "seen_at": now} for name in sorted(names)])
    session.connection().execute(rows.on_conflict_do_nothing())


def find_heartbeats(db: Db, table: Table) -> Sequence[Heartbeat]:
    """Return the heartbeat of each worker."""
    rows = db.execute(select(table.c.name, table.c.seen_at).order_by(table.c.name))
    return [Heartbeat(name, seen_at) for name, seen_at in rows]
