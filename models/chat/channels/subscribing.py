"""Subscribing users to channels, which makes those that do not exist. However many of either:
the number of statements is the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Table, func, insert, select, update
from sqlalchemy.orm import Session

from models.chat.access.naming import access_principals, is_self
from models.chat.access.permissions import (
    ChannelView,
    belongs,
    can_add_subscribers,
    can_subscribe,
    keep_known,
    require,
)
from models.chat.channels.channels import check_channel_name, find_channels_by_name
from models.chat.channels.creation import (
    CheckedGroups,
    NewChannel,
    check_folder,
    check_groups,
    create_channels,
    parse_retention,
    require_may_create,
)
from models.chat.channels.subscription_events import tell_of_default_channels, tell_of_subscribers
from models.chat.channels.subscriptions import DEFAULT_SETTINGS, check_color, color_of
from models.chat.errors.authorization import InsufficientPermission
from models.chat.errors.channels import (
    ChannelNotAccessible,
    TooManyNewChannels,
    TooManySubscriptions,
)
from models.chat.ground import audit
from models.chat.identity.actors import Actor
from models.chat.rendering.texts import NO_TEXTS
from models.chat.tables import Message, Subscription

_INSERT = insert(cast(Table, Subscription.__table__))

MOST_TIES = 5000
"""Channels times users of one request."""
MOST_NEW = 20
"""Each channel that is made begins with a notice, and its description is rendered."""


@dataclass(frozen=True, slots=True)
class WantedChannel:
    """A channel by name; the description is for one that is made, the color for new subscribers."""

    name: str
    description: str = ""
    color: str | None = None


@dataclass(slots=True)
class Subscribed:
    """What came of it. User id -> names of channels; all channels of the call, and those made."""

    people: list[Any]
    channels: list[ChannelView] = field(default_factory=list)
    subscribed: dict[int, list[str]] = field(default_factory=dict)
    already_subscribed: dict[int, list[str]] = field(default_factory=dict)
    unauthorized: list[str] = field(default_factory=list)
    created: list[ChannelView] = field(default_factory=list)


def one_line(description: str) -> str:
    """A channel's description as it is stored and rendered."""
    return " ".join(description.splitlines())


def subscribe(
    session: Session,
    actor: Actor,
    wanted: Sequence[WantedChannel],
    new: NewChannel,
    *,
    principals: Sequence[int | str],
    refuse_unauthorized: bool,
    web_public_enabled: bool,
    html: Mapping[str, str] = NO_TEXTS,
    now: datetime,
) -> Subscribed:
    """Subscribe the principals (nobody named: the actor) to the wanted channels; all or nothing.

    `html`: the descriptions, each in one line -> as HTML.
    `refuse_unauthorized`: a channel the actor has no right to is an error, else it is left out.
    Raises what the checks raise, in this order: groups, folder, retention, names and colors, the
    right to make channels, `ChannelNotAccessible` and `InsufficientPermission` for those that
    exist, `NoSuchUser` and `UserIsDeactivated`, and `ChannelNotAccessible` for the name of a
    channel that the actor may not know. Makes `MOST_NEW` channels at most
    (`TooManyNewChannels`), and `MOST_TIES` subscriptions (`TooManySubscriptions`).
    """
    groups = check_groups(session, actor, new)
    check_folder(session, actor, new.folder_id)
    parse_retention(new.message_retention_days)
    by_key: dict[str, WantedChannel] = {}
    for index, channel in enumerate(wanted):
        if channel.color is not None:
            check_color(f'subscriptions[{index}]["color"]', channel.color)
        name = check_channel_name(channel.name)
        clean = WantedChannel(name, one_line(channel.description), channel.color)
        by_key.setdefault(name.casefold(), clean)
    existing = find_channels_by_name(session, actor, by_key)
    visible = keep_known(session, actor, existing.values())
    known = {channel.name.casefold() for channel in visible}
    # A channel the actor may not know is one to be made, until its name turns out to be taken.
    unknown = [channel for key, channel in by_key.items() if key not in known]
    taken = [channel for channel in unknown if channel.name.casefold() in existing]
    missing = [channel for channel in unknown if channel not in taken]
    if len(unknown) > MOST_NEW:
        raise TooManyNewChannels(most=MOST_NEW)
    if unknown:
        require_may_create(session, actor, new, web_public_enabled=web_public_enabled)
    others = not is_self(actor, principals)
    authorized, unauthorized = _authorize(
        session, actor, visible, others=others, strict=refuse_unauthorized
    )
    if unknown and others:
        _require_may_add_to_new(session, actor, groups)
    people = access_principals(session, actor, principals)
    check_ties(len(by_key), len(people))
    if taken and refuse_unauthorized:
        raise ChannelNotAccessible(name=taken[0].name)
    created = create_channels(
        session,
        actor,
        [(c.name, c.description) for c in missing],
        new,
        groups,
        html=html,
        now=now,
    )
    refused = [*(channel.name for channel in unauthorized), *(channel.name for channel in taken)]
    outcome = Subscribed(people, unauthorized=refused, created=created)
    joinable = {channel.name.casefold(): channel for channel in (*created, *authorized)}
    channels = [joinable[key] for key in by_key if key in joinable]
    colors = {
        channel.id: by_key[channel.name.casefold()].color or color_of(channel.id)
        for channel in channels
    }
    outcome.channels = channels
    _add(session, actor, channels, colors, outcome, new, now)
    return outcome


def check_ties(channels: int, people: int) -> None:
    """Raises `TooManySubscriptions` where one request would change too many."""
    if channels * people > MOST_TIES:
        raise TooManySubscriptions(most=MOST_TIES)


def _authorize(
    session: Session, actor: Actor, channels: Sequence[ChannelView], *, others: bool, strict: bool
) -> tuple[list[ChannelView], list[ChannelView]]:
    """Existing channels that may be subscribed to, and those that may not."""
    hidden: list[ChannelView] = []
    closed: list[ChannelView] = []
    authorized: list[ChannelView] = []
    for channel in channels:
        if channel.is_archived:
            hidden.append(channel)
        elif others and can_add_subscribers(session, actor, channel):
            authorized.append(channel)
        elif not can_subscribe(session, actor, channel):
            hidden.append(channel)
        else:
            (closed if others else authorized).append(channel)
    if strict and hidden:
        raise ChannelNotAccessible(name=hidden[0].name)
    if strict and closed:
        raise InsufficientPermission()
    return authorized, hidden + closed


def _require_may_add_to_new(session: Session, actor: Actor, groups: CheckedGroups) -> None:
    """Whoever makes a channel may read it, so the organization's right to add others holds there;
    else the channel's own, which belongs to its maker unless they said otherwise.
    """
    if belongs(session, actor, actor.realm.can_add_subscribers_group) or actor.is_administrator:
        return
    administers = groups.get("can_administer_channel_group")
    adds = groups.get("can_add_subscribers_group")
    require(administers is None or any(_holds(session, actor, g) for g in (administers, adds)))


def _holds(session: Session, actor: Actor, value: Any) -> bool:
    if value is None:
        return False
    if isinstance(value, int):
        return belongs(session, actor, value)
    return actor.id in value.members or any(belongs(session, actor, g) for g in value.subgroups)


def _add(
    session: Session,
    actor: Actor,
    channels: Sequence[ChannelView],
    colors: Mapping[int, str],
    outcome: Subscribed,
    new: NewChannel,
    now: datetime,
) -> None:
    user_ids = [row.id for row in outcome.people]
    channel_ids = [channel.id for channel in channels]
    kept = _find_kept(session, channel_ids, user_ids)
    newest = session.execute(select(func.max(Message.id))).scalar() or 0
    rows: list[dict[str, Any]] = []
    joined: dict[int, list[int]] = {channel_id: [] for channel_id in channel_ids}
    for user_id in user_ids:
        for channel in channels:
            key = (channel.id, user_id)
            if key in kept and kept[key]["is_active"]:
                outcome.already_subscribed.setdefault(user_id, []).append(channel.name)
                continue
            outcome.subscribed.setdefault(user_id, []).append(channel.name)
            joined[channel.id].append(user_id)
            if key not in kept:
                rows.append(
                    {
                        "channel_id": channel.id,
                        "user_id": user_id,
                        "is_active": True,
                        "color": colors[channel.id],
                        "subscribed_at": now,
                        "joined_after_id": newest,
                        **DEFAULT_SETTINGS,
                    }
                )
    if rows:
        session.connection().execute(_INSERT, rows)
    if any(not subscription["is_active"] for subscription in kept.values()):
        session.execute(
            update(Subscription)
            .where(
                Subscription.channel_id.in_(channel_ids),
                Subscription.user_id.in_(user_ids),
                ~Subscription.is_active,
            )
            .values(is_active=True, subscribed_at=now)
            .execution_options(synchronize_session=False)
        )
    pairs = [(channel_id, user_id) for channel_id in joined for user_id in joined[channel_id]]
    audit.record_channel_changes(
        session, actor.realm.id, "user_subscribed", pairs, actor_id=actor.id, now=now
    )
    for row in rows:
        kept[row["channel_id"], row["user_id"]] = row
    tell_of_subscribers(
        session,
        actor.realm,
        [channel for channel in channels if joined[channel.id]],
        joined,
        kept,
        created=outcome.created,
        now=now,
    )
    if new.is_default and outcome.created:
        tell_of_default_channels(session, actor.realm, now=now)


def _find_kept(
    session: Session, channel_ids: Collection[int], user_ids: Collection[int]
) -> dict[tuple[int, int], Any]:
    """The subscriptions that these users have or had, by channel and user."""
    rows = session.execute(
        select(Subscription.__table__).where(
            Subscription.channel_id.in_(channel_ids), Subscription.user_id.in_(user_ids)
        )
    )
    return {(row["channel_id"], row["user_id"]): row for row in rows.mappings()}
