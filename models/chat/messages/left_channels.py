"""Unread messages in channels that users have left."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from models.chat.events import log
from models.chat.events.messages import UpdateMessageFlagsAddEvent
from models.chat.messages.flags import READ
from models.chat.tables import Channel, Message, Subscription, UserMessage
from models.chat.tables.message import UNREAD
from models.dialects import in_parameter
from specd.db import Query, table_of

_COPY = table_of(UserMessage)


def mark_left_as_read(
    session: Session, realm_id: int, left: Mapping[int, Sequence[int]], *, now: datetime
) -> None:
    """Mark the messages of channels as read for the users who left them, because they can no longer
    read them. `left` maps channel ids to the ids of these users.
    """
    read: dict[int, list[int]] = defaultdict(list)
    leavers = {user_id for user_ids in left.values() for user_id in user_ids}
    values = {"channel_ids": list(left), "user_ids": list(leavers)}
    for user_id, message_id in _MARK_READ.all(session, values):
        read[user_id].append(message_id)
    events = [
        (UpdateMessageFlagsAddEvent(flag="read", messages=sorted(ids)), [user_id])
        for user_id, ids in sorted(read.items())
    ]
    log.append_all(session, realm_id, events, now=now)


def _marking_read() -> ReturningUpdate[int, int]:
    """Return the update of unread copies of users in `:user_ids`, for messages in the channels of
    `:channel_ids` that they left.

    A user may have many unread messages elsewhere, so only copies between the first and the last
    message of these channels are searched.
    """
    there = (
        select(Message.id)
        .join(Subscription, Subscription.channel_id == Message.channel_id)
        .where(
            Message.id == _COPY.c.message_id,
            in_parameter(Message.channel_id, "channel_ids"),
            Subscription.user_id == _COPY.c.user_id,
            ~Subscription.is_active,
        )
        .correlate(_COPY)
    )
    return (
        update(_COPY)
        .where(
            in_parameter(_COPY.c.user_id, "user_ids"),
            UNREAD,
            _COPY.c.message_id >= _end(func.min),
            _COPY.c.message_id <= _end(func.max),
            there.exists(),
        )
        .values(flags=_COPY.c.flags + READ)
        .returning(_COPY.c.user_id, _COPY.c.message_id)
    )


def _end(least: Callable[[Any], ColumnElement[Any]]) -> ColumnElement[Any]:
    """Return the least (or greatest) id of a message in `:channel_ids`, with one lookup for each
    channel.
    """
    of_each = select(least(Message.id)).where(Message.channel_id == Channel.id).correlate(Channel)
    ends = select(least(of_each.scalar_subquery()))
    return ends.where(in_parameter(Channel.id, "channel_ids")).scalar_subquery()


_MARK_READ: Query[int, int] = Query(_marking_read(), one_plan=False)
