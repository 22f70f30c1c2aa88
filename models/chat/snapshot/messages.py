"""Messages in a snapshot: unread and starred messages, and recent direct conversations.

They are found with the partial indexes of `user_message` and the table of stars, so the total
number of messages does not matter.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypedDict

from sqlalchemy import (
    BigInteger,
    Select,
    Subquery,
    TextClause,
    bindparam,
    exists,
    func,
    select,
    text,
    type_coerce,
)

from models.chat.messages.conversations import find_members
from models.chat.messages.flags import GROUP_MENTIONED, MENTIONED, copies_of_user
from models.chat.snapshot.viewing import Viewing
from models.chat.tables import Message, Subscription, UserMessage
from models.chat.tables.message import DIRECT, UNREAD
from models.chat.tables.message import MENTIONED as MENTIONED_AT_ALL
from models.chat.topics.visibility import VisibilityPolicy
from models.dialects import INT_MAX

UNREAD_MAX = 50_000
"""Maximum number of unread messages in a snapshot. The newest are included."""
RECENT_DIRECT_MAX = 1000
"""Number of newest direct messages whose conversations are recent."""

_BY_NAME = MENTIONED | GROUP_MENTIONED


class UnreadTopic(TypedDict):
    """The unread messages of a topic."""

    stream_id: int
    topic: str
    unread_message_ids: list[int]


def _newest(index: str, flagged: TextClause, most: int) -> Subquery:
    """Return the message ids of the newest copies with a flag."""
    copies = copies_of_user(index, flagged)
    return copies.order_by(copies.selected_columns.message_id.desc()).limit(most).subquery()


@cache
def _unread() -> Select[int, int | None, int | None, str, str]:
    copies = _newest("ix_user_message_unread", UNREAD, UNREAD_MAX + 1)
    return (
        select(
            Message.id,
            Message.channel_id,
            Message.conversation_id,
            Message.topic,
            Message.topic_key,
        )
        .join(copies, copies.c.message_id == Message.id)
        .order_by(Message.id)
    )


@cache
def _mentions() -> Select[int, int]:
    """Return the query for unread mentions of the reader from message `:oldest` on."""
    copies = copies_of_user("ix_user_message_mentioned", MENTIONED_AT_ALL)
    return copies.where(UNREAD, copies.selected_columns.message_id >= bindparam("oldest"))


@cache
def _starred() -> Select[int, int | None]:
    ids = text(f"SELECT message_id FROM starred_message WHERE user_id = :user_id LIMIT {INT_MAX}")
    stars = ids.columns(message_id=BigInteger).subquery()
    has_copy = exists().where(
        UserMessage.user_id == bindparam("user_id"), UserMessage.message_id == Message.id
    )
    return (
        select(Message.id, Message.channel_id)
        .join(stars, stars.c.message_id == Message.id)
        .where(has_copy)
        .order_by(Message.id)
    )


@cache
def _recent() -> Select[int, int]:
    copies = _newest("ix_user_message_direct", DIRECT, RECENT_DIRECT_MAX)
    newest = func.max(Message.id)
    # Direct messages have a conversation.
    conversation_id = type_coerce(Message.conversation_id, BigInteger)
    return (
        select(conversation_id, newest)
        .join(copies, copies.c.message_id == Message.id)
        .group_by(Message.conversation_id)
        .order_by(newest.desc())
    )


_MUTED_CHANNELS = select(Subscription.channel_id).where(
    Subscription.user_id == bindparam("user_id"), Subscription.is_active, Subscription.is_muted
)


def find_starred_messages(view: Viewing) -> dict[str, Any]:
    rows = view.db.execute(_starred(), {"user_id": view.actor.id})
    return {
        "starred_messages": [
            message_id
            for message_id, channel_id in rows
            if channel_id is None or channel_id in view.readable_ids
        ]
    }


def find_recent_conversations(view: Viewing) -> dict[str, Any]:
    """Return the actor's recent direct conversations, newest first."""
    rows = view.db.execute(_recent(), {"user_id": view.actor.id}).all()
    members = find_members(view.db, [conversation_id for conversation_id, _ in rows])
    return {
        "recent_private_conversations": [
            {
                "max_message_id": newest,
                "user_ids": [
                    user_id for user_id in members[conversation_id] if user_id != view.actor.id
                ],
            }
            for conversation_id, newest in rows
        ]
    }


def find_unread_messages(view: Viewing) -> dict[str, Any]:
    """Return the ids of unread messages in ascending order, by topic and by conversation."""
    rows = view.db.execute(_unread(), {"user_id": view.actor.id}).all()
    topics: dict[tuple[int, str], UnreadTopic] = {}
    conversations: dict[int, list[int]] = defaultdict(list)
    readable, empty_topic = view.readable_ids, view.topic("")
    newest = rows[-UNREAD_MAX:]
    for message_id, channel_id, conversation_id, topic, topic_key in newest:
        if conversation_id is not None:
            conversations[conversation_id].append(message_id)
        elif channel_id is not None and channel_id in readable:
            shown = topic or empty_topic
            place = topics.get((channel_id, topic_key))
            if place is None:
                topics[channel_id, topic_key] = {
                    "stream_id": channel_id,
                    "topic": shown,
                    "unread_message_ids": [message_id],
                }
            else:
                place["topic"] = shown  # with the case of the newest message
                place["unread_message_ids"].append(message_id)
    is_muted = _find_muted(view)
    counted = [topic["unread_message_ids"] for key, topic in topics.items() if not is_muted(key)]
    mentions = _find_mentions(view, newest[0].id) if newest else {}
    return {
        "unread_msgs": {
            "count": sum(map(len, (*counted, *conversations.values()))),
            **_by_conversation(view, conversations),
            "streams": list(topics.values()),
            "mentions": [
                message_id
                for message_id, channel_id, _, _, topic_key in newest
                if message_id in mentions
                and (channel_id is None or (channel_id, topic_key) in topics)
                and (
                    channel_id is None
                    or mentions[message_id] & _BY_NAME
                    or not is_muted((channel_id, topic_key))
                )
            ],
            "old_unreads_missing": len(rows) > UNREAD_MAX,
        }
    }


def _find_mentions(view: Viewing, oldest: int) -> dict[int, int]:
    """Return message id -> flags, for unread messages that mention the actor."""
    rows = view.db.execute(_mentions(), {"user_id": view.actor.id, "oldest": oldest})
    return {row.message_id: row.flags for row in rows}


def _by_conversation(view: Viewing, unread: Mapping[int, list[int]]) -> dict[str, Any]:
    """Return the actor's conversations of up to two users, and the larger conversations."""
    pairs, groups = [], []
    for conversation_id, members in find_members(view.db, unread).items():
        ids = unread[conversation_id]
        if len(members) > 2:
            groups.append(
                {"user_ids_string": ",".join(map(str, members)), "unread_message_ids": ids}
            )
        else:
            other = next((each for each in members if each != view.actor.id), view.actor.id)
            pairs.append({"other_user_id": other, "sender_id": other, "unread_message_ids": ids})
    return {"pms": pairs, "huddles": groups}


def _find_muted(view: Viewing) -> Callable[[tuple[int, str]], bool]:
    """Return a function that decides, by channel id and topic key, whether the actor has muted a
    topic.
    """
    rows = view.db.execute(_MUTED_CHANNELS, {"user_id": view.actor.id})
    channel_ids = frozenset(rows.scalars())
    topics = {
        (row.channel_id, row.topic_key): row.visibility_policy == VisibilityPolicy.MUTED
        for row in view.policies
    }
    return lambda topic: topics.get(topic, topic[0] in channel_ids)
