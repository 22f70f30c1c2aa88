"""How long an event log is, for the operator's metrics."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Table, select

from specd.db import Db


@dataclass(frozen=True, slots=True)
class EventSpan:
    """`last_id` is the newest event's, 0 in an empty log; `oldest` is the age of the oldest one."""

    last_id: int
    oldest: timedelta


def find_span(db: Db, events: Table, *, now: datetime) -> EventSpan:
    """Return the span of a log, by one statement that looks up an index for each end."""
    oldest = select(events.c.at).order_by(events.c.id).limit(1).scalar_subquery()
    newest = select(events.c.id).order_by(events.c.id.desc()).limit(1).scalar_subquery()
    first, last = db.execute(select(oldest, newest)).one()
    return EventSpan(last or 0, timedelta(0) if first is None else now - first)
