"""Deliveries of messages to outgoing webhooks."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from models.chat.identity.roles import BotType
from models.chat.sending.drafts import Draft
from models.chat.tables import OutgoingDelivery, User
from specd import current_traceparent
from specd.db import table_of

MENTION, DIRECT_MESSAGE = "mention", "direct_message"
MAX_WAITING = 1_000
"""Maximum number of messages that wait for one bot. Further messages are not delivered to it."""

_DELIVERY = table_of(OutgoingDelivery)
_WAITING = (
    select(func.count()).where(OutgoingDelivery.bot_id == User.id).correlate(User).scalar_subquery()
)


def call_bots(
    session: Session,
    draft: Draft,
    message_id: int,
    readers: Iterable[Iterable[int]],
    *,
    now: datetime,
) -> None:
    """Add deliveries to the outgoing webhooks that the message mentions, or that are in its direct
    conversation.

    `readers` contains the ids of users with a copy. Messages of bots are not delivered, because two
    bots could reply to each other endlessly. In a private channel, only subscribed bots are called.
    """
    sender, channel = draft.sender, draft.channel
    if sender.is_bot:
        return
    called = set(draft.user_ids) - {sender.id} if channel is None else set(draft.rendered.user_ids)
    if channel is not None and channel.invite_only and called:
        called &= {user_id for user_ids in readers for user_id in user_ids}
    if not called:
        return
    bots = session.execute(
        select(User.id)
        .where(
            User.id.in_(called),
            User.bot_type == int(BotType.OUTGOING_WEBHOOK),
            User.is_active,
            _WAITING < MAX_WAITING,
        )
        .order_by(User.id)
    ).scalars()
    cause = DIRECT_MESSAGE if channel is None else MENTION
    rows = [
        {
            "realm_id": sender.realm_id,
            "bot_id": bot_id,
            "message_id": message_id,
            "cause": cause,
            "attempts": 0,
            "next_try_at": now,
            "created_at": now,
            "traceparent": current_traceparent(),
        }
        for bot_id in bots
    ]
    if rows:
        session.connection().execute(insert(_DELIVERY), rows)
