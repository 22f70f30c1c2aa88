"""The messages of a topic that a removal has still to delete."""

from collections.abc import Sequence

from sqlalchemy import bindparam, exists, or_, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.deletion.batches import PLACED, PlacedMessage
from models.chat.tables import Channel, Message, MessageRemoval, UserMessage
from models.chat.topics.names import key_of
from models.rows import read_rows

_MESSAGE = table_of(Message)
_READABLE = or_(
    ~Channel.invite_only,
    Channel.history_public_to_subscribers,
    exists().where(
        UserMessage.message_id == _MESSAGE.c.id, UserMessage.user_id == bindparam("actor_id")
    ),
)
"""Of a protected history only the actor's own copies."""
_NEWEST = (
    select(*PLACED)
    .select_from(_MESSAGE)
    .join(Channel, Channel.id == _MESSAGE.c.channel_id)
    .where(
        _MESSAGE.c.channel_id == bindparam("channel_id"),
        _MESSAGE.c.topic_key == bindparam("topic_key"),
        _MESSAGE.c.id <= bindparam("until_id"),
        _READABLE,
    )
    .order_by(_MESSAGE.c.id.desc())
    .limit(bindparam("limit"))
    .with_for_update(of=_MESSAGE)
)


def find_in_topic(session: Session, removal: MessageRemoval, limit: int) -> Sequence[PlacedMessage]:
    """The newest that are left, the oldest of them first, locked."""
    asked = {
        "actor_id": removal.actor_id,
        "channel_id": removal.channel_id,
        "topic_key": key_of(removal.topic or ""),
        "until_id": removal.until_id,
        "limit": limit,
    }
    return read_rows(PlacedMessage, session.execute(_NEWEST, asked))[::-1]
