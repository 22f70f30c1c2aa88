"""Store the subscriptions of users who join channels, and append the events."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, select, true, update
from sqlalchemy.orm import Session

from models.chat.access.audiences import Audiences
from models.chat.access.channels import ChannelView
from models.chat.access.people import UserRow
from models.chat.channels.change_events import Peers, gather_peers
from models.chat.channels.channels import describe_channels, find_subscriber_ids
from models.chat.channels.defaults import notify_of_default_channels
from models.chat.channels.subscriptions import (
    ARE_OF,
    DEFAULT_SETTINGS,
    SETTINGS,
    SubscriptionRow,
    describe_subscription,
    parameters_of,
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
from specd.db import Change, Query, table_of

_TABLE = table_of(Subscription)
_INSERT = Change(insert(_TABLE))


@dataclass(slots=True)
class Subscribed:
    """The result of a request to subscribe: users, channels, names of channels by user id, and the
    channels that the request created.
    """

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
    """Subscribe the users of `outcome` to its channels, and record new and existing subscriptions
    in `outcome`.

    `colors` are the colors for new subscribers, by channel id. If `is_default`, the created
    channels are default channels.
    """
    user_ids = [row.id for row in outcome.people]
    channel_ids = [channel.id for channel in outcome.channels]
    subscriptions = _find_subscriptions(session, channel_ids, user_ids)
    (newest,) = _NEWEST_ID.one(session)
    new_row = {"is_active": True, "subscribed_at": now, "joined_after_id": newest}
    new_row |= DEFAULT_SETTINGS
    rows: list[dict[str, Any]] = []
    joined: dict[int, list[int]] = {channel_id: [] for channel_id in channel_ids}
    for user_id in user_ids:
        for channel in outcome.channels:
            key = (channel.id, user_id)
            if key in subscriptions and subscriptions[key]["is_active"]:
                outcome.already_subscribed.setdefault(user_id, []).append(channel.name)
                continue
            outcome.subscribed.setdefault(user_id, []).append(channel.name)
            joined[channel.id].append(user_id)
            if key not in subscriptions:
                row: dict[str, Any] = {"channel_id": channel.id, "user_id": user_id}
                rows.append({**row, "color": colors[channel.id], **new_row})
    if rows:
        _INSERT.run_all(session, rows)
    if any(not subscription["is_active"] for subscription in subscriptions.values()):
        _REJOIN.run(session, {**parameters_of(channel_ids, user_ids), "at": now})
    pairs = [(channel_id, user_id) for channel_id in joined for user_id in joined[channel_id]]
    audit.record_channel_changes(
        session, actor.realm.id, "user_subscribed", pairs, actor_id=actor.id, now=now
    )
    for row in rows:
        subscriptions[row["channel_id"], row["user_id"]] = row
    _notify_of_subscribers(
        session,
        actor.realm,
        [channel for channel in outcome.channels if joined[channel.id]],
        joined,
        subscriptions,
        created=outcome.created,
        now=now,
    )
    if is_default and outcome.created:
        notify_of_default_channels(session, actor.realm_id, now=now)


_NEWEST_ID: Query[int] = Query(select(func.coalesce(func.max(Message.id), 0)))


_REJOIN = Change(
    update(_TABLE)
    .where(*ARE_OF, ~Subscription.is_active)
    .values(is_active=true(), subscribed_at=bindparam("at"))
)
"""Reactivates ended subscriptions with their former settings."""


def _find_subscriptions(
    session: Session, channel_ids: Collection[int], user_ids: Collection[int]
) -> dict[tuple[int, int], SubscriptionRow]:
    """Return the active and ended subscriptions of these users, by channel and user."""
    rows = _SUBSCRIPTIONS.all(session, parameters_of(channel_ids, user_ids))
    mappings = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    return {(row["channel_id"], row["user_id"]): row for row in mappings}


_COLUMNS = ("channel_id", "user_id", "is_active", *SETTINGS)
_SUBSCRIPTIONS: Query[*tuple[Any, ...]] = Query(
    select(*(_TABLE.c[name] for name in _COLUMNS)).where(*ARE_OF)
)


# --- events; the number of statements does not depend on the number of channels and users ---------


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
    """Append the events of new subscriptions: first the channels, for users who could not see them
    before; then the subscriptions, for the new subscribers; then the subscribers, for all other
    users.

    `joined` contains the new subscribers of `channels` by channel id, and `subscriptions` the rows
    by channel id and user id.
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
            empty = {**described[channel.id], "subscriber_count": 0}  # increased by events
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
    log.append_all(session, realm.id, gather_peers(SubscriptionPeerAddEvent, peers), now=now)


def notify_of_restored(
    session: Session, realm: RealmView, channel: ChannelView, *, now: datetime
) -> None:
    """Append the events of a restored channel for clients without support for archived channels.
    They are the events of a new channel that its subscribers join.
    """
    subscribers = find_subscriber_ids(session, [channel.id])
    user_ids = subscribers[channel.id]
    described = describe_channels(session, realm, [channel], now=now)
    audiences = Audiences(session, realm, [channel])
    audience = audiences.of(channel, user_ids)
    empty = {**described[channel.id], "subscriber_count": 0}
    events: list[AddressedEvent] = [
        (StreamCreateEvent(streams=[empty], for_unarchiving=True), audience)
    ]
    if user_ids:
        rows = _find_subscriptions(session, [channel.id], user_ids)
        events += [
            (replace(event, for_unarchiving=True), recipients)
            for event, recipients in _added([channel], subscribers, rows, described, subscribers)
        ]
        peers = SubscriptionPeerAddEvent(
            stream_ids=[channel.id], user_ids=user_ids, for_unarchiving=True
        )
        others = audiences.everybody if audience is None else audience
        events.append((peers, others.difference(user_ids)))
    log.append_all(session, realm.id, events, now=now)


def _added(
    channels: Sequence[ChannelView],
    joined: Mapping[int, Sequence[int]],
    subscriptions: Mapping[tuple[int, int], SubscriptionRow],
    described: Mapping[int, Mapping[str, Any]],
    subscribers: Mapping[int, Sequence[int]],
) -> list[tuple[SubscriptionAddEvent, list[int]]]:
    """Return the events of new subscriptions. Users with equal subscriptions share an event."""
    by_user: dict[int, list[tuple[int, tuple[Any, ...]]]] = defaultdict(list)
    for channel in channels:
        for user_id in joined[channel.id]:
            settings = describe_subscription(subscriptions[channel.id, user_id])
            by_user[user_id].append((channel.id, tuple(settings.items())))
    users_of: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for user_id, added in by_user.items():
        users_of[tuple(added)].append(user_id)
    return [
        (
            SubscriptionAddEvent(
                subscriptions=[
                    {
                        **described[channel_id],
                        **dict(settings),
                        "subscribers": subscribers[channel_id],
                    }
                    for channel_id, settings in added
                ]
            ),
            user_ids,
        )
        for added, user_ids in users_of.items()
    ]
