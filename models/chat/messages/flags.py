"""The flags of message copies: their bits, their names in the API, the flags of mentions, and
queries by flag.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    SQLColumnExpression,
    TextClause,
    bindparam,
    case,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from models.chat.access.membership import find_members_of_any
from models.chat.rendering import Rendered
from models.chat.tables import Message, MutedUser, Reaction, UserMessage
from models.dialects import indexed_by

READ = 1
STARRED = 2
COLLAPSED = 4
MENTIONED = 8
STREAM_WILDCARD_MENTIONED = 16
TOPIC_WILDCARD_MENTIONED = 32
GROUP_MENTIONED = 64
FORCE_EXPAND = 128
FORCE_COLLAPSE = 256
HAS_ALERT_WORD = 512
HISTORICAL = 1024
IS_PRIVATE = 2048

EDITABLE: dict[str, int] = {"read": READ, "starred": STARRED, "collapsed": COLLAPSED}
"""The flags that clients may add and remove."""

FIXED: dict[str, int] = {
    "mentioned": MENTIONED,
    "stream_wildcard_mentioned": STREAM_WILDCARD_MENTIONED,
    "topic_wildcard_mentioned": TOPIC_WILDCARD_MENTIONED,
    "group_mentioned": GROUP_MENTIONED,
    "force_expand": FORCE_EXPAND,
    "force_collapse": FORCE_COLLAPSE,
    "has_alert_word": HAS_ALERT_WORD,
    "historical": HISTORICAL,
}
"""Flags that only the server sets. `IS_PRIVATE` has no name: clients recognize direct messages by
their type.
"""

ANY_MENTION = MENTIONED | STREAM_WILDCARD_MENTIONED | TOPIC_WILDCARD_MENTIONED | GROUP_MENTIONED
OF_TEXT = ANY_MENTION | HAS_ALERT_WORD
"""Flags that an edit of the content can change."""
WITHOUT_COPY = READ | HISTORICAL
"""The flags of a readable message of which the user has no copy."""

_NAMES = {**EDITABLE, **FIXED}
_KNOWN: dict[int, list[str]] = {}


def names_of(flags: int) -> list[str]:
    """Return the names of the flags as in message objects, as a new list."""
    if flags not in _KNOWN:
        names = [name for name, bit in _NAMES.items() if flags & bit]
        if flags & (STREAM_WILDCARD_MENTIONED | TOPIC_WILDCARD_MENTIONED):
            names.append("wildcard_mentioned")  # the older name for both wildcards
        if flags & GROUP_MENTIONED and not flags & MENTIONED:
            names.append("mentioned")  # clients also expect it for mentions of groups
        _KNOWN[flags] = names
    return _KNOWN[flags].copy()


def copies_of_user(index: str, flagged: TextClause) -> Select[int, int]:
    """Return the query for message_id and flags of the copies of `:user_id` that are in a partial
    index of a flag.
    """
    copies = indexed_by(UserMessage.__table__, index)
    query: Select[int, int] = select(copies.c.message_id, copies.c.flags)
    return query.where(copies.c.user_id == bindparam("user_id"), flagged)


def text_bits(
    session: Session,
    rendered: Rendered,
    alerted: Collection[int],
    user_id: SQLColumnExpression[int],
    channel_id: int | None,
    topic_key: str,
) -> ColumnElement[int]:
    """Return the flags `OF_TEXT` of a user's copy of a message with this text. `user_id` is a
    column. The message is in a topic, or in a conversation if `channel_id` is None. `alerted`
    contains the ids of users with an alert word in the text.
    """
    bits: ColumnElement[int] = literal(0, BigInteger)
    if alerted:
        bits = bits + _bit_if(user_id, alerted, HAS_ALERT_WORD)
    if rendered.user_ids:
        bits = bits + _bit_if(user_id, rendered.user_ids, MENTIONED)
    if rendered.group_ids:
        members = find_members_of_any(session, rendered.group_ids)
        bits = bits + _bit_if(user_id, members, GROUP_MENTIONED)
    if rendered.mentions_channel:
        bits = bits + STREAM_WILDCARD_MENTIONED
    if rendered.mentions_topic:
        if channel_id is None:
            bits = bits + TOPIC_WILDCARD_MENTIONED
        else:
            there = (Message.channel_id == channel_id) & (Message.topic_key == topic_key)
            taking_part = union_all(
                select(Message.sender_id).where(there),
                select(Reaction.user_id)
                .join(Message, Message.id == Reaction.message_id)
                .where(there),
            )
            bits = bits + case((user_id.in_(taking_part), TOPIC_WILDCARD_MENTIONED), else_=0)
    return bits


def read_by_some(
    user_id: SQLColumnExpression[int],
    sender_id: ColumnElement[int],
    reader_id: ColumnElement[int],
) -> ColumnElement[int]:
    """Return `READ` for the reader (0 if there is none) and for users who have muted the sender,
    otherwise 0.
    """
    muters = select(MutedUser.user_id).where(MutedUser.muted_user_id == sender_id)
    return case(((user_id == reader_id) | user_id.in_(muters), READ), else_=0)


def _bit_if(
    user_id: SQLColumnExpression[int], users: Iterable[int], bit: int
) -> ColumnElement[int]:
    return case((user_id.in_(sorted(users)), bit), else_=0)
