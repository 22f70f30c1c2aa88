"""The newest message of each topic, kept beside the messages so that a channel's topics are listed
without reading them.
"""

from collections.abc import Iterable

from sqlalchemy import Insert, bindparam, case, insert, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.channels import ChannelView
from models.chat.identity.actors import Actor
from models.chat.tables import Message, Topic, UserMessage
from models.chat.topics.names import key_of
from models.dialects import upsert
from models.prepared import Change, Query
from models.reader import Db

_MESSAGE = table_of(Message)
_TOPIC = table_of(Topic)


def _upsert_topic() -> Insert:
    statement = upsert(_TOPIC)
    is_newer = statement.excluded.max_id > _TOPIC.c.max_id
    # Two senders at once: the older id must not win because it came second.
    return statement.on_conflict_do_update(
        index_elements=["channel_id", "topic_key"],
        set_={
            "name": case((is_newer, statement.excluded.name), else_=_TOPIC.c.name),
            "max_id": case((is_newer, statement.excluded.max_id), else_=_TOPIC.c.max_id),
        },
    )


_UPSERT_TOPIC = Change(_upsert_topic())
_KNOWS_TOPIC = Query(
    select(Topic.max_id).where(
        Topic.channel_id == bindparam("channel_id"), Topic.topic_key == bindparam("topic_key")
    )
)


def is_known(db: Db, channel_id: int, topic: str) -> bool:
    """Has anybody written under that topic?"""
    key = {"channel_id": channel_id, "topic_key": key_of(topic)}
    return _KNOWS_TOPIC.first(db, key) is not None


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


def is_known_to(db: Db, actor: Actor, channel: ChannelView, topic: str) -> bool:
    """Has anybody written under that topic, as far as the actor may know? In a protected history
    only what they, or the owner of a bot, have a copy of.
    """
    if not channel.has_protected_history or actor.is_system_bot:
        return is_known(db, channel.id, topic)
    users = [user_id for user_id in (actor.id, actor.bot_owner_id) if user_id is not None]
    key = {"user_ids": users, "channel_id": channel.id, "topic_key": key_of(topic)}
    return db.execute(_HAS_COPY, key).first() is not None


def note_topic(session: Session, channel_id: int, topic: str, message_id: int) -> None:
    """Make the message its topic's newest."""
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
    """Make the summary of topics true again after messages left them or came in."""
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
