"""The queue of messages to bots: a message is claimed, posted, and then answered or retried.

Each function runs in the caller's unit of work.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from models.chat.identity.actors import is_running
from models.chat.tables import OutgoingDelivery, OutgoingWebhook
from models.rows import columns_of, read_rows
from specd.db import WorkQueue, table_of

LEASE = timedelta(seconds=60)
"""Longer than the maximum duration of a request."""
_DELIVERY = table_of(OutgoingDelivery)
_HOOK = table_of(OutgoingWebhook)
QUEUE = WorkQueue(
    _DELIVERY, pauses=[timedelta(seconds=seconds) for seconds in (5, 30, 120, 600)], jitter=0.2
)


class Claim(NamedTuple):
    """A claimed message and its destination."""

    id: int
    bot_id: int
    message_id: int
    cause: str
    attempts: int
    traceparent: str | None
    payload_url: str
    interface: int
    sealed_secret: str


def claim_due(
    session: Session, *, excluded: Collection[int], limit: int, now: datetime
) -> Sequence[Claim]:
    """Claim the messages that have been due the longest and that no other worker has claimed.

    `excluded` contains the ids of bots to skip. Messages to bots of stopped organizations wait.
    """
    columns = (*columns_of(Claim, _DELIVERY), *columns_of(Claim, _HOOK))
    query = QUEUE.due(
        select(*columns).join_from(_DELIVERY, _HOOK, _HOOK.c.user_id == _DELIVERY.c.bot_id)
    )
    query = query.where(is_running(_DELIVERY.c.realm_id))
    if excluded:
        query = query.where(_DELIVERY.c.bot_id.not_in(sorted(excluded)))
    due = read_rows(Claim, session.connection().execute(query.limit(limit), {"at": now}))
    if due:
        QUEUE.claim(session, [row.id for row in due], until=now + LEASE)
    return [row._replace(attempts=row.attempts + 1) for row in due]


def finish(session: Session, claim: Claim) -> None:
    """Remove a message that was answered or needs no answer."""
    session.connection().execute(delete(_DELIVERY).where(_DELIVERY.c.id == claim.id))
