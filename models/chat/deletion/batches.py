"""Delete many messages in batches, with a few statements for each batch."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, ScalarSelect, delete, exists, select, update
from sqlalchemy.orm import Session

from models.chat.deletion.messages import remove_messages
from models.chat.events import log
from models.chat.events.messages import DeleteMessageEvent
from models.chat.tables import Message, Topic, UserMessage
from models.chat.topics.first_messages import recount_first_messages
from models.dialects import id_in
from models.rows import columns_of
from specd.db import table_of

_MESSAGE = table_of(Message)
_TOPIC = table_of(Topic)


class PlacedMessage(NamedTuple):
    """The columns of a message that a deletion needs."""

    id: int
    realm_id: int
    channel_id: int | None
    conversation_id: int | None
    topic: str
    topic_key: str


PLACED = columns_of(PlacedMessage, Message)
Place = tuple[int | None, int | None, str]
"""The channel, conversation and topic key of a message."""


def delete_batch(
    session: Session, batch: Sequence[PlacedMessage], *, actor_id: int | None, now: datetime
) -> None:
    """Move messages of one realm to the archive, append events for the users who have copies, and
    update topics and first messages.
    """
    message_ids = [row.id for row in batch]
    channel_ids = {row.channel_id for row in batch if row.channel_id is not None}
    readers = _find_readers(session, message_ids)
    remove_messages(session, message_ids, actor_id=actor_id, now=now)
    _recount_topics(session, channel_ids, message_ids)
    _notify(session, batch, readers, now)
    recount_first_messages(session, batch[0].realm_id, channel_ids, now=now)


def _find_readers(session: Session, message_ids: Sequence[int]) -> dict[Place, set[int]]:
    """Return place -> ids of the users who have copies of messages there."""
    place = (_MESSAGE.c.channel_id, _MESSAGE.c.conversation_id, _MESSAGE.c.topic_key)
    readers: dict[Place, set[int]] = defaultdict(set)
    for channel_id, conversation_id, topic_key, user_id in session.execute(
        select(*place, UserMessage.user_id)
        .distinct()
        .join(UserMessage, UserMessage.message_id == _MESSAGE.c.id)
        .where(id_in(_MESSAGE.c.id, message_ids))
    ):
        readers[channel_id, conversation_id, topic_key].add(user_id)
    return readers


def _notify(
    session: Session,
    batch: Sequence[PlacedMessage],
    readers: dict[Place, set[int]],
    now: datetime,
) -> None:
    """Append one event for each topic or conversation."""
    places: dict[Place, list[PlacedMessage]] = defaultdict(list)
    for row in batch:
        places[row.channel_id, row.conversation_id, row.topic_key].append(row)
    events = []
    for place, rows in places.items():
        event = DeleteMessageEvent.of([row.id for row in rows], rows[0].channel_id, rows[-1].topic)
        events.append((event, readers.get(place, set())))
    log.append_all(session, batch[0].realm_id, events, now=now)


def _recount_topics(
    session: Session, channel_ids: Collection[int], message_ids: Sequence[int]
) -> None:
    """Update or delete the topics whose newest message was deleted."""
    stale = _TOPIC.c.channel_id.in_(channel_ids) & id_in(_TOPIC.c.max_id, message_ids)
    in_topic = (_MESSAGE.c.channel_id == _TOPIC.c.channel_id) & (
        _MESSAGE.c.topic_key == _TOPIC.c.topic_key
    )
    connection = session.connection()
    connection.execute(delete(_TOPIC).where(stale, ~exists().where(in_topic)))

    def newest(column: Column[Any]) -> ScalarSelect[Any]:
        return (
            select(column)
            .where(in_topic)
            .order_by(_MESSAGE.c.id.desc())
            .limit(1)
            .correlate(_TOPIC)
            .scalar_subquery()
        )

    connection.execute(
        update(_TOPIC)
        .where(stale)
        .values(name=newest(_MESSAGE.c.topic), max_id=newest(_MESSAGE.c.id))
    )
