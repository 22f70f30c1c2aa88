"""Messages on their way to bots: taken with a lease, posted, and then answered or tried again.

Each function works in the caller's unit. Whoever takes a message moves its time on by the lease; a
worker that dies gives it back so. What came of a request counts only while the lease holds.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, delete, select, update
from sqlalchemy.orm import Session

from models.chat.tables import OutgoingDelivery, OutgoingWebhook
from models.reader import Db

LEASE = timedelta(seconds=60)
"""Longer than a request may take."""
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600))
"""After the first attempt, the second, and so on; then the message is given up."""
JITTER = 0.2

_DELIVERY = cast(Table, OutgoingDelivery.__table__)
_HOOK = cast(Table, OutgoingWebhook.__table__)
_SOME_DUE = select(_DELIVERY.c.id).where(_DELIVERY.c.next_try_at <= bindparam("at")).limit(1)


@dataclass(frozen=True, slots=True)
class Taken:
    """A message that was taken, and where it goes. `leased_until` and `attempts` tell this taking
    from any other.
    """

    id: int
    bot_id: int
    message_id: int
    cause: str
    attempts: int
    leased_until: datetime
    url: str
    interface: int
    sealed_secret: str


def is_anything_due(db: Db, *, now: datetime) -> bool:
    """A cheap look that takes no lock."""
    return db.execute(_SOME_DUE, {"at": now}).first() is not None


def take_some(
    session: Session, *, spared: Collection[int], limit: int, now: datetime
) -> Sequence[Taken]:
    """The messages that have been due longest, of those that nobody else takes just now. `spared`:
    bots that are left out.
    """
    connection = session.connection()
    wanted = (
        select(_DELIVERY, _HOOK.c.payload_url, _HOOK.c.interface, _HOOK.c.sealed_secret)
        .join_from(_DELIVERY, _HOOK, _HOOK.c.user_id == _DELIVERY.c.bot_id)
        .where(_DELIVERY.c.next_try_at <= now)
        .order_by(_DELIVERY.c.next_try_at, _DELIVERY.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True, of=_DELIVERY)
    )
    if spared:
        wanted = wanted.where(_DELIVERY.c.bot_id.not_in(sorted(spared)))
    until = now + LEASE
    taken = [
        Taken(
            row.id, row.bot_id, row.message_id, row.cause, row.attempts + 1, until,
            row.payload_url, row.interface, row.sealed_secret,
        )
        for row in connection.execute(wanted)
    ]  # fmt: skip
    if taken:
        connection.execute(
            update(_DELIVERY)
            .where(_DELIVERY.c.id.in_([one.id for one in taken]))
            .values(next_try_at=until, attempts=_DELIVERY.c.attempts + 1)
        )
    return taken


def take_back(session: Session, ids: Collection[int], *, now: datetime) -> None:
    """These were taken for nothing: they are due at once, as if nobody had taken them."""
    session.connection().execute(
        update(_DELIVERY)
        .where(_DELIVERY.c.id.in_(sorted(ids)))
        .values(next_try_at=now, attempts=_DELIVERY.c.attempts - 1)
    )


def is_held(session: Session, taken: Taken) -> bool:
    """Is it still this taking? Then the row is locked until the unit ends."""
    held = (
        select(_DELIVERY.c.id)
        .where(
            _DELIVERY.c.id == taken.id,
            _DELIVERY.c.next_try_at == taken.leased_until,
            _DELIVERY.c.attempts == taken.attempts,
        )
        .with_for_update()
    )
    return session.connection().execute(held).first() is not None


def finish(session: Session, taken: Taken) -> None:
    """The message is answered, or nobody asks for an answer any more."""
    session.connection().execute(delete(_DELIVERY).where(_DELIVERY.c.id == taken.id))


def try_later(session: Session, taken: Taken, *, now: datetime) -> bool:
    """Have it tried again after a pause that grows; False where it was tried often enough."""
    if taken.attempts > len(PAUSES):
        return False
    pause = PAUSES[taken.attempts - 1] * random.uniform(1.0, 1.0 + JITTER)
    later = update(_DELIVERY).where(_DELIVERY.c.id == taken.id).values(next_try_at=now + pause)
    session.connection().execute(later)
    return True
