"""How long events are kept: as long as the setting says, and until every live queue has passed.
What said something for a moment only goes after that moment.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session, aliased

from models.chat.queues.ephemeral import LASTS
from models.chat.tables import Event, EventQueue
from models.chat.tables.log import EPHEMERAL

LONGEST_HOLD = timedelta(days=7)
"""For a queue that is polled but never moves on."""


def forget_events(session: Session, before: datetime, limit: int) -> bool:
    """Delete up to `limit` of the oldest events from before that time; says whether there were any.

    A queue that has not seen an event holds it, and what comes after it, for seven days more; then
    the queue goes too, so a queue that exists has missed nothing.
    """
    oldest = session.execute(select(Event.id, Event.at).order_by(Event.id).limit(limit)).all()
    alive = EventQueue.expires_at > before
    held = session.execute(select(func.min(EventQueue.position)).where(alive)).scalar()
    gone = [
        row.id
        for row in oldest
        if row.at < before and (held is None or row.id <= held or row.at < before - LONGEST_HOLD)
    ]
    if not gone:
        return False
    if held is not None and gone[-1] > held:
        missed = exists().where(
            Event.realm_id == EventQueue.realm_id,
            Event.id > EventQueue.position,
            Event.id.in_(gone),
        )
        session.execute(delete(EventQueue).where(EventQueue.position < gone[-1], missed))
    session.execute(delete(Event).where(Event.id.in_(gone)))
    return True


_newer = aliased(Event)
_HEAD = select(func.max(_newer.id)).where(_newer.realm_id == Event.realm_id).scalar_subquery()
"""Of the realm of an event: the id of its newest event, by which clients know where they are."""


def forget_ephemeral_events(session: Session, now: datetime, limit: int) -> bool:
    """Delete up to `limit` events whose moment is over, from between the others.

    The newest event of a realm stays: a queue knows its place by it.
    """
    over = now - max(LASTS.values())
    gone = (
        select(Event.id)
        .where(EPHEMERAL, Event.at < over, Event.id < _HEAD)
        .order_by(Event.at)
        .limit(limit)
        .with_for_update(of=Event, skip_locked=True)
    )
    ids = session.execute(gone).scalars().all()
    if ids:
        session.execute(delete(Event).where(Event.id.in_(ids)))
    return bool(ids)
