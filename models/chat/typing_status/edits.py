"""Typing in an edit: only who may edit the message may say so, and only its readers hear."""

from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.audiences import find_readers
from models.chat.editing.messages import require_may_edit_content
from models.chat.events import log
from models.chat.events.typing_status import (
    EditPlace,
    TypingEditMessageStartEvent,
    TypingEditMessageStopEvent,
)
from models.chat.identity.actors import Actor
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.conversations import find_members
from models.chat.messages.errors import InvalidMessage
from models.chat.typing_status.new_messages import Op
from models.chat.typing_status.settings import (
    find_subscribers_who_want,
    find_users_who_want,
    require_lets_know,
)


def tell_editing(session: Session, actor: Actor, message_id: int, op: Op, *, now: datetime) -> None:
    """The actor edits the content of a message, or no longer does.

    Raises `InvalidMessage`, what `require_may_edit_content` raises, `ChannelTypingDisabled` and
    `DirectTypingDisabled`.
    """
    message = access_message(session, actor, message_id)
    if message.is_archived:
        raise InvalidMessage()
    require_may_edit_content(actor, message, now)
    require_lets_know(session, actor, in_channels=message.channel is not None)
    place, told = _place_and_listeners(session, message)
    kind = TypingEditMessageStartEvent if op == "start" else TypingEditMessageStopEvent
    event = kind(sender_id=actor.id, message_id=message.id, recipient=place)
    log.append(session, actor.realm_id, event, user_ids=told, now=now)


def _place_and_listeners(session: Session, message: MessageView) -> tuple[EditPlace, set[int]]:
    if message.channel is None:
        assert message.conversation_id is not None
        members = find_members(session, [message.conversation_id])[message.conversation_id]
        return {"type": "direct", "user_ids": members}, set(find_users_who_want(session, members))
    told = set(find_subscribers_who_want(session, message.channel.id))
    if told and message.channel.has_protected_history:
        told &= find_readers(session, message.channel, [message.id])
    return {
        "type": "channel",
        "channel_id": message.channel.id,
        "topic": message.topic,
    }, told
