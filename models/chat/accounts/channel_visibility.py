"""Channels that a user may see, and events when these change."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.audiences import Audiences
from models.chat.access.channels import ChannelView, channels_seen_by
from models.chat.channels.change_events import Peers, gather_peers
from models.chat.channels.channels import (
    ChannelQuery,
    describe_channels,
    find_channels,
    find_subscriber_ids,
)
from models.chat.events import log
from models.chat.events.channels import (
    StreamCreateEvent,
    StreamDeleteEvent,
    SubscriptionPeerAddEvent,
    SubscriptionPeerRemoveEvent,
)
from models.chat.events.log import AddressedEvent
from models.chat.identity.actors import Actor, RealmView, find_actor
from models.chat.tables import Channel, Subscription
from models.rows import read_rows


def find_visible_channels(session: Session, user_id: int) -> dict[int, ChannelView]:
    """Return the channels that the user may see now, by id."""
    user = find_actor(session, user_id)
    assert user is not None
    query = ChannelQuery(include_web_public=True, include_all=True)
    return {channel.id: channel for channel in find_channels(session, user, query)}


def notify_of_access(
    session: Session,
    realm: RealmView,
    user_id: int,
    before: Mapping[int, ChannelView],
    after: Mapping[int, ChannelView],
    *,
    now: datetime,
) -> None:
    """Append the user's events of channels that became visible, with their subscribers, and of
    channels that became hidden.
    """
    gained = [channel for channel_id, channel in after.items() if channel_id not in before]
    lost = [channel_id for channel_id in before if channel_id not in after]
    events: list[AddressedEvent] = []
    if gained:
        described = describe_channels(session, realm, gained, now=now)
        # The events of the subscribers increase the count from 0.
        streams = [{**described[channel.id], "subscriber_count": 0} for channel in gained]
        events.append((StreamCreateEvent(streams=streams), [user_id]))
        subscribers = find_subscriber_ids(session, list(described))
        peers = [(id_, ids, [user_id]) for id_, ids in subscribers.items() if ids]
        events += gather_peers(SubscriptionPeerAddEvent, peers)
    if lost:
        events.append((StreamDeleteEvent.of(lost), [user_id]))
    log.append_all(session, realm.id, events, now=now)


def notify_peers(
    session: Session,
    actor: Actor,
    kind: type[SubscriptionPeerAddEvent] | type[SubscriptionPeerRemoveEvent],
    user_ids: Sequence[int],
    *,
    now: datetime,
) -> None:
    """Append events about users who were reactivated or deactivated, for all other users who may
    see their channels.
    """
    subscribed: dict[int, list[int]] = {}
    for channel_id, user_id in session.execute(
        select(Subscription.channel_id, Subscription.user_id)
        .where(Subscription.user_id.in_(user_ids), Subscription.is_active)
        .order_by(Subscription.channel_id, Subscription.user_id)
    ):
        subscribed.setdefault(channel_id, []).append(user_id)
    rows = session.execute(
        channels_seen_by(actor.id)
        .where(Channel.id.in_(subscribed), ~Channel.is_archived)
        .order_by(Channel.id)
    )
    channels = read_rows(ChannelView, rows)
    subscribers = find_subscriber_ids(session, [channel.id for channel in channels])
    audiences = Audiences(session, actor.realm, channels)
    peers: list[Peers] = []
    for channel in channels:
        audience = audiences.of(channel, subscribers[channel.id])
        others = None if audience is None else audience - set(user_ids)
        peers.append((channel.id, subscribed[channel.id], others))
    log.append_all(session, actor.realm_id, gather_peers(kind, peers), now=now)
