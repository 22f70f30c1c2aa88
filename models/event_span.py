"""The length of an event log, for the operator's metrics."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Table, select

from specd.db import Db


@dataclass(frozen=True, slots=True)
class EventSpan:
    """The ends of a log. `last_id` is the id of the newest event, or 0 in an empty log. `oldest` is
    the age of the oldest event.
    """

    last_id: int
    oldest: timedelta


def find_span(db: Db, events: Table, *, now: datetime) -> EventSpan:
    """Return the span of a log, with one statement and one index lookup for each end."""
    oldest = select(events.c.at).order_by(events.c.id).limit(1).scalar_subquery()
    newest = select(events.c.id).order_by(events.c.id.desc()).limit(1).scalar_subquery()
    first, last = db.execute(select(oldest, newest)).one()
    return EventSpan(last or 0, timedelta(0) if first is None else now - first)
