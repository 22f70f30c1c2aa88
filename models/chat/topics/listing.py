"""The topics of a channel, newest first, from the summary that is updated by sending. Lists of
topics do not read a channel's messages.
"""

from typing import Any

import orjson
from sqlalchemy import Connection, Select, bindparam, exists, select
from sqlalchemy.orm import aliased

from models.chat.access.channels import access_channel
from models.chat.identity.actors import Actor
from models.chat.tables import Message, Subscription, Topic, UserMessage
from specd.db import Db, Query

_ALL = Query(
    select(Topic.name, Topic.max_id)
    .where(Topic.channel_id == bindparam("channel_id"))
    .order_by(Topic.max_id.desc()),
    one_plan=False,
)


def _own_topics() -> Select[str, int]:
    """Return the query for the topics of channel `:channel_id` in which user `:user_id` has a copy
    of a message newer than `:after`, with the newest such message.

    It starts at the end of each topic, where a subscriber usually has a copy.
    """
    message, newest = aliased(Message), aliased(Message)
    mine = exists().where(
        UserMessage.user_id == bindparam("user_id"), UserMessage.message_id == message.id
    )
    newest_of_mine = (
        select(message.id)
        .where(
            message.channel_id == bindparam("channel_id"),
            message.topic_key == Topic.topic_key,
            message.id > bindparam("after"),
            mine,
        )
        .order_by(message.id.desc())
        .limit(1)
        .correlate(Topic)
        .scalar_subquery()
    )
    return (
        select(newest.topic, newest.id)
        .select_from(Topic)
        .join(newest, newest.id == newest_of_mine)
        .where(Topic.channel_id == bindparam("channel_id"), Topic.max_id > bindparam("after"))
        .order_by(newest.id.desc())
    )


_MINE = Query(_own_topics(), one_plan=False)
_JOINED_AFTER = Query(
    select(Subscription.joined_after_id).where(
        Subscription.channel_id == bindparam("channel_id"),
        Subscription.user_id == bindparam("user_id"),
    )
)


def encode_topics(db: Connection, actor: Actor, channel_id: int, *, empty_name: str) -> bytes:
    """Return a JSON array of the name and the newest message of each topic that the actor can read,
    latest first. The topic without a name is called `empty_name`.

    In a protected history, only messages count of which the actor has a copy. Names have the case
    of the newest message. Raise `InvalidChannelId`.
    """
    channel = access_channel(db, actor, channel_id)
    if channel.has_protected_history:
        topics = _find_own(db, actor, channel_id)
    else:
        topics = _ALL.all(db, {"channel_id": channel_id})
    return orjson.dumps([{"name": name or empty_name, "max_id": max_id} for name, max_id in topics])


def _find_own(db: Db, actor: Actor, channel_id: int) -> list[tuple[str, int]]:
    key: dict[str, Any] = {"channel_id": channel_id, "user_id": actor.id}
    joined = _JOINED_AFTER.first(db, key)
    return [] if joined is None else _MINE.all(db, {**key, "after": joined[0]})
