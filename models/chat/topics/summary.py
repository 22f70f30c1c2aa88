"""The newest message of each topic, stored so that lists of a channel's topics do not read
messages.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Insert, bindparam, case, insert, select
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.tables import Message, Topic, UserMessage
from specd.db import Change, Db, Query, table_of, upsert

_MESSAGE = table_of(Message)
_TOPIC = table_of(Topic)


def _upsert_topic() -> Insert:
    statement = upsert(_TOPIC)
    is_newer = statement.excluded.max_id > _TOPIC.c.max_id
    # If two users send concurrently, the larger id must be kept.
    return statement.on_conflict_do_update(
        index_elements=["channel_id", "topic_key"],
        set_={
            "name": case((is_newer, statement.excluded.name), else_=_TOPIC.c.name),
            "max_id": case((is_newer, statement.excluded.max_id), else_=_TOPIC.c.max_id),
        },
    )


_UPSERT_TOPIC = Change(_upsert_topic())
_MAX_ID = Query(
    select(Topic.max_id).where(
        Topic.channel_id == bindparam("channel_id"), Topic.topic_key == bindparam("topic_key")
    )
)


_HAS_COPY = (
    select(UserMessage.message_id)
    .join(Message, Message.id == UserMessage.message_id)
    .where(
        UserMessage.user_id.in_(bindparam("user_ids", expanding=True)),
        Message.channel_id == bindparam("channel_id"),
        Message.topic_key == bindparam("topic_key"),
    )
    .limit(1)
)


def has_topic(
    db: Db, actor: Actor, channel: ChannelView, topic: str, *, as_owner: bool = False
) -> bool:
    """Return whether the channel has a message in the topic. In a protected history, only messages
    count of which the actor has a copy, or with `as_owner` the owner of the bot.
    """
    key: dict[str, Any] = {"channel_id": channel.id, "topic_key": key_of(topic)}
    if not channel.has_protected_history:
        return _MAX_ID.first(db, key) is not None
    users = [actor.id]
    if as_owner and actor.bot_owner_id is not None:
        users.append(actor.bot_owner_id)
    return db.execute(_HAS_COPY, {**key, "user_ids": users}).first() is not None


def note_topic(session: Session, channel_id: int, topic: str, message_id: int) -> None:
    """Record the newest message of a topic."""
    _UPSERT_TOPIC.run(
        session,
        {
            "channel_id": channel_id,
            "topic_key": key_of(topic),
            "name": topic,
            "max_id": message_id,
        },
    )


def recount_topics(session: Session, channel_id: int, topic_keys: Iterable[str]) -> None:
    """Update the summary of topics after messages were moved or deleted."""
    connection = session.connection()
    for key in sorted(set(topic_keys)):
        there = (_MESSAGE.c.channel_id == channel_id) & (_MESSAGE.c.topic_key == key)
        newest = connection.execute(
            select(_MESSAGE.c.id, _MESSAGE.c.topic)
            .where(there)
            .order_by(_MESSAGE.c.id.desc())
            .limit(1)
        ).first()
        connection.execute(
            _TOPIC.delete().where(_TOPIC.c.channel_id == channel_id, _TOPIC.c.topic_key == key)
        )
        if newest is not None:
            connection.execute(
                insert(_TOPIC),
                {
                    "channel_id": channel_id,
                    "topic_key": key,
                    "name": newest.topic,
                    "max_id": newest.id,
                },
            )
