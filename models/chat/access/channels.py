"""Channels of a realm as one user meets them, and what that user may do there.

Every function takes a `Db`: a connection or a session. The questions about a channel take the
`ChannelView` that `access_channel` or `find_channel` returned.
"""

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
from models.chat.identity.actors import Actor, find_actor
from models.chat.tables import Channel, Subscription
from models.dialects import bound_in
from models.reader import Db
from models.rows import RowQuery, columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelView:
    """A channel as its reader met it. Fields are `Channel`'s columns, then the reader's tie."""

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
        """Readable only from one's own copies of messages."""
        return self.invite_only and not self.history_public_to_subscribers


CHANNEL_COLUMNS = columns_of(ChannelView, Channel)
_MINE = aliased(Subscription)


def channels_seen_by(user_id: int | BindParameter[int]) -> Select[Any]:
    """Select of rows of `ChannelView`; add `where`s. Give a bindparam to prebuild it."""
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
    _SEEN.where(bound_in(Channel.id, "channel_ids") | bound_in(Channel.name_key, "name_keys")),
)


def find_channel(
    db: Db, actor: Actor, *, channel_id: int | None = None, name: str | None = None
) -> ChannelView | None:
    """A channel of the actor's realm by id or by name (in any case), whoever may see it."""
    key = {"viewer_id": actor.id, "realm_id": actor.realm.id}
    if channel_id is not None:
        return _BY_ID.first(db, {**key, "channel_id": channel_id})
    assert name is not None
    return _BY_NAME.first(db, {**key, "name_key": name.strip().casefold()})


def find_channels(
    db: Db, actor: Actor, *, channel_ids: Iterable[int] = (), names: Iterable[str] = ()
) -> list[ChannelView]:
    """The channels of the actor's realm with those ids or names (in any case), in one statement."""
    ids, keys = list(channel_ids), [name.strip().casefold() for name in names]
    asked: dict[str, Any] = {"viewer_id": actor.id, "realm_id": actor.realm.id}
    if len(ids) + len(keys) == 1:
        one = {"channel_id": ids[0]} if ids else {"name_key": keys[0]}
        return (_BY_ID if ids else _BY_NAME).all(db, {**asked, **one})
    return _NAMED.all(db, {**asked, "channel_ids": ids, "name_keys": keys})


# --- what the user may know, read and do there ----------------------------------------------------


def filter_known(db: Db, actor: Actor, channels: Iterable[ChannelView]) -> list[ChannelView]:
    """Those of the channels that the actor may know; for the same number of statements, whichever
    there are.
    """
    return _filter(db, actor, channels, has_metadata_access)


def filter_readable(db: Db, actor: Actor, channels: Iterable[ChannelView]) -> list[ChannelView]:
    """Those of the channels that the actor may read; likewise."""
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


def find_known_channel(
    db: Db,
    actor: Actor,
    *,
    channel_id: int | None = None,
    name: str | None = None,
    content: bool = False,
) -> ChannelView | None:
    """`find_channel`, if the actor may know that it exists, or even read it (`content`). Unknown,
    another realm's and hidden ones are all None, for the same number of statements.
    """
    channel = find_channel(db, actor, channel_id=channel_id, name=name)
    has_access = has_content_access if content else has_metadata_access
    if channel is not None and has_access(db, actor, channel):
        return channel
    if not actor.is_guest:
        group_ids_of(db, actor)  # what may have been asked for a hidden one
    return None


def access_channel(db: Db, actor: Actor, channel_id: int, *, content: bool = True) -> ChannelView:
    """The channel, if the actor may read messages in it (`content`), else may see that it exists.

    Raises `InvalidChannelId`: unknown, another realm's and hidden look the same.
    """
    channel = find_known_channel(db, actor, channel_id=channel_id, content=content)
    if channel is None:
        raise InvalidChannelId()
    return channel


def access_channel_by_name(db: Db, actor: Actor, name: str, *, content: bool = True) -> ChannelView:
    """`access_channel` by name, in any case. Raises `InvalidChannelName`."""
    channel = find_known_channel(db, actor, name=name, content=content)
    if channel is None:
        raise InvalidChannelName(name=name)
    return channel


def has_content_access(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """May the actor read the channel? Of protected history still only their own copies.

    Administrators get nothing here by their role: a private channel is its subscribers', and that
    of the groups who may subscribe themselves or others.
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
    """May the actor know that the channel exists, its name and who is in it?"""
    if has_content_access(db, actor, channel):
        return True
    if actor.is_guest:
        return False
    return actor.is_administrator or belongs(db, actor, channel.can_administer_channel_group)


def can_send_to_channel(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """May the actor send to the channel? A bot may also where its owner may."""
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
    """The active owner of a bot; None for people and for bots nobody owns."""
    if actor.bot_owner_id is None:
        return None
    owner = actor.cached.owner = actor.cached.owner or find_actor(db, actor.bot_owner_id)
    return owner if owner is not None and owner.is_active else None


@cache
def readable_channels(is_guest: bool) -> Select[int]:
    """Select of the ids of all channels somebody has content access to; `reading_as` says who.

    The same rule as `has_content_access`, for many channels at once.
    """
    subscribed = select(Subscription.channel_id).where(
        Subscription.user_id == bindparam("reader_id"), Subscription.is_active
    )
    if is_guest:
        open_to_all: SQLColumnExpression[bool] = Channel.is_web_public
        by_group: ColumnElement[bool] = false()
    else:
        open_to_all = Channel.is_web_public | ~Channel.invite_only
        by_group = bound_in(Channel.can_subscribe_group, "reader_group_ids") | (
            bound_in(Channel.can_add_subscribers_group, "reader_group_ids")
        )
    return select(Channel.id).where(
        Channel.realm_id == bindparam("reader_realm_id"),
        or_(open_to_all, by_group, Channel.id.in_(subscribed)),
    )


def reading_as(db: Db, actor: Actor) -> dict[str, Any]:
    """The parameters of `readable_channels` for an actor."""
    parameters: dict[str, Any] = {"reader_id": actor.id, "reader_realm_id": actor.realm_id}
    if not actor.is_guest:
        parameters["reader_group_ids"] = sorted(group_ids_of(db, actor))
    return parameters


def readable_channel_ids(db: Db, actor: Actor) -> Select[int]:
    """`readable_channels` with an actor's parameters filled in: for `IN` and joins."""
    return readable_channels(actor.is_guest).params(reading_as(db, actor))
