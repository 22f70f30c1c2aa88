"""Event queues of members, as `POST /register` opens them, without its snapshot."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from models.chat.identity.actors import find_actor
from models.chat.queues.queues import QueueOptions, find_head, open_queue
from tests.support.chat.people import Member


def open_queue_of(session: Session, member: Member, now: datetime, **options: Any) -> str:
    """The id of a new queue whose first event is the next; `options` are `QueueOptions`'."""
    actor = find_actor(session, member.id)
    assert actor is not None
    return open_queue(
        session,
        actor,
        QueueOptions(**options),
        position=find_head(session, actor.realm_id),
        client="test",
        now=now,
    )
