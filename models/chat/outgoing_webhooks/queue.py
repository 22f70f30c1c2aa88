"""The queue of messages to bots: claimed, posted, and then answered or tried again.

Each function works in the caller's unit.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.tables import OutgoingDelivery, OutgoingWebhook
from models.work_queue import WorkQueue

LEASE = timedelta(seconds=60)
"""Longer than a request may take."""
_DELIVERY = table_of(OutgoingDelivery)
_HOOK = table_of(OutgoingWebhook)
QUEUE = WorkQueue(
    _DELIVERY, pauses=[timedelta(seconds=seconds) for seconds in (5, 30, 120, 600)], jitter=0.2
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed message and its destination."""

    id: int
    bot_id: int
    message_id: int
    cause: str
    attempts: int
    url: str
    interface: int
    sealed_secret: str


def take_some(
    session: Session, *, spared: Collection[int], limit: int, now: datetime
) -> Sequence[Claim]:
    """Claim the messages that have been due longest and that no other worker claims right now.
    `spared`: bots that are left out.
    """
    query = QUEUE.due(
        select(_DELIVERY, _HOOK.c.payload_url, _HOOK.c.interface, _HOOK.c.sealed_secret).join_from(
            _DELIVERY, _HOOK, _HOOK.c.user_id == _DELIVERY.c.bot_id
        )
    )
    if spared:
        query = query.where(_DELIVERY.c.bot_id.not_in(sorted(spared)))
    claims = [
        Claim(
            row.id, row.bot_id, row.message_id, row.cause, row.attempts + 1,
            row.payload_url, row.interface, row.sealed_secret,
        )
        for row in session.connection().execute(query.limit(limit), {"at": now})
    ]  # fmt: skip
    if claims:
        QUEUE.claim(session, [claim.id for claim in claims], until=now + LEASE)
    return claims


def finish(session: Session, claim: Claim) -> None:
    """Remove a message that is answered, or no longer needs an answer."""
    session.connection().execute(delete(_DELIVERY).where(_DELIVERY.c.id == claim.id))
