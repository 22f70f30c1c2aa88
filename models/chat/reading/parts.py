"""What the conditions of a narrow are made of: functions of nothing but the names of values.

So a narrow's statements depend on its form alone, and are built once for each (`ranges.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    bindparam,
    exists,
    func,
    not_,
    or_,
    select,
    true,
)

from models.chat.tables import Channel, Message, Reaction, Subscription, UserTopic
from models.chat.topics.names import RESOLVED
from models.chat.topics.visibility import VisibilityPolicy

Condition = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Part:
    """A condition before it is made: a function of a module, and what it is made of but values.

    Two parts that are equal make the same condition, so that a statement of parts is built once.
    """

    make: Callable[..., Condition]
    of: tuple[str, ...] = ()
    negated: bool = False

    def condition(self) -> Condition:
        made = self.make(*self.of)
        return not_(made) if self.negated else made


# --- where it stands ------------------------------------------------------------------------------


def in_channel(channel_id: str) -> Condition:
    return Message.channel_id == bindparam(channel_id)


def in_any_channel(channel_id: str) -> Condition:
    """The same, and not unknown but false for a direct message."""
    return func.coalesce(Message.channel_id, 0) == bindparam(channel_id)


CHANNELS: Mapping[str, SQLColumnExpression[bool]] = {
    "public": ~Channel.invite_only,
    "web-public": Channel.is_web_public,
    "archived": Channel.is_archived,
}


def _channels(which: str) -> Select[int]:
    return select(Channel.id).where(
        Channel.realm_id == bindparam("reader_realm_id"), CHANNELS[which]
    )


def in_channels(which: str) -> Condition:
    return Message.channel_id.in_(_channels(which))


def in_some_channels(which: str) -> Condition:
    """The same, and not unknown but false for a direct message."""
    return func.coalesce(Message.channel_id, 0).in_(_channels(which))


def in_topic(topic_key: str) -> Condition:
    return and_(Message.topic_key == bindparam(topic_key), Message.channel_id.is_not(None))


def in_conversation(conversation_id: str) -> Condition:
    return Message.conversation_id == bindparam(conversation_id)


def in_any_conversation(conversation_id: str) -> Condition:
    """The same, and not unknown but false for a channel message."""
    return func.coalesce(Message.conversation_id, 0) == bindparam(conversation_id)


def from_sender(sender_id: str) -> Condition:
    return Message.sender_id == bindparam(sender_id)


def with_id(message_id: str) -> Condition:
    return Message.id == bindparam(message_id)


LEADING = frozenset({in_channel, in_conversation, from_sender, with_id})
"""What an index of messages leads to, where the organization is one condition more."""


# --- who and what it is ---------------------------------------------------------------------------


def _resolved() -> Condition:
    resolved = func.substr(Message.topic, 1, len(RESOLVED)) == RESOLVED
    return and_(Message.channel_id.is_not(None), resolved)


def _followed() -> Condition:
    return _with_policy(VisibilityPolicy.FOLLOWED)


def _muted() -> Condition:
    return not_(at_home())


KINDS: Mapping[str, Callable[[], Condition]] = {
    "resolved": _resolved,
    "followed": _followed,
    "muted": _muted,
}
"""Operand of `is` -> the condition, besides the flags of copies."""


def _has_link() -> Condition:
    return Message.has_link.is_(true())


def _has_image() -> Condition:
    return Message.has_image.is_(true())


def _has_attachment() -> Condition:
    return Message.has_attachment.is_(true())


def _has_reaction() -> Condition:
    return exists().where(Reaction.message_id == Message.id)


CONTENTS: Mapping[str, Callable[[], Condition]] = {
    "link": _has_link,
    "image": _has_image,
    "attachment": _has_attachment,
    "reaction": _has_reaction,
}
"""Operand of `has` -> the condition."""


def _with_policy(*policies: VisibilityPolicy) -> Condition:
    return exists().where(
        UserTopic.user_id == bindparam("reader_id"),
        UserTopic.channel_id == Message.channel_id,
        UserTopic.topic_key == Message.topic_key,
        or_(*(UserTopic.visibility_policy == policy for policy in policies)),
    )


def at_home() -> Condition:
    """Neither muted itself, nor in a muted channel without being unmuted or followed."""
    in_muted_channel = exists().where(
        Subscription.user_id == bindparam("reader_id"),
        Subscription.channel_id == Message.channel_id,
        Subscription.is_active,
        Subscription.is_muted,
    )
    return and_(
        not_(_with_policy(VisibilityPolicy.MUTED)),
        or_(
            not_(in_muted_channel),
            _with_policy(VisibilityPolicy.UNMUTED, VisibilityPolicy.FOLLOWED),
        ),
    )
