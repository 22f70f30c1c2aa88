"""Opens event queues of members without the snapshot of `POST /register`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.people import find_visible_user_ids
from models.chat.identity.actors import find_actor
from models.chat.queues.queues import QueueOptions, find_head, open_queue
from models.chat.tables import EventQueue
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Member
from tests.support.frozen_clock import FrozenClock


def open_queue_of(session: Session, member: Member, now: datetime, **options: Any) -> str:
    """Open a queue that starts after the newest event. Return its id."""
    actor = find_actor(session, member.id)
    assert actor is not None
    return open_queue(
        session,
        actor,
        QueueOptions(**options),
        position=find_head(session, actor.realm_id),
        client="test",
        now=now,
        visible_ids=find_visible_user_ids(session, actor),
    )


class Place:
    """A client's queue, and the last event that it has read."""

    def __init__(self, client: ChatClient, queue_id: str, seen: int) -> None:
        self.client, self.queue_id, self.seen = client, queue_id, seen

    def query(self, **more: Any) -> dict[str, Any]:
        return {"queue_id": self.queue_id, "last_event_id": self.seen, **more}

    def read(self) -> list[dict[str, Any]]:
        """Return new events without waiting. The next read acknowledges them."""
        answer = self.client.get("/events", **self.query(dont_block=True))
        assert answer["result"] == "success", answer
        if answer["events"]:
            self.seen = answer["events"][-1]["id"]
        return list(answer["events"])


class Queues:
    """Opens queues in a test's database."""

    def __init__(self, database: Database, clock: FrozenClock) -> None:
        self._database, self._clock = database, clock

    def open(self, client: ChatClient, **options: Any) -> Place:
        member = client.member
        assert member is not None
        now = self._clock.now()
        queue_id = self._database.run(lambda s: open_queue_of(s, member, now, **options))
        with self._database.reading() as reader:
            position = select(EventQueue.position).where(EventQueue.id == queue_id)
            return Place(client, queue_id, reader.execute(position).scalar_one())
