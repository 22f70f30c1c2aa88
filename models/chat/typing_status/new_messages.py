"""Typing a new message: only who may send it may say so, and only those hear who would get it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from models.chat.access.channels import access_channel, can_send_to_channel
from models.chat.access.naming import find_named
from models.chat.access.people import dummy_email, email_fact
from models.chat.events import log
from models.chat.events.typing_status import TypingStartEvent, TypingStopEvent
from models.chat.identity.actors import Actor
from models.chat.sending.errors import InvalidRecipientId, NotAuthorizedToSend
from models.chat.sending.recipients import check_may_write
from models.chat.topics.names import normalise_topic
from models.chat.typing_status.errors import NobodyToNotify
from models.chat.typing_status.settings import (
    find_subscribers_who_want,
    find_users_who_want,
    require_lets_know,
)

Op = Literal["start", "stop"]
_EVENTS: dict[Op, type[TypingStartEvent] | type[TypingStopEvent]] = {
    "start": TypingStartEvent,
    "stop": TypingStopEvent,
}


def tell_typing_in_channel(
    session: Session, actor: Actor, channel_id: int, topic: str, op: Op, *, now: datetime
) -> None:
    """The actor types in a topic, or no longer does.

    Raises `ChannelTypingDisabled`, `InvalidChannelId`, `NotAuthorizedToSend`,
    `InvalidCharacterInTopic`.
    """
    require_lets_know(session, actor, in_channels=True)
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
    told = find_subscribers_who_want(session, channel.id)
    log.append(session, actor.realm_id, event, user_ids=told, now=now)


def tell_typing_to_users(
    session: Session, actor: Actor, user_ids: Sequence[int], op: Op, *, now: datetime
) -> None:
    """The actor types a direct message to these users, or no longer does. Those who have left are
    named and told nothing.

    Raises `NobodyToNotify`, `DirectTypingDisabled`, `InvalidRecipientId`, and what
    `check_may_write` raises.
    """
    if not user_ids:
        raise NobodyToNotify()
    require_lets_know(session, actor, in_channels=False)
    found = find_named(session, actor, [*user_ids, actor.id], system_bots=True)
    for user_id in user_ids:
        if user_id not in found:
            raise InvalidRecipientId(user_id=user_id)
    rows = sorted(found.values(), key=lambda row: row.id)
    check_may_write(session, actor, [row for row in rows if row.id != actor.id])
    host = actor.realm.host
    event = _EVENTS[op](
        message_type="direct",
        sender={"user_id": actor.id, "email": actor.dummy_email},
        recipients=[{"user_id": row.id, "email": dummy_email(row.id, host)} for row in rows],
        emails=[email_fact(row) for row in rows],
    )
    told = find_users_who_want(session, [row.id for row in rows])
    log.append(session, actor.realm_id, event, user_ids=told, now=now)
