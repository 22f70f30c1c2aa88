"""Event queues in the database: opened with a snapshot, read by any process, deleted if they are
not polled.

A process stores the positions of its clients together, at intervals (`write_down`). An older
position is always safe, because a client sends the id of the last event that it has received.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

import orjson
from sqlalchemy import BigInteger, bindparam, case, delete, func, select, update
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.organization import HeartbeatEvent
from models.chat.identity.actors import Actor
from models.chat.queues.errors import BadEventQueueId
from models.chat.queues.narrow import Narrow
from models.chat.reading.terms import Term
from models.chat.tables import Event, EventQueue
from specd.db import Db, UtcMs, table_of

MAX_QUEUES = 100
"""Maximum number of queues of a user. A new queue replaces the queue that has not been polled for
the longest time.
"""
LONGEST_POLL = timedelta(seconds=60)
GRACE = timedelta(seconds=15)
"""Extra time for a queue whose position is stored late."""
DEFAULT_IDLE_TIMEOUT_S = 600
FROM_THE_START = -1
"""The `last_event_id` of a client that has received no event of its queue yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """Options that select and format the events for a queue's client.

    If `event_types` is None, the client gets all types. `capabilities` are the names of the
    client's capabilities.
    """

    event_types: frozenset[str] | None = None
    narrow: Narrow = ()
    all_public_streams: bool = False
    apply_markdown: bool = False
    client_gravatar: bool = True
    slim_presence: bool = False
    capabilities: frozenset[str] = frozenset()
    idle_timeout_s: int = DEFAULT_IDLE_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Queue:
    """An open queue."""

    id: str
    realm_id: int
    user_id: int
    position: int
    options: QueueOptions
    known_people: str | None = None


def find_head(db: Db, realm_id: int) -> int:
    """Return the id of the newest event of a realm, or 0 if there is none."""
    return int(db.execute(_HEAD, {"realm_id": realm_id}).scalar() or 0)


_HEAD = select(func.max(Event.id)).where(Event.realm_id == bindparam("realm_id"))


def open_queue(
    session: Session,
    actor: Actor,
    options: QueueOptions,
    *,
    position: int,
    client: str,
    now: datetime,
    visible_ids: Collection[int] | None = None,
) -> str:
    """Open a queue whose first event is the next after `position`. Return its id.

    `visible_ids` are the users that its reader may see, or None for all users.
    """
    queue = EventQueue(
        id=str(uuid.uuid4()),
        realm_id=actor.realm_id,
        user_id=actor.id,
        client=client,
        event_types=None
        if options.event_types is None
        else orjson.dumps(sorted(options.event_types)).decode(),
        narrow=orjson.dumps([[t.operator, t.operand, t.negated] for t in options.narrow]).decode(),
        capabilities=orjson.dumps(sorted(options.capabilities)).decode(),
        all_public_streams=options.all_public_streams,
        apply_markdown=options.apply_markdown,
        client_gravatar=options.client_gravatar,
        slim_presence=options.slim_presence,
        known_people=_digest(visible_ids),
        position=position,
        idle_timeout_s=options.idle_timeout_s,
        created_at=now,
        polled_until=now,
        expires_at=_expiry(now, options.idle_timeout_s),
    )
    session.execute(delete(EventQueue).where(EventQueue.id.in_(_STALEST)), {"user_id": actor.id})
    session.add(queue)
    return queue.id


_STALEST = (
    select(EventQueue.id)
    .where(EventQueue.user_id == bindparam("user_id"))
    .order_by(EventQueue.polled_until.desc(), EventQueue.id)
    .limit(2 * MAX_QUEUES)
    .offset(MAX_QUEUES - 1)
)
_QUEUE = table_of(EventQueue)
_BY_ID = select(
    _QUEUE,
    select(func.max(Event.id))
    .where(Event.realm_id == EventQueue.realm_id)
    .scalar_subquery()
    .label("head"),
).where(
    EventQueue.id == bindparam("queue_id"),
    EventQueue.user_id == bindparam("user_id"),
    EventQueue.expires_at > bindparam("now", type_=UtcMs),
)


def access_queue(db: Db, actor: Actor, queue_id: str, *, now: datetime) -> tuple[Queue, int]:
    """Return the actor's queue and the head of its log (`find_head`), with one statement. Raise
    `BadEventQueueId`.
    """
    row = db.execute(_BY_ID, {"queue_id": queue_id, "user_id": actor.id, "now": now}).first()
    if row is None:
        raise BadEventQueueId(queue_id=queue_id)
    queue = Queue(
        row.id,
        row.realm_id,
        row.user_id,
        row.position,
        QueueOptions(
            event_types=None
            if row.event_types is None
            else frozenset(orjson.loads(row.event_types)),
            narrow=tuple(Term(*term) for term in orjson.loads(row.narrow)),
            all_public_streams=row.all_public_streams and not actor.is_guest,
            apply_markdown=row.apply_markdown,
            client_gravatar=row.client_gravatar,
            slim_presence=row.slim_presence,
            capabilities=frozenset(orjson.loads(row.capabilities)),
            idle_timeout_s=row.idle_timeout_s,
        ),
        row.known_people,
    )
    return queue, row.head or 0


def check_position(queue: Queue, last_event_id: int, head: int) -> int:
    """Return the position of a client that has received `last_event_id`.

    Raise `BadEventQueueId` for an id that the queue never had or no longer has, because most
    clients repeat the request endlessly after any other error.
    """
    if last_event_id == FROM_THE_START:
        return queue.position
    if not queue.position <= last_event_id <= max(head, queue.position):
        raise BadEventQueueId(queue_id=queue.id)
    return last_event_id


def require_same_knowledge(queue: Queue, visible_ids: Collection[int] | None) -> None:
    """Raise `BadEventQueueId` if the set of visible users has changed since the queue was opened.
    No event reports this change, so the client needs a new snapshot.
    """
    if _digest(visible_ids) != queue.known_people:
        raise BadEventQueueId(queue_id=queue.id)


def _digest(user_ids: Collection[int] | None) -> str | None:
    if user_ids is None:
        return None
    return sha256(",".join(map(str, sorted(user_ids))).encode()).hexdigest()


def close_queue(session: Session, actor: Actor, queue_id: str, *, now: datetime) -> None:
    """Delete the actor's queue and end its poll in every process. Raise `BadEventQueueId`."""
    deleted = session.execute(
        delete(EventQueue)
        .where(EventQueue.id == queue_id, EventQueue.user_id == actor.id)
        .returning(EventQueue.id)
    ).first()
    if deleted is None:
        raise BadEventQueueId(queue_id=queue_id)
    log.append(
        session, actor.realm_id, HeartbeatEvent(queue_id=queue_id), user_ids=[actor.id], now=now
    )


@dataclass(frozen=True, slots=True)
class Poll:
    """The position of a queue's client, and the time until which it polls."""

    queue_id: str
    position: int
    until: datetime
    idle_timeout_s: int


def write_down(session: Session, polls: Sequence[Poll]) -> None:
    """Store the positions of clients, sorted by queue id to avoid deadlocks between processes."""
    if polls:
        session.connection().execute(
            _WRITE_DOWN,
            [
                {
                    "queue_id": poll.queue_id,
                    "seen": poll.position,
                    "until": poll.until,
                    "expiry": _expiry(poll.until, poll.idle_timeout_s),
                }
                for poll in sorted(polls, key=lambda poll: poll.queue_id)
            ],
        )


_SEEN = bindparam("seen", type_=BigInteger)
_WRITE_DOWN = (
    update(_QUEUE)
    .where(_QUEUE.c.id == bindparam("queue_id"))
    .values(
        position=case((_QUEUE.c.position < _SEEN, _SEEN), else_=_QUEUE.c.position),
        polled_until=bindparam("until", type_=UtcMs),
        expires_at=bindparam("expiry", type_=UtcMs),
    )
)


def _expiry(until: datetime, idle_timeout_s: int) -> datetime:
    return until + timedelta(seconds=idle_timeout_s) + GRACE
