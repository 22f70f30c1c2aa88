"""Until when messages may be moved."""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from models.chat.editing.errors import (
    ChannelEditTooLate,
    MoveTimeLimitExceeded,
    TopicEditTooLate,
)
from models.chat.errors import ChatError
from models.chat.identity.actors import Actor
from models.chat.messages.access import MessageView
from models.chat.tables import Message
from models.dialects import id_in


def check_age(
    session: Session,
    actor: Actor,
    message: MessageView,
    ids: list[int],
    renames: bool,
    channel_changes: bool,
    propagate_mode: str,
    now: datetime,
) -> None:
    """Others than moderators move only what is new enough: of two limits, the stricter one.

    Raises `TopicEditTooLate`, `ChannelEditTooLate`, `MoveTimeLimitExceeded`.
    """
    realm = actor.realm
    limits: list[tuple[int, type[ChatError]]] = []
    within = realm.move_messages_within_stream_limit_seconds
    between = realm.move_messages_between_streams_limit_seconds
    if renames and within is not None:
        limits.append((within, TopicEditTooLate))
    if channel_changes and between is not None:
        limits.append((between, ChannelEditTooLate))
    if not limits:
        return
    seconds, too_late = min(limits, key=lambda limit: limit[0])
    oldest = now - timedelta(seconds=seconds)
    if propagate_mode != "change_all":
        if message.sent_at < oldest:
            raise too_late()
        return
    first, allowed = session.execute(
        select(func.min(Message.id), func.count()).where(
            id_in(Message.id, ids), Message.sent_at >= oldest
        )
    ).one()
    if first is None:
        raise too_late()
    if allowed < len(ids):
        raise MoveTimeLimitExceeded(
            first_message_id_allowed_to_move=first,
            total_messages_in_topic=len(ids),
            total_messages_allowed_to_move=allowed,
        )
