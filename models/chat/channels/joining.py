"""Writing subscriptions: the rows of users who join channels, and who hears of it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, select, true, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.audiences import Audiences
from models.chat.access.channels import ChannelView
from models.chat.access.people import UserRow
from models.chat.channels.channels import (
    describe_channels,
    find_subscriber_ids,
)
from models.chat.channels.defaults import notify_of_default_channels
from models.chat.channels.peers import Peers, gather_peers
from models.chat.channels.subscriptions import (
    ARE_NAMED,
    DEFAULT_SETTINGS,
    SETTINGS,
    SubscriptionRow,
    describe_subscription,
    named,
)
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.channels import (
    StreamCreateEvent,
    SubscriptionAddEvent,
    SubscriptionPeerAddEvent,
)
from models.chat.events.log import AddressedEvent
from models.chat.identity.actors import Actor, RealmView
from models.chat.tables import Message, Subscription
from models.prepared import Change, Query

_TABLE = table_of(Subscription)
_INSERT = Change(insert(_TABLE))


@dataclass(slots=True)
class Subscribed:
    """What came of it. User id -> names of channels; all channels of the call, and those made."""

    people: Sequence[UserRow]
    channels: list[ChannelView] = field(default_factory=list)
    subscribed: dict[int, list[str]] = field(default_factory=dict)
    already_subscribed: dict[int, list[str]] = field(default_factory=dict)
    unauthorized: list[str] = field(default_factory=list)
    created: list[ChannelView] = field(default_factory=list)


def join(
    session: Session,
    actor: Actor,
    outcome: Subscribed,
    *,
    colors: Mapping[int, str],
    is_default: bool,
    now: datetime,
) -> None:
    """Subscribe the outcome's people to its channels, and say in it who was and who became so.

    `colors`: channel id -> the color of its new subscribers. `is_default`: the created channels
    are also those that new users begin with.
    """
    user_ids = [row.id for row in outcome.people]
    channel_ids = [channel.id for channel in outcome.channels]
    kept = _find_kept(session, channel_ids, user_ids)
    (newest,) = _NEWEST_ID.one(session)
    beginning = {"is_active": True, "subscribed_at": now, "joined_after_id": newest}
    beginning |= DEFAULT_SETTINGS
    rows: list[dict[str, Any]] = []
    joined: dict[int, list[int]] = {channel_id: [] for channel_id in channel_ids}
    for user_id in user_ids:
        for channel in outcome.channels:
            key = (channel.id, user_id)
            if key in kept and kept[key]["is_active"]:
                outcome.already_subscribed.setdefault(user_id, []).append(channel.name)
                continue
            outcome.subscribed.setdefault(user_id, []).append(channel.name)
            joined[channel.id].append(user_id)
            if key not in kept:
                row: dict[str, Any] = {"channel_id": channel.id, "user_id": user_id}
                rows.append({**row, "color": colors[channel.id], **beginning})
    if rows:
        _INSERT.run_all(session, rows)
    if any(not subscription["is_active"] for subscription in kept.values()):
        _rejoin(session, channel_ids, user_ids, now=now)
    pairs = [(channel_id, user_id) for channel_id in joined for user_id in joined[channel_id]]
    audit.record_channel_changes(
        session, actor.realm.id, "user_subscribed", pairs, actor_id=actor.id, now=now
    )
    for row in rows:
        kept[row["channel_id"], row["user_id"]] = row
    _notify_of_subscribers(
        session,
        actor.realm,
        [channel for channel in outcome.channels if joined[channel.id]],
        joined,
        kept,
        created=outcome.created,
        now=now,
    )
    if is_default and outcome.created:
        notify_of_default_channels(session, actor.realm_id, now=now)


_NEWEST_ID: Query[int] = Query(select(func.coalesce(func.max(Message.id), 0)))


def _rejoin(
    session: Session, channel_ids: Collection[int], user_ids: Collection[int], *, now: datetime
) -> None:
    """Revive the subscriptions that these users had, with the settings they had."""
    _REJOIN.run(session, {**named(channel_ids, user_ids), "at": now})


_REJOIN = Change(
    update(_TABLE)
    .where(*ARE_NAMED, ~Subscription.is_active)
    .values(is_active=true(), subscribed_at=bindparam("at"))
)


def _find_kept(
    session: Session, channel_ids: Collection[int], user_ids: Collection[int]
) -> dict[tuple[int, int], SubscriptionRow]:
    """The subscriptions that these users have or had, by channel and user."""
    rows = _KEPT.all(session, named(channel_ids, user_ids))
    found = [dict(zip(_KEPT_NAMES, row, strict=True)) for row in rows]
    return {(row["channel_id"], row["user_id"]): row for row in found}


_KEPT_NAMES = ("channel_id", "user_id", "is_active", *SETTINGS)
_KEPT: Query[*tuple[Any, ...]] = Query(
    select(*(_TABLE.c[name] for name in _KEPT_NAMES)).where(*ARE_NAMED)
)


# --- events: a few statements, however many channels and users ---------------------------------


def _notify_of_subscribers(
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
    appeared: list[AddressedEvent] = []
    peers: list[Peers] = []
    for channel in shown:
        newcomers = set(joined.get(channel.id, ()))
        audience = audiences.of(channel, subscribers[channel.id])
        if channel.id in is_new:
            empty = {**described[channel.id], "subscriber_count": 0}  # the peers are told of below
            appeared.append((StreamCreateEvent(streams=[empty]), audience))
        else:
            before = audiences.of(channel, set(subscribers[channel.id]) - newcomers)
            create = StreamCreateEvent(streams=[described[channel.id]])
            appeared.append((create, set() if before is None else newcomers - before))
        if newcomers:
            others = audiences.everybody if audience is None else audience
            peers.append((channel.id, newcomers, others - newcomers))
    log.append_all(session, realm.id, appeared, now=now)
    added = _added(channels, joined, subscriptions, described, subscribers)
    log.append_all(session, realm.id, added, now=now)
    told = gather_peers(SubscriptionPeerAddEvent, peers)
    log.append_all(session, realm.id, told, now=now)


def notify_of_restored(
    session: Session, realm: RealmView, channel: ChannelView, *, now: datetime
) -> None:
    """Tell clients that do not know archived channels of one that is archived no longer: as of a
    new one, which its subscribers join.
    """
    subscribers = find_subscriber_ids(session, [channel.id])
    inside = subscribers[channel.id]
    described = describe_channels(session, realm, [channel], now=now)
    audiences = Audiences(session, realm, [channel])
    audience = audiences.of(channel, inside)
    empty = {**described[channel.id], "subscriber_count": 0}
    told: list[AddressedEvent] = [
        (StreamCreateEvent(streams=[empty], for_unarchiving=True), audience)
    ]
    if inside:
        rows = _find_kept(session, [channel.id], inside)
        told += [
            (replace(event, for_unarchiving=True), user_ids)
            for event, user_ids in _added([channel], subscribers, rows, described, subscribers)
        ]
        peers = SubscriptionPeerAddEvent(
            stream_ids=[channel.id], user_ids=inside, for_unarchiving=True
        )
        others = audiences.everybody if audience is None else audience
        told.append((peers, others.difference(inside)))
    log.append_all(session, realm.id, told, now=now)


def _added(
    channels: Sequence[ChannelView],
    joined: Mapping[int, Sequence[int]],
    subscriptions: Mapping[tuple[int, int], SubscriptionRow],
    described: Mapping[int, Mapping[str, Any]],
    subscribers: Mapping[int, Sequence[int]],
) -> list[tuple[SubscriptionAddEvent, list[int]]]:
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
