"""Channels of a realm as one user sees them, with the user's permissions in them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    SQLColumnExpression,
    bindparam,
    false,
    or_,
    select,
)
from sqlalchemy.orm import aliased

from models.chat.access.errors import InvalidChannelId, InvalidChannelName
from models.chat.access.membership import belongs, group_ids_of
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor, find_actor
from models.chat.tables import Channel, Subscription
from models.dialects import in_parameter
from models.rows import RowQuery, columns_of
from specd.db import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelView:
    """A channel as one user sees it: columns of `Channel`, and whether the user is subscribed."""

    id: int
    realm_id: int
    name: str
    description: str
    rendered_description: str
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    is_archived: bool
    creator_id: int | None
    date_created: datetime
    folder_id: int | None
    message_retention_days: int | None
    topics_policy: str
    first_message_id: int | None
    can_add_subscribers_group: int
    can_administer_channel_group: int
    can_create_topic_group: int
    can_delete_any_message_group: int
    can_delete_own_message_group: int
    can_move_messages_out_of_channel_group: int
    can_move_messages_within_channel_group: int
    can_remove_subscribers_group: int
    can_resolve_topics_group: int
    can_send_message_group: int
    can_subscribe_group: int
    is_subscribed: bool

    @property
    def has_protected_history(self) -> bool:
        """Whether subscribers can read only the messages of which they have copies."""
        return self.invite_only and not self.history_public_to_subscribers


CHANNEL_COLUMNS = columns_of(ChannelView, Channel)
_MINE = aliased(Subscription)


def channels_seen_by(user_id: int | BindParameter[int]) -> Select[Any]:
    """Return a select of rows of `ChannelView` as the user sees them."""
    return (
        select(*CHANNEL_COLUMNS, _MINE.is_active.is_not(None).label("is_subscribed"))
        .select_from(Channel)
        .outerjoin(
            _MINE,
            (_MINE.channel_id == Channel.id) & (_MINE.user_id == user_id) & _MINE.is_active,
        )
    )


_SEEN = channels_seen_by(bindparam("viewer_id")).where(Channel.realm_id == bindparam("realm_id"))
_BY_ID = RowQuery(ChannelView, _SEEN.where(Channel.id == bindparam("channel_id")))
_BY_NAME = RowQuery(ChannelView, _SEEN.where(Channel.name_key == bindparam("name_key")))
_NAMED = RowQuery(
    ChannelView,
    _SEEN.where(
        in_parameter(Channel.id, "channel_ids") | in_parameter(Channel.name_key, "name_keys")
    ),
)


def find_channel(
    db: Db, actor: Actor, *, channel_id: int | None = None, name: str | None = None
) -> ChannelView | None:
    """Return a channel of the actor's realm by id or by name (in any case), even if the actor may
    not see it.
    """
    key = {"viewer_id": actor.id, "realm_id": actor.realm.id}
    if channel_id is not None:
        return _BY_ID.first(db, {**key, "channel_id": channel_id})
    assert name is not None
    return _BY_NAME.first(db, {**key, "name_key": key_of(name.strip())})


def find_channels(
    db: Db, actor: Actor, *, channel_ids: Iterable[int] = (), names: Iterable[str] = ()
) -> list[ChannelView]:
    """Return the channels of the actor's realm with these ids or names (in any case)."""
    ids, keys = list(channel_ids), [key_of(name.strip()) for name in names]
    values: dict[str, Any] = {"viewer_id": actor.id, "realm_id": actor.realm.id}
    if len(ids) + len(keys) == 1:
        values |= {"channel_id": ids[0]} if ids else {"name_key": keys[0]}
        return (_BY_ID if ids else _BY_NAME).all(db, values)
    return _NAMED.all(db, {**values, "channel_ids": ids, "name_keys": keys})


# --- the channels that a user may see, read and send to -------------------------------------------


def filter_visible(db: Db, actor: Actor, channels: Iterable[ChannelView]) -> list[ChannelView]:
    """Return the channels that the actor may see. The number of statements does not depend on the
    number of channels.
    """
    return _filter(db, actor, channels, has_metadata_access)


def filter_readable(db: Db, actor: Actor, channels: Iterable[ChannelView]) -> list[ChannelView]:
    """Return the channels that the actor may read, as `filter_visible` does."""
    return _filter(db, actor, channels, has_content_access)


def _filter(
    db: Db,
    actor: Actor,
    channels: Iterable[ChannelView],
    has_access: Callable[[Db, Actor, ChannelView], bool],
) -> list[ChannelView]:
    if not actor.is_guest:
        group_ids_of(db, actor)
    return [channel for channel in channels if has_access(db, actor, channel)]


def find_visible_channel(
    db: Db,
    actor: Actor,
    *,
    channel_id: int | None = None,
    name: str | None = None,
    content: bool = False,
) -> ChannelView | None:
    """Return the channel if the actor may see it, or with `content` if the actor may read it.

    Return None if it is unknown, hidden or in another realm. These cases execute the same number of
    statements, so that their duration does not differ.
    """
    channel = find_channel(db, actor, channel_id=channel_id, name=name)
    has_access = has_content_access if content else has_metadata_access
    if channel is not None and has_access(db, actor, channel):
        return channel
    if not actor.is_guest:
        group_ids_of(db, actor)  # because a hidden channel may have needed this statement
    return None


def access_channel(db: Db, actor: Actor, channel_id: int, *, content: bool = True) -> ChannelView:
    """Return the channel if the actor may read it, or with `content=False` if the actor may see it.

    Raise `InvalidChannelId` if it is unknown, hidden or in another realm. These cases look the
    same.
    """
    channel = find_visible_channel(db, actor, channel_id=channel_id, content=content)
    if channel is None:
        raise InvalidChannelId()
    return channel


def access_channel_by_name(db: Db, actor: Actor, name: str, *, content: bool = True) -> ChannelView:
    """Return the channel with this name, like `access_channel`. Case is ignored. Raise
    `InvalidChannelName`.
    """
    channel = find_visible_channel(db, actor, name=name, content=content)
    if channel is None:
        raise InvalidChannelName(name=name)
    return channel


def has_content_access(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may read the channel. In a protected history, this includes only
    messages of which the actor has a copy.

    A private channel may be read by its subscribers, and by the groups that may subscribe
    themselves or others. Administrators have no access by their role.
    """
    if channel.is_subscribed or channel.is_web_public:
        return True
    if actor.is_guest:
        return False
    if not channel.invite_only:
        return True
    return belongs(db, actor, channel.can_subscribe_group) or belongs(
        db, actor, channel.can_add_subscribers_group
    )


def has_metadata_access(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may see the channel's existence, name and subscribers."""
    if has_content_access(db, actor, channel):
        return True
    if actor.is_guest:
        return False
    return actor.is_administrator or belongs(db, actor, channel.can_administer_channel_group)


def can_send_to_channel(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may send to the channel. A bot may also send where its owner may
    send.
    """
    if channel.is_archived:
        return False
    if actor.is_system_bot:
        return True
    if has_content_access(db, actor, channel) and belongs(
        db, actor, channel.can_send_message_group
    ):
        return True
    owner = bot_owner(db, actor)
    if owner is None:
        return False
    seen = find_channel(db, owner, channel_id=channel.id)
    return seen is not None and can_send_to_channel(db, owner, seen)


def bot_owner(db: Db, actor: Actor) -> Actor | None:
    """Return the active owner of a bot. Return None for users who are not bots and for bots without
    an active owner.
    """
    if actor.bot_owner_id is None:
        return None
    owner = actor.cached.owner = actor.cached.owner or find_actor(db, actor.bot_owner_id)
    return owner if owner is not None and owner.is_active else None


@cache
def readable_channels(is_guest: bool) -> Select[int]:
    """Return a select of the ids of all channels that a user may read. Its parameters come from
    `reading_as`. The rule is that of `has_content_access`.
    """
    subscribed = select(Subscription.channel_id).where(
        Subscription.user_id == bindparam("reader_id"), Subscription.is_active
    )
    if is_guest:
        open_to_all: SQLColumnExpression[bool] = Channel.is_web_public
        by_group: ColumnElement[bool] = false()
    else:
        open_to_all = Channel.is_web_public | ~Channel.invite_only
        by_group = in_parameter(Channel.can_subscribe_group, "reader_group_ids") | (
            in_parameter(Channel.can_add_subscribers_group, "reader_group_ids")
        )
    return select(Channel.id).where(
        Channel.realm_id == bindparam("reader_realm_id"),
        or_(open_to_all, by_group, Channel.id.in_(subscribed)),
    )


def reading_as(db: Db, actor: Actor) -> dict[str, Any]:
    """Return the parameters of `readable_channels` for an actor."""
    parameters: dict[str, Any] = {"reader_id": actor.id, "reader_realm_id": actor.realm_id}
    if not actor.is_guest:
        parameters["reader_group_ids"] = sorted(group_ids_of(db, actor))
    return parameters


def readable_channel_ids(db: Db, actor: Actor) -> Select[int]:
    """Return `readable_channels` with the actor's parameters, for `IN` and joins."""
    return readable_channels(actor.is_guest).params(reading_as(db, actor))
