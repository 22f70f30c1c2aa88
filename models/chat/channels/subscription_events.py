"""Events that tell clients of channels made, of new subscribers and of those who left.

Each function takes a few statements, however many channels and users it tells of.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from models.chat.access.audiences import Audiences
from models.chat.access.channels import ChannelView
from models.chat.channels.channels import (
    describe_channels,
    find_default_channel_ids,
    find_subscriber_ids,
)
from models.chat.channels.subscriptions import SubscriptionRow, describe_subscription
from models.chat.events import log
from models.chat.events.channels import (
    DefaultStreamsEvent,
    LeftChannel,
    StreamCreateEvent,
    StreamDeleteEvent,
    SubscriptionAddEvent,
    SubscriptionPeerAddEvent,
    SubscriptionPeerRemoveEvent,
    SubscriptionRemoveEvent,
)
from models.chat.events.log import Told
from models.chat.identity.actors import RealmView


def tell_of_subscribers(
    session: Session,
    realm: RealmView,
    channels: Sequence[ChannelView],
    joined: Mapping[int, Sequence[int]],
    subscriptions: Mapping[tuple[int, int], SubscriptionRow],
    *,
    created: Sequence[ChannelView],
    now: datetime,
) -> None:
    """First which channels there are, to everybody for whom they are new; then to each new
    subscriber what is theirs; then to all others who joined.

    `channels` got the users of `joined`, by channel; `subscriptions` are rows by channel and user.
    """
    shown = list({channel.id: channel for channel in (*channels, *created)}.values())
    if not shown:
        return
    subscribers = find_subscriber_ids(session, [channel.id for channel in shown])
    described = describe_channels(session, realm, shown, now=now)
    audiences = Audiences(session, realm, shown)
    is_new = {channel.id for channel in created}
    appeared: list[Told] = []
    peers: list[Told] = []
    for channel in shown:
        newcomers = set(joined.get(channel.id, ()))
        audience = audiences.of(channel, subscribers[channel.id])
        create = StreamCreateEvent(streams=[described[channel.id]])
        if channel.id in is_new:
            appeared.append((create, audience))
        else:
            before = audiences.of(channel, set(subscribers[channel.id]) - newcomers)
            appeared.append((create, set() if before is None else newcomers - before))
        if newcomers:
            peer = SubscriptionPeerAddEvent(stream_ids=[channel.id], user_ids=sorted(newcomers))
            peers.append((peer, None if audience is None else audience - newcomers))
    log.append_all(session, realm.id, appeared, now=now)
    added = _added(channels, joined, subscriptions, described, subscribers)
    log.append_all(session, realm.id, added, now=now)
    log.append_all(session, realm.id, peers, now=now)


def _added(
    channels: Sequence[ChannelView],
    joined: Mapping[int, Sequence[int]],
    subscriptions: Mapping[tuple[int, int], SubscriptionRow],
    described: Mapping[int, Mapping[str, Any]],
    subscribers: Mapping[int, Sequence[int]],
) -> list[Told]:
    """Those to whom everything reads the same share one event."""
    mine: dict[int, list[tuple[int, tuple[Any, ...]]]] = defaultdict(list)
    for channel in channels:
        for user_id in joined[channel.id]:
            settings = describe_subscription(subscriptions[channel.id, user_id])
            mine[user_id].append((channel.id, tuple(settings.items())))
    alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for user_id, theirs in mine.items():
        alike[tuple(theirs)].append(user_id)
    return [
        (
            SubscriptionAddEvent(
                subscriptions=[
                    {
                        **described[channel_id],
                        **dict(settings),
                        "subscribers": subscribers[channel_id],
                    }
                    for channel_id, settings in theirs
                ]
            ),
            user_ids,
        )
        for theirs, user_ids in alike.items()
    ]


def tell_of_default_channels(session: Session, realm: RealmView, *, now: datetime) -> None:
    """Which channels new members are subscribed to from now on."""
    ids = sorted(find_default_channel_ids(session, realm.id))
    log.append(session, realm.id, DefaultStreamsEvent(default_streams=ids), now=now)


def tell_of_leavers(
    session: Session,
    realm: RealmView,
    channels: Sequence[ChannelView],
    left: Mapping[int, Sequence[int]],
    *,
    now: datetime,
) -> None:
    """First to each who left; then to all others who left; then, to those who may no longer know
    of a channel, that it is gone.
    """
    subscribers = find_subscriber_ids(session, [channel.id for channel in channels])
    audiences = Audiences(session, realm, channels)
    mine: dict[int, list[ChannelView]] = defaultdict(list)
    peers: list[Told] = []
    gone: list[Told] = []
    for channel in channels:
        leavers = set(left[channel.id])
        for user_id in left[channel.id]:
            mine[user_id].append(channel)
        audience = audiences.of(channel, subscribers[channel.id])
        peer = SubscriptionPeerRemoveEvent(stream_ids=[channel.id], user_ids=sorted(leavers))
        peers.append((peer, None if audience is None else audience - leavers))
        lost = set() if audience is None else leavers - audience
        gone.append((StreamDeleteEvent.of([channel.id]), lost))
    alike: dict[tuple[ChannelView, ...], list[int]] = defaultdict(list)
    for user_id, theirs in mine.items():
        alike[tuple(theirs)].append(user_id)
    removed: list[Told] = []
    for same, user_ids in alike.items():
        named: list[LeftChannel] = [{"name": c.name, "stream_id": c.id} for c in same]
        removed.append((SubscriptionRemoveEvent(subscriptions=named), user_ids))
    log.append_all(session, realm.id, [*removed, *peers], now=now)
    log.append_all(session, realm.id, gone, now=now)
