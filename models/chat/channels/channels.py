"""Channels: names, lists, the form in the API, and the permission to administer them."""

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    bindparam,
    false,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session

from models.chat.access.channels import (
    ChannelView,
    access_channel,
    channels_seen_by,
    filter_visible,
    has_content_access,
    readable_channel_ids,
)
from models.chat.access.channels import find_channels as find_some_channels
from models.chat.access.group_settings import CHANNEL_GROUPS, find_group_values
from models.chat.access.membership import belongs, group_ids_of
from models.chat.access.people import id_if_visible
from models.chat.channels.errors import (
    ChannelNameIsEmpty,
    ChannelNameTooLong,
    ContentAccessRequired,
    InvalidCharacterInChannelName,
    MayNotAdministerChannel,
    NotAuthorizedForQuery,
)
from models.chat.common.name_keys import key_of
from models.chat.common.one_line import FORBIDDEN
from models.chat.identity.actors import Actor, RealmView
from models.chat.tables import Channel, DefaultChannel, Message, Subscription, Topic, User
from models.dialects import ids_as_array, in_parameter
from models.rows import read_rows
from specd.db import Db, Query

NAME_MAX, DESCRIPTION_MAX = 60, 1024
QUIET_AFTER = timedelta(days=180)
"""A channel without messages in this time is not recently active."""


def check_channel_name(name: str) -> str:
    """Return the trimmed name, as it is stored. Raise `ChannelNameIsEmpty`, `ChannelNameTooLong`,
    `InvalidCharacterInChannelName`.
    """
    name = name.strip()
    if not name:
        raise ChannelNameIsEmpty()
    if len(name) > NAME_MAX:
        raise ChannelNameTooLong(limit=NAME_MAX)
    bad = FORBIDDEN.search(name)
    if bad is not None:
        raise InvalidCharacterInChannelName(position=bad.end())
    return name


def find_channels_by_name(db: Db, actor: Actor, names: Iterable[str]) -> dict[str, ChannelView]:
    """Return the realm's channels with these names, by the key of the name, even if the actor may
    not see them. Case is ignored.
    """
    channels = find_some_channels(db, actor, names=names)
    return {key_of(view.name): view for view in channels}


def find_visible_channels_by_name(
    db: Db, actor: Actor, names: Iterable[str], *, bots: Collection[int] = ()
) -> dict[str, ChannelView]:
    """Return the channels of `find_channels_by_name` that the actor may see, or to which one of
    `bots` is subscribed. `bots` belong to the actor.
    """
    channels = find_channels_by_name(db, actor, names)
    visible = {key_of(view.name): view for view in filter_visible(db, actor, channels.values())}
    if bots:
        hidden = {view.id: key for key, view in channels.items() if key not in visible}
        subscribed = select(Subscription.channel_id).where(
            Subscription.channel_id.in_(hidden),
            Subscription.user_id.in_(bots),
            Subscription.is_active,
        )
        for channel_id in db.execute(subscribed).scalars():
            visible[hidden[channel_id]] = channels[hidden[channel_id]]
    return visible


# --- the list of channels ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChannelQuery:
    """Options of a list of channels. A channel is in the list if it matches any `include_`
    option.
    """

    include_public: bool = True
    include_web_public: bool = False
    include_subscribed: bool = True
    include_all: bool = False
    include_all_active: bool = False
    include_owner_subscribed: bool = False
    include_can_access_content: bool = False
    exclude_archived: bool = True


def find_channels(db: Db, actor: Actor, query: ChannelQuery) -> list[ChannelView]:
    """Return the channels of the query that the actor may see, ordered by id.

    Raise `NotAuthorizedForQuery` if only administrators may make the query.
    """
    if query.include_all_active and not actor.is_administrator:
        raise NotAuthorizedForQuery()
    wanted: list[SQLColumnExpression[bool]] = []
    if query.include_public and not actor.is_guest:
        wanted.append(~Channel.invite_only)
    if query.include_web_public or (query.include_public and actor.is_guest):
        wanted.append(Channel.is_web_public)
    if query.include_subscribed:
        wanted.append(Channel.id.in_(_subscribed_by(actor.id)))
    if query.include_owner_subscribed and actor.bot_owner_id is not None:
        wanted.append(Channel.id.in_(_subscribed_by(actor.bot_owner_id)))
    if query.include_can_access_content:
        wanted.append(Channel.id.in_(readable_channel_ids(db, actor)))
    if query.include_all or query.include_all_active:
        wanted.append(_is_visible(db, actor))
    statement = (
        channels_seen_by(actor.id)
        .where(Channel.realm_id == actor.realm.id, or_(false(), *wanted))
        .order_by(Channel.id)
    )
    if query.exclude_archived or query.include_all_active:
        statement = statement.where(~Channel.is_archived)
    return read_rows(ChannelView, db.execute(statement))


def _subscribed_by(user_id: int) -> Select[int]:
    return select(Subscription.channel_id).where(
        Subscription.user_id == user_id, Subscription.is_active
    )


def _is_visible(db: Db, actor: Actor) -> ColumnElement[bool]:
    """Return the condition on `Channel` that corresponds to `has_metadata_access`."""
    readable = Channel.id.in_(readable_channel_ids(db, actor))
    if actor.is_guest:
        return readable
    if actor.is_administrator:
        return Channel.realm_id == actor.realm.id
    groups = group_ids_of(db, actor)
    return or_(readable, Channel.can_administer_channel_group.in_(groups))


def find_default_channel_ids(db: Db, realm_id: int) -> set[int]:
    """Return the ids of the channels to which new members are subscribed."""
    ids = select(DefaultChannel.channel_id).where(DefaultChannel.realm_id == realm_id)
    return set(db.execute(ids).scalars())


# --- channels in the form of the API --------------------------------------------------------------


def describe_channels(
    db: Db,
    realm: RealmView,
    channels: Sequence[ChannelView],
    *,
    now: datetime,
    visible_ids: Container[int] | None = None,
) -> dict[int, dict[str, Any]]:
    """Return the channels in the API's form, by id, with at most five statements.

    `visible_ids` are the users that the reader may see, or None for all users.
    """
    values = {"channel_ids": [channel.id for channel in channels]}
    counts = dict(_COUNTS.all(db, values))
    latest = dict(_NEWEST_TIMES.all(db, values))
    groups = find_group_values(
        db,
        {getattr(channel, name) for channel in channels for name in CHANNEL_GROUPS},
        visible_ids=visible_ids,
    )
    policies = {
        realm.administrators_group_id: 2,
        realm.fullmembers_group_id: 3,
        realm.moderators_group_id: 4,
    }
    described: dict[int, dict[str, Any]] = {}
    for channel in channels:
        last_used = latest.get(channel.id, channel.date_created)
        post_policy = policies.get(channel.can_send_message_group, 1)
        described[channel.id] = {
            "stream_id": channel.id,
            "name": channel.name,
            "description": channel.description,
            "rendered_description": channel.rendered_description,
            "invite_only": channel.invite_only,
            "is_web_public": channel.is_web_public,
            "history_public_to_subscribers": channel.history_public_to_subscribers,
            "is_archived": channel.is_archived,
            "is_recently_active": max(last_used, channel.date_created) > now - QUIET_AFTER,
            "creator_id": id_if_visible(channel.creator_id, visible_ids),
            "date_created": int(channel.date_created.timestamp()),
            "first_message_id": channel.first_message_id,
            "folder_id": channel.folder_id,
            "message_retention_days": channel.message_retention_days,
            "topics_policy": channel.topics_policy,
            "stream_post_policy": post_policy,
            "is_announcement_only": post_policy == 2,
            "subscriber_count": counts.get(channel.id, 0),
            "stream_weekly_traffic": None,
            **{name: groups[getattr(channel, name)] for name in CHANNEL_GROUPS},
        }
    return described


def find_subscriber_ids(db: Db, channel_ids: Collection[int]) -> dict[int, list[int]]:
    """Return channel id -> ids of its active subscribers, ascending."""
    subscribers = dict(_SUBSCRIBER_IDS.all(db, {"channel_ids": list(channel_ids)}))
    return {channel_id: subscribers.get(channel_id, []) for channel_id in channel_ids}


def _of_subscribers(aggregate: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    """Return a select of channel and aggregate of its active subscribers, for channels in
    `:channel_ids`. Channels without subscribers have no row.
    """
    return (
        select(Subscription.channel_id, aggregate)
        .join(User, and_(User.id == Subscription.user_id, User.is_active))
        .where(in_parameter(Subscription.channel_id, "channel_ids"), Subscription.is_active)
        .group_by(Subscription.channel_id)
    )


_COUNTS: Query[int, int] = Query(_of_subscribers(func.count()), one_plan=False)
_SUBSCRIBER_IDS: Query[int, list[int]] = Query(
    _of_subscribers(ids_as_array(Subscription.user_id)), one_plan=False
)
_NEWEST_ID = (
    select(func.max(Topic.max_id))
    .where(Topic.channel_id == Channel.id)
    .correlate(Channel)
    .scalar_subquery()
)
_NEWEST_TIMES: Query[int, datetime] = Query(
    select(Channel.id, Message.sent_at)
    .join(Message, Message.id == _NEWEST_ID)
    .where(in_parameter(Channel.id, "channel_ids"))
)


# --- permission to change channels ----------------------------------------------------------------


def can_administer_channel(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may change a channel that they may see."""
    if actor.is_guest:
        return False
    return actor.is_administrator or belongs(db, actor, channel.can_administer_channel_group)


_LOCKED = (
    select(Channel.id)
    .where(Channel.id == bindparam("channel_id"), Channel.realm_id == bindparam("realm_id"))
    .with_for_update(key_share=True)
)


def lock_channel(session: Session, actor: Actor, channel_id: int) -> ChannelView:
    """Return the channel if the actor may see it, locked against other changes until the
    transaction ends. Raise `InvalidChannelId`.
    """
    session.execute(_LOCKED, {"channel_id": channel_id, "realm_id": actor.realm_id})
    return access_channel(session, actor, channel_id, content=False)


def access_channel_to_administer(session: Session, actor: Actor, channel_id: int) -> ChannelView:
    """Return the channel like `lock_channel`, if the actor may change it. Otherwise raise
    `MayNotAdministerChannel`.
    """
    channel = lock_channel(session, actor, channel_id)
    if not can_administer_channel(session, actor, channel):
        raise MayNotAdministerChannel()
    return channel


def require_content_access(session: Session, actor: Actor, channel: ChannelView) -> None:
    """Raise `ContentAccessRequired` unless the actor may read the channel. Only readers may give
    others permission to read it.
    """
    if not has_content_access(session, actor, channel):
        raise ContentAccessRequired()
