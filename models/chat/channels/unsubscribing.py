"""Unsubscribe the actor or other users from channels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import false, select, update
from sqlalchemy.orm import Session

from models.chat.access.audiences import Audiences
from models.chat.access.channels import ChannelView, has_metadata_access
from models.chat.access.membership import belongs, require
from models.chat.access.naming import access_principals
from models.chat.channels.change_events import Peers, gather_peers
from models.chat.channels.channels import (
    can_administer_channel,
    check_channel_name,
    find_subscriber_ids,
    find_visible_channels_by_name,
)
from models.chat.channels.errors import ChannelsDoNotExist
from models.chat.channels.subscribing import check_count
from models.chat.channels.subscriptions import ARE_OF, parameters_of
from models.chat.common import audit
from models.chat.common.name_keys import key_of
from models.chat.events import log
from models.chat.events.channels import (
    LeftChannel,
    StreamDeleteEvent,
    SubscriptionPeerRemoveEvent,
    SubscriptionRemoveEvent,
)
from models.chat.events.log import AddressedEvent
from models.chat.identity.actors import Actor, RealmView
from models.chat.messages.left_channels import mark_left_as_read
from models.chat.tables import Subscription
from specd.db import Change, Db, Query, table_of


def unsubscribe(
    session: Session,
    actor: Actor,
    names: Sequence[str],
    *,
    principals: Sequence[int | str],
    now: datetime,
) -> tuple[list[str], list[str]]:
    """End the subscriptions of the principals, or of the actor if there are none. If one fails,
    none is ended. Users may always unsubscribe themselves and their bots.

    Return the names of channels that at least one user left, and of channels to which at least one
    user was not subscribed. Raise `NoSuchUser`, `UserIsDeactivated`, an error of
    `check_channel_name`, `TooManySubscriptions`, `ChannelsDoNotExist` (also for channels that the
    actor may not see) or `InsufficientPermission`.
    """
    people = access_principals(session, actor, principals)
    check_count(len(names), len(people))
    others = any(row.id != actor.id and row.bot_owner_id != actor.id for row in people)
    keys = {key_of(check_channel_name(name)): name.strip() for name in names}
    bots = [row.id for row in people if row.bot_owner_id == actor.id]
    by_key = find_visible_channels_by_name(session, actor, keys, bots=bots)
    missing = [name for key, name in keys.items() if key not in by_key]
    if missing:
        raise ChannelsDoNotExist(names=", ".join(missing))
    channels = [by_key[key] for key in keys]
    if others:
        require(all(can_remove_subscribers(session, actor, channel) for channel in channels))
    left = _leave(session, channels, [row.id for row in people])
    removed = [channel for channel in channels if left[channel.id]]
    stayed_out = [channel.name for channel in channels if len(left[channel.id]) < len(people)]
    if removed:
        audit.record_channel_changes(
            session,
            actor.realm.id,
            "user_unsubscribed",
            [(channel_id, user_id) for channel_id in left for user_id in left[channel_id]],
            actor_id=actor.id,
            now=now,
        )
        _notify_of_leavers(session, actor.realm, removed, left, now=now)
        mark_left_as_read(session, actor.realm.id, left, now=now)
    return [channel.name for channel in removed], stayed_out


def _leave(
    session: Session, channels: Sequence[ChannelView], user_ids: Sequence[int]
) -> Mapping[int, list[int]]:
    """End the subscriptions. Return channel id -> ids of the users who left."""
    left: dict[int, list[int]] = {channel.id: [] for channel in channels}
    parameters = parameters_of(left, user_ids)
    for channel_id, user_id in _SUBSCRIBED.all(session, parameters):
        left[channel_id].append(user_id)
    _LEAVE.run(session, parameters)
    return left


_SUBSCRIBED: Query[int, int] = Query(
    select(Subscription.channel_id, Subscription.user_id)
    .where(*ARE_OF, Subscription.is_active)
    .order_by(Subscription.channel_id, Subscription.user_id)
    .with_for_update()
)
_LEAVE = Change(
    update(table_of(Subscription)).where(*ARE_OF, Subscription.is_active).values(is_active=false())
)


def _notify_of_leavers(
    session: Session,
    realm: RealmView,
    channels: Sequence[ChannelView],
    left: Mapping[int, Sequence[int]],
    *,
    now: datetime,
) -> None:
    """Append the events of ended subscriptions: first for the users who left, then for all other
    users, and then the deletion of channels for users who may no longer see them.
    """
    subscribers = find_subscriber_ids(session, [channel.id for channel in channels])
    audiences = Audiences(session, realm, channels)
    by_user: dict[int, list[ChannelView]] = defaultdict(list)
    peers: list[Peers] = []
    gone: list[AddressedEvent] = []
    for channel in channels:
        leavers = set(left[channel.id])
        for user_id in left[channel.id]:
            by_user[user_id].append(channel)
        audience = audiences.of(channel, subscribers[channel.id])
        peers.append((channel.id, leavers, None if audience is None else audience - leavers))
        lost = set() if audience is None else leavers - audience
        gone.append((StreamDeleteEvent.of([channel.id]), lost))
    users_of: dict[tuple[ChannelView, ...], list[int]] = defaultdict(list)
    for user_id, channels_left in by_user.items():
        users_of[tuple(channels_left)].append(user_id)
    removed: list[AddressedEvent] = []
    for same, user_ids in users_of.items():
        named: list[LeftChannel] = [{"name": c.name, "stream_id": c.id} for c in same]
        removed.append((SubscriptionRemoveEvent(subscriptions=named), user_ids))
    others = gather_peers(SubscriptionPeerRemoveEvent, peers)
    log.append_all(session, realm.id, [*removed, *others], now=now)
    log.append_all(session, realm.id, gone, now=now)


def can_remove_subscribers(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may unsubscribe others from the channel."""
    if actor.is_guest or not has_metadata_access(db, actor, channel):
        return False
    return can_administer_channel(db, actor, channel) or belongs(
        db, actor, channel.can_remove_subscribers_group
    )
