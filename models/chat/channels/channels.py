"""Channels as things: their names, those that somebody can see, and how clients see them."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    false,
    func,
    or_,
    select,
)

from models.chat.access.channels import (
    ChannelView,
    channels_seen_by,
    filter_known,
    readable_channel_ids,
)
from models.chat.access.channels import find_channels as find_some_channels
from models.chat.access.group_settings import CHANNEL_GROUPS, find_group_values
from models.chat.access.membership import belongs, group_ids_of
from models.chat.access.people import visible_user_id
from models.chat.channels.errors import (
    ChannelNameIsEmpty,
    ChannelNameTooLong,
    InvalidCharacterInChannelName,
    NotAuthorizedForQuery,
)
from models.chat.common.one_line import FORBIDDEN
from models.chat.identity.actors import Actor, RealmView
from models.chat.tables import Channel, DefaultChannel, Message, Subscription, Topic, User
from models.dialects import bound_in, gathered_ids
from models.prepared import Query
from models.reader import Db
from models.rows import read_rows

NAME_MAX, DESCRIPTION_MAX = 60, 1024
QUIET_AFTER = timedelta(days=180)
"""A channel without a message for so long is no longer recently active."""


def check_channel_name(name: str) -> str:
    """The name as it is stored: trimmed. Raises the class that says what is wrong with it."""
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
    """The realm's channels of these names, in any case and whoever may see them, by their keys."""
    found = find_some_channels(db, actor, names=names)
    return {view.name.casefold(): view for view in found}


def find_known_channels_by_name(
    db: Db, actor: Actor, names: Iterable[str], *, bots: Collection[int] = ()
) -> dict[str, ChannelView]:
    """`find_channels_by_name`, of those that the actor may know, or that one of the bots is in:
    the actor's own, who reads what they read.
    """
    found = find_channels_by_name(db, actor, names)
    known = {view.name.casefold(): view for view in filter_known(db, actor, found.values())}
    if bots:
        hidden = {view.id: key for key, view in found.items() if key not in known}
        there = select(Subscription.channel_id).where(
            Subscription.channel_id.in_(hidden),
            Subscription.user_id.in_(bots),
            Subscription.is_active,
        )
        for channel_id in db.execute(there).scalars():
            known[hidden[channel_id]] = found[hidden[channel_id]]
    return known


# --- the list of channels ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChannelQuery:
    """Which channels a list holds: those that any of the `include_` wants."""

    include_public: bool = True
    include_web_public: bool = False
    include_subscribed: bool = True
    include_all: bool = False
    include_all_active: bool = False
    include_owner_subscribed: bool = False
    include_can_access_content: bool = False
    exclude_archived: bool = True


def find_channels(db: Db, actor: Actor, query: ChannelQuery) -> list[ChannelView]:
    """The channels that the query wants and the actor may know of, in order of their ids.

    Raises `NotAuthorizedForQuery` where only administrators may ask.
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
        wanted.append(_known_to(db, actor))
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


def _known_to(db: Db, actor: Actor) -> ColumnElement[bool]:
    """`has_metadata_access` for many channels at once."""
    readable = Channel.id.in_(readable_channel_ids(db, actor))
    if actor.is_guest:
        return readable
    if actor.is_administrator:
        return Channel.realm_id == actor.realm.id
    groups = group_ids_of(db, actor)
    return or_(readable, Channel.can_administer_channel_group.in_(groups))


def find_default_channel_ids(db: Db, realm_id: int) -> set[int]:
    """Ids of the channels that new members are subscribed to."""
    return set(
        db.execute(
            select(DefaultChannel.channel_id).where(DefaultChannel.realm_id == realm_id)
        ).scalars()
    )


# --- how clients see channels -----------------------------------------------------------------


def describe_channels(
    db: Db,
    realm: RealmView,
    channels: Sequence[ChannelView],
    *,
    now: datetime,
    known_ids: Container[int] | None = None,
) -> dict[int, dict[str, Any]]:
    """Id -> the channel as clients see it; in at most five statements for however many.

    `known_ids`: the only users that their reader may know; None: everybody.
    """
    ids = [channel.id for channel in channels]
    counts = _count_subscribers(db, ids)
    latest = _find_newest_times(db, ids)
    groups = find_group_values(
        db,
        {getattr(channel, name) for channel in channels for name in CHANNEL_GROUPS},
        known_ids=known_ids,
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
            "creator_id": visible_user_id(channel.creator_id, known_ids),
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


def _count_subscribers(db: Db, channel_ids: Collection[int]) -> Mapping[int, int]:
    return dict(_COUNTS.all(db, _of(channel_ids)))


def _find_newest_times(db: Db, channel_ids: Collection[int]) -> Mapping[int, datetime]:
    """When each channel that has messages got its newest one."""
    return dict(_NEWEST_TIMES.all(db, _of(channel_ids)))


def find_subscriber_ids(db: Db, channel_ids: Collection[int]) -> dict[int, list[int]]:
    """Channel id -> ids of its active subscribers, in order."""
    found = dict(_SUBSCRIBER_IDS.all(db, _of(channel_ids)))
    return {channel_id: found.get(channel_id, []) for channel_id in channel_ids}


def _of(channel_ids: Collection[int]) -> dict[str, Any]:
    return {"channel_ids": list(channel_ids)}


def _subscribed(*found: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    """A row for each of channels :channel_ids that has active subscribers, with what is found."""
    return (
        select(Subscription.channel_id, *found)
        .join(User, and_(User.id == Subscription.user_id, User.is_active))
        .where(bound_in(Subscription.channel_id, "channel_ids"), Subscription.is_active)
        .group_by(Subscription.channel_id)
    )


_COUNTS: Query[int, int] = Query(_subscribed(func.count()), one_plan=False)
_SUBSCRIBER_IDS: Query[int, list[int]] = Query(
    _subscribed(gathered_ids(Subscription.user_id)), one_plan=False
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
    .where(bound_in(Channel.id, "channel_ids"))
)


def can_administer_channel(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """May the actor change the channel itself? For a channel they have metadata access to."""
    if actor.is_guest:
        return False
    return actor.is_administrator or belongs(db, actor, channel.can_administer_channel_group)
