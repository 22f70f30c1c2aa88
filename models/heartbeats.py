"""Heartbeats of a service's workers, which `specd worker` writes."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Table, select

from models.rows import columns_of, read_rows
from specd.db import Db


class Heartbeat(NamedTuple):
    """The time when a worker last ran without a failure."""

    name: str
    seen_at: datetime


def find_heartbeats(db: Db, table: Table) -> Sequence[Heartbeat]:
    """Return the heartbeat of each worker."""
    rows = select(*columns_of(Heartbeat, table)).order_by(table.c.name)
    return read_rows(Heartbeat, db.execute(rows))
