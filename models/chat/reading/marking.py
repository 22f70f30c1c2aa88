"""Mark unread messages as read in steps: all messages, or those of a channel, a topic or a
sender.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from models.chat.access.channels import access_channel
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.messages.flags import copies_of_user
from models.chat.reading.errors import NoSuchTopic
from models.chat.reading.flagging import update_flags
from models.chat.tables import Message
from models.chat.tables.message import UNREAD
from models.chat.topics.names import normalise_topic
from models.chat.topics.summary import has_topic
from models.dialects import id_in
from specd.db import Db

STEP = 5000
"""Maximum number of messages that one unit of work marks and one event contains."""


@dataclass(frozen=True, slots=True)
class Place:
    """A channel, or a topic in it."""

    channel_id: int
    topic_key: str | None = None


def access_place(db: Db, actor: Actor, channel_id: int, topic: str | None = None) -> Place:
    """Return a channel that the actor may read, or a topic in it with messages for the actor.

    Raise `InvalidChannelId`, `InvalidCharacterInTopic` and `NoSuchTopic`.
    """
    channel = access_channel(db, actor, channel_id)
    if topic is None:
        return Place(channel.id)
    name = normalise_topic(topic, empty_name=actor.realm.empty_topic_display_name)
    if not has_topic(db, actor, channel, name):
        raise NoSuchTopic(topic=topic)
    return Place(channel.id, key_of(name))


def mark_next(
    session: Session, actor: Actor, place: Place | None, *, after: int, now: datetime
) -> int | None:
    """Mark the oldest `STEP` unread messages after a message id as read, in a place, or if it is
    None, in all places. Return the id from which to continue, or None if no messages remain.
    """
    values: dict[str, object] = {"user_id": actor.id, "after": after}
    if place is not None:
        values |= {"channel_id": place.channel_id, "topic_key": place.topic_key}
    statement = _unread(place is not None, place is not None and place.topic_key is not None)
    ids = list(session.execute(statement, values).scalars())
    if ids:
        update_flags(session, actor, ids, op="add", flag="read", now=now)
    return ids[-1] if len(ids) == STEP else None


def mark_next_from(
    session: Session, actor: Actor, sender_id: int, *, after: int, now: datetime
) -> int | None:
    """Mark messages of one sender as read, among the oldest `STEP` unread messages after a message
    id. Return the id from which to continue, or None if no messages remain.
    """
    statement = _unread(False, False)
    ids = list(session.execute(statement, {"user_id": actor.id, "after": after}).scalars())
    theirs = select(Message.id).where(id_in(Message.id, ids), Message.sender_id == sender_id)
    marked = list(session.execute(theirs.order_by(Message.id)).scalars()) if ids else []
    if marked:
        update_flags(session, actor, marked, op="add", flag="read", now=now)
    return ids[-1] if len(ids) == STEP else None


@cache
def _unread(in_channel: bool, in_topic: bool) -> Select[int]:
    unread = copies_of_user("ix_user_message_unread", UNREAD).subquery()
    ids = (
        select(unread.c.message_id)
        .where(unread.c.message_id > bindparam("after"))
        .order_by(unread.c.message_id)
        .limit(STEP)
    )
    if in_channel:
        ids = ids.join(Message, Message.id == unread.c.message_id)
        ids = ids.where(Message.channel_id == bindparam("channel_id"))
    if in_topic:
        ids = ids.where(Message.topic_key == bindparam("topic_key"))
    return ids
