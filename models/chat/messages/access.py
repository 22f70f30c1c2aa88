"""Access to messages: one rule in one select, for one message and for many.

A direct message requires a copy of the user. Members may read all public channels, and guests only
web-public channels. Private channels require content access, and with protected history also a
copy. Administrators have no access by their role.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, or_, select
from sqlalchemy.orm import aliased

from models.chat.access.channels import (
    ChannelView,
    find_visible_channel,
    readable_channels,
    reading_as,
)
from models.chat.access.membership import group_ids_of
from models.chat.identity.actors import Actor
from models.chat.messages.errors import InvalidMessage
from models.chat.tables import Channel, Message, UserMessage
from models.dialects import INT_MAX, ids_as_array, in_parameter
from models.rows import columns_of, row_of
from specd.db import Db, Query


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message that the actor may read. All fields except the last two are `Message`'s columns."""

    id: int
    realm_id: int
    sender_id: int
    channel_id: int | None
    conversation_id: int | None
    topic: str
    topic_key: str
    content: str
    rendered_content: str
    sent_at: datetime
    last_edit_at: datetime | None
    last_moved_at: datetime | None
    flags: int | None
    channel: ChannelView | None = None

    @property
    def is_archived(self) -> bool:
        """Return whether the message is in an archived channel, where messages cannot be
        changed.
        """
        return self.channel is not None and self.channel.is_archived


_MINE = aliased(UserMessage)
_BY_ID: Select[*tuple[Any, ...]] = (
    select(*columns_of(MessageView, Message), _MINE.flags)
    .select_from(Message)
    .outerjoin(_MINE, (_MINE.message_id == Message.id) & (_MINE.user_id == bindparam("actor_id")))
    .where(Message.id == bindparam("message_id"), Message.realm_id == bindparam("realm_id"))
)
_LOCKED = _BY_ID.with_for_update(of=Message)


def access_message(db: Db, actor: Actor, message_id: int, *, lock: bool = False) -> MessageView:
    """Return the message if the actor may read it. Use `lock` before changing or deleting it.

    Raise `InvalidMessage`, both for unknown and for unreadable messages.
    """
    row = db.execute(
        _LOCKED if lock else _BY_ID,
        {"actor_id": actor.id, "message_id": message_id, "realm_id": actor.realm_id},
    ).first()
    if row is not None and row.channel_id is None and row.flags is not None:
        return row_of(MessageView, row, channel=None)
    # Always executed, so that hidden and unknown messages need the same number of statements.
    channel_id = 0 if row is None else row.channel_id or 0
    channel = find_visible_channel(db, actor, channel_id=channel_id, content=True)
    if (
        row is not None
        and channel is not None
        and (row.flags is not None or not channel.has_protected_history)
    ):
        return row_of(MessageView, row, channel=channel)
    if not actor.is_guest:
        group_ids_of(db, actor)
    raise InvalidMessage()


def access_open_message(db: Db, actor: Actor, message_id: int) -> MessageView:
    """Return the message, locked, so that changes of its reactions and submessages do not run
    concurrently. Raise `InvalidMessage`, also in an archived channel.
    """
    message = access_message(db, actor, message_id, lock=True)
    if message.is_archived:
        raise InvalidMessage()
    return message


def readable_messages(is_guest: bool) -> ColumnElement[bool]:
    """Return the rule of `access_message` as a condition on `Message`, for a reader
    (`reading_as`).
    """
    readable = readable_channels(is_guest)
    own_copy = exists().where(
        UserMessage.user_id == bindparam("reader_id"), UserMessage.message_id == Message.id
    )
    open_history = readable.where(or_(~Channel.invite_only, Channel.history_public_to_subscribers))
    return and_(
        Message.realm_id == bindparam("reader_realm_id"),
        or_(
            Message.channel_id.in_(open_history),
            and_(or_(Message.channel_id.is_(None), Message.channel_id.in_(readable)), own_copy),
        ),
    )


def _readable(*, is_guest: bool) -> Query[list[int]]:
    """Return the query for the messages in `:ids` that the reader may read."""
    return Query(
        select(ids_as_array(Message.id)).where(
            in_parameter(Message.id, "ids"), readable_messages(is_guest)
        ),
        one_plan=False,
    )


_READABLE = {is_guest: _readable(is_guest=is_guest) for is_guest in (False, True)}


def find_readable(db: Db, actor: Actor, message_ids: Iterable[int]) -> list[int]:
    """Return the ids of messages that the actor may read, in ascending order."""
    ids = [i for i in set(message_ids) if 0 < i <= INT_MAX]
    if not ids:
        return []
    values = {"ids": ids, **reading_as(db, actor)}
    (readable,) = _READABLE[actor.is_guest].one(db, values)
    return readable


def check_readable(db: Db, actor: Actor, message_ids: Iterable[int]) -> list[int]:
    """Return the ids in ascending order, without duplicates. Raise `InvalidMessage` unless all are
    readable.
    """
    ids = sorted(set(message_ids))
    if find_readable(db, actor, ids) != ids:
        raise InvalidMessage()
    return ids
