"""Retention of events: at least as long as the setting requires, and until no live queue needs
them.

Ephemeral events are useful only for a moment and are deleted soon.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session, aliased

from models.chat.presence.view import OFFLINE_AFTER
from models.chat.tables import Event, EventQueue
from models.chat.tables.log import EPHEMERAL

LASTS: Mapping[str, timedelta] = {
    "presence": OFFLINE_AFTER,
    "typing": timedelta(seconds=15),
    "typing_edit_message": timedelta(seconds=15),
}
"""Type of ephemeral events -> how long clients get them. The condition of their index is
`models.chat.tables.log.EPHEMERAL`.
"""
LONGEST_DELAY = timedelta(days=7)
"""For a queue that is polled but never advances."""


def forget_events(session: Session, before: datetime, limit: int) -> bool:
    """Delete up to `limit` of the oldest events from before a time. Return whether there were any.

    Events that a queue has not received are kept for seven more days. Then the queue is deleted
    too, so that no queue misses an event.
    """
    oldest = session.execute(select(Event.id, Event.at).order_by(Event.id).limit(limit)).all()
    alive = EventQueue.expires_at > before
    position = session.execute(select(func.min(EventQueue.position)).where(alive)).scalar()
    event_ids = [
        row.id
        for row in oldest
        if row.at < before
        and (position is None or row.id <= position or row.at < before - LONGEST_DELAY)
    ]
    if not event_ids:
        return False
    if position is not None and event_ids[-1] > position:
        missed = exists().where(
            Event.realm_id == EventQueue.realm_id,
            Event.id > EventQueue.position,
            Event.id.in_(event_ids),
        )
        session.execute(delete(EventQueue).where(EventQueue.position < event_ids[-1], missed))
    session.execute(delete(Event).where(Event.id.in_(event_ids)))
    return True


_newer = aliased(Event)
_HEAD = select(func.max(_newer.id)).where(_newer.realm_id == Event.realm_id).scalar_subquery()
"""The id of the newest event in an event's realm."""


def forget_ephemeral_events(session: Session, now: datetime, limit: int) -> bool:
    """Delete up to `limit` expired ephemeral events. Return whether there were any.

    The newest event of a realm is kept, because positions of queues are compared with it.
    """
    over = now - max(LASTS.values())
    expired = (
        select(Event.id)
        .where(EPHEMERAL, Event.at < over, Event.id < _HEAD)
        .order_by(Event.at)
        .limit(limit)
        .with_for_update(of=Event, skip_locked=True)
    )
    ids = session.execute(expired).scalars().all()
    if ids:
        session.execute(delete(Event).where(Event.id.in_(ids)))
    return bool(ids)
