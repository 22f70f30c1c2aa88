"""The parts of a narrow's conditions: functions that get only the names of values.

A statement thus depends only on the form of a narrow, and is built once for each form
(`ranges.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
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
    """A condition that is not built yet: a function of a module, and the names of its values. Equal
    parts build equal conditions.

    `is_nullable` means that the condition is null for direct messages or for channel messages.
    """

    make: Callable[..., Condition]
    of: tuple[str, ...] = ()
    negated: bool = False
    is_nullable: bool = False

    def condition(self) -> Condition:
        made = self.make(*self.of)
        if not self.negated:
            return made
        return made.is_not(true()) if self.is_nullable else not_(made)


# --- place --------------------------------------------------------------------------------------


def in_channel(channel_id: str) -> Condition:
    return Message.channel_id == bindparam(channel_id)


CHANNELS: Mapping[str, SQLColumnExpression[bool]] = {
    "public": ~Channel.invite_only,
    "web-public": Channel.is_web_public,
    "archived": Channel.is_archived,
}


def in_channels(which: str) -> Condition:
    of_realm = Channel.realm_id == bindparam("reader_realm_id")
    return Message.channel_id.in_(select(Channel.id).where(of_realm, CHANNELS[which]))


def in_topic(topic_key: str) -> Condition:
    return and_(Message.topic_key == bindparam(topic_key), Message.channel_id.is_not(None))


def in_conversation(conversation_id: str) -> Condition:
    return Message.conversation_id == bindparam(conversation_id)


def from_sender(sender_id: str) -> Condition:
    return Message.sender_id == bindparam(sender_id)


def with_id(message_id: str) -> Condition:
    return Message.id == bindparam(message_id)


LEADING = frozenset({in_channel, in_conversation, from_sender, with_id})
"""Conditions by which an index finds messages. The organization is then only an additional
condition.
"""


# --- sender and content --------------------------------------------------------------------------


def _resolved() -> Condition:
    resolved = func.substr(Message.topic, 1, len(RESOLVED)) == RESOLVED
    return and_(Message.channel_id.is_not(None), resolved)


KINDS: Mapping[str, Callable[[], Condition]] = {
    "resolved": _resolved,
    "followed": lambda: _with_policy(VisibilityPolicy.FOLLOWED),
    "muted": lambda: not_(at_home()),
}
"""Operand of `is` -> the condition, for operands that are not flags of copies."""


CONTENTS: Mapping[str, Callable[[], Condition]] = {
    "link": lambda: Message.has_link.is_(true()),
    "image": lambda: Message.has_image.is_(true()),
    "attachment": lambda: Message.has_attachment.is_(true()),
    "reaction": lambda: exists().where(Reaction.message_id == Message.id),
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
    """Return whether the topic is not muted. In a muted channel, the topic must be unmuted or
    followed.
    """
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
