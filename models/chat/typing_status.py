"""Typing notifications.

Only users who may send a new message, or edit an old one, may send notifications about it. Only
users who would get the message or can read it receive them. One setting turns off sending, another
receiving.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.access.audiences import find_readers
from models.chat.access.channels import access_channel, can_send_to_channel
from models.chat.access.naming import find_named
from models.chat.access.people import dummy_email, email_fact
from models.chat.editing.messages import require_may_edit_content
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.presence import (
    EditPlace,
    TypingEditMessageStartEvent,
    TypingEditMessageStopEvent,
    TypingStartEvent,
    TypingStopEvent,
)
from models.chat.identity.actors import Actor
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.conversations import find_members
from models.chat.messages.errors import InvalidMessage
from models.chat.sending.errors import InvalidRecipientId, NotAuthorizedToSend
from models.chat.sending.recipients import check_may_write
from models.chat.tables import Subscription, User
from models.chat.topics.names import normalise_topic
from models.dialects import id_in
from specd.db import Db, table_of


class NobodyToNotify(ChatError):
    """The list of users is empty."""

    sentence = "Empty 'to' list"
    advice = "Send the ids of the users in the conversation as `to`."


class ChannelTypingDisabled(ChatError):
    """The caller has disabled the setting `send_stream_typing_notifications`."""

    sentence = "User has disabled typing notifications for channel messages"
    advice = "Change the setting with `PATCH /settings`, or send no notifications."


class DirectTypingDisabled(ChatError):
    """The caller has disabled the setting `send_private_typing_notifications`."""

    sentence = "User has disabled typing notifications for direct messages"
    advice = "Change the setting with `PATCH /settings`, or send no notifications."


MAX_SUBSCRIBERS = 100
"""A channel with more active subscribers has no typing notifications."""

_USER = table_of(User)
_SENDING = select(
    _USER.c.send_stream_typing_notifications, _USER.c.send_private_typing_notifications
).where(_USER.c.id == bindparam("user_id"))
_SUBSCRIBERS = (
    select(_USER.c.id, _USER.c.receives_typing_notifications)
    .join(Subscription, Subscription.user_id == _USER.c.id)
    .where(
        Subscription.channel_id == bindparam("channel_id"),
        Subscription.is_active,
        _USER.c.is_active,
    )
    .limit(MAX_SUBSCRIBERS + 1)
)


def require_sends_typing(db: Db, actor: Actor, *, in_channels: bool) -> None:
    """Raise `ChannelTypingDisabled` or `DirectTypingDisabled` if the actor has turned off
    sending.
    """
    row = db.execute(_SENDING, {"user_id": actor.id}).one()
    if in_channels and not row.send_stream_typing_notifications:
        raise ChannelTypingDisabled()
    if not in_channels and not row.send_private_typing_notifications:
        raise DirectTypingDisabled()


def find_subscribers_to_notify(db: Db, channel_id: int) -> list[int]:
    """Return the ids of active subscribers who receive notifications, or none in large channels."""
    rows = db.execute(_SUBSCRIBERS, {"channel_id": channel_id}).all()
    if len(rows) > MAX_SUBSCRIBERS:
        return []
    return [row.id for row in rows if row.receives_typing_notifications]


def find_users_to_notify(db: Db, user_ids: Iterable[int]) -> Collection[int]:
    """Return the ids of the users who are active and receive notifications."""
    query = select(_USER.c.id).where(
        id_in(_USER.c.id, user_ids), _USER.c.is_active, _USER.c.receives_typing_notifications
    )
    return db.execute(query).scalars().all()


Op = Literal["start", "stop"]
_EVENTS: dict[Op, type[TypingStartEvent] | type[TypingStopEvent]] = {
    "start": TypingStartEvent,
    "stop": TypingStopEvent,
}


def notify_typing_in_channel(
    session: Session, actor: Actor, channel_id: int, topic: str, op: Op, *, now: datetime
) -> None:
    """Notify subscribers that the actor is typing in a topic, or has stopped.

    Raise `ChannelTypingDisabled`, `InvalidChannelId`, `NotAuthorizedToSend`,
    `InvalidCharacterInTopic`.
    """
    require_sends_typing(session, actor, in_channels=True)
    channel = access_channel(session, actor, channel_id)
    if not can_send_to_channel(session, actor, channel):
        raise NotAuthorizedToSend(channel=channel.name)
    event = _EVENTS[op](
        message_type="stream",
        sender={"user_id": actor.id, "email": actor.dummy_email},
        stream_id=channel.id,
        topic=normalise_topic(topic, empty_name=actor.realm.empty_topic_display_name),
        emails=[email_fact(actor)],
    )
    user_ids = find_subscribers_to_notify(session, channel.id)
    log.append(session, actor.realm_id, event, user_ids=user_ids, now=now)


def notify_typing_to_users(
    session: Session, actor: Actor, user_ids: Sequence[int], op: Op, *, now: datetime
) -> None:
    """Notify users that the actor is typing a direct message to them, or has stopped. Deactivated
    users are in the list of recipients but are not notified.

    Raise `NobodyToNotify`, `DirectTypingDisabled`, `InvalidRecipientId`, or an error of
    `check_may_write`.
    """
    if not user_ids:
        raise NobodyToNotify()
    require_sends_typing(session, actor, in_channels=False)
    users = find_named(session, actor, [*user_ids, actor.id], system_bots=True)
    for user_id in user_ids:
        if user_id not in users:
            raise InvalidRecipientId(user_id=user_id)
    rows = sorted(users.values(), key=lambda row: row.id)
    check_may_write(session, actor, [row for row in rows if row.id != actor.id])
    host = actor.realm.host
    event = _EVENTS[op](
        message_type="direct",
        sender={"user_id": actor.id, "email": actor.dummy_email},
        recipients=[{"user_id": row.id, "email": dummy_email(row.id, host)} for row in rows],
        emails=[email_fact(row) for row in rows],
    )
    notified = find_users_to_notify(session, [row.id for row in rows])
    log.append(session, actor.realm_id, event, user_ids=notified, now=now)


def notify_editing(
    session: Session, actor: Actor, message_id: int, op: Op, *, now: datetime
) -> None:
    """Notify readers that the actor is editing the content of a message, or has stopped.

    Raise `InvalidMessage`, an error of `require_may_edit_content`, `ChannelTypingDisabled` or
    `DirectTypingDisabled`.
    """
    message = access_message(session, actor, message_id)
    if message.is_archived:
        raise InvalidMessage()
    require_may_edit_content(actor, message, now)
    require_sends_typing(session, actor, in_channels=message.channel is not None)
    place, user_ids = _place_and_recipients(session, message)
    kind = TypingEditMessageStartEvent if op == "start" else TypingEditMessageStopEvent
    event = kind(sender_id=actor.id, message_id=message.id, recipient=place)
    log.append(session, actor.realm_id, event, user_ids=user_ids, now=now)


def _place_and_recipients(session: Session, message: MessageView) -> tuple[EditPlace, set[int]]:
    if message.channel is None:
        assert message.conversation_id is not None
        members = find_members(session, [message.conversation_id])[message.conversation_id]
        return {"type": "direct", "user_ids": members}, set(find_users_to_notify(session, members))
    channel = message.channel
    user_ids = set(find_subscribers_to_notify(session, channel.id))
    if user_ids and channel.has_protected_history:
        user_ids &= find_readers(session, channel, [message.id])
    return {"type": "channel", "channel_id": channel.id, "topic": message.topic}, user_ids
