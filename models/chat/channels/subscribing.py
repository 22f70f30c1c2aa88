"""Subscribing users to channels, which makes those that do not exist. However many of either:
the number of statements is the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, filter_known, has_content_access
from models.chat.access.errors import InsufficientPermission
from models.chat.access.group_settings import AnonymousGroup
from models.chat.access.membership import belongs, require
from models.chat.access.naming import access_principals, is_self
from models.chat.channels.channels import (
    can_administer_channel,
    check_channel_name,
    find_channels_by_name,
)
from models.chat.channels.creation import (
    CheckedGroups,
    NewChannel,
    check_folder,
    check_groups,
    create_channels,
    parse_retention,
    require_may_create,
)
from models.chat.channels.errors import (
    ChannelNotAccessible,
    TooManyNewChannels,
    TooManySubscriptions,
)
from models.chat.channels.joining import Subscribed, join
from models.chat.channels.subscriptions import check_color, color_of
from models.chat.identity.actors import Actor
from models.chat.rendering.texts import NO_TEXTS
from models.reader import Db

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
    by_key = _clean(wanted)
    visible, missing, taken = _sort(session, actor, by_key)
    # A channel the actor may not know is one to be made, until its name turns out to be taken.
    unknown = len(missing) + len(taken)
    if unknown > MOST_NEW:
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
    made = [(channel.name, channel.description) for channel in missing]
    created = create_channels(session, actor, made, new, groups, html=html, now=now)
    refused = [*(channel.name for channel in unauthorized), *(channel.name for channel in taken)]
    joinable = {channel.name.casefold(): channel for channel in (*created, *authorized)}
    channels = [joinable[key] for key in by_key if key in joinable]
    outcome = Subscribed(people, channels, unauthorized=refused, created=created)
    colors = {
        channel.id: by_key[channel.name.casefold()].color or color_of(channel.id)
        for channel in channels
    }
    join(session, actor, outcome, colors=colors, is_default=new.is_default, now=now)
    return outcome


def _clean(wanted: Sequence[WantedChannel]) -> dict[str, WantedChannel]:
    """The wanted channels as they are stored, by name in one case; the first of a name counts.

    Raises what is wrong with a color or a name.
    """
    by_key: dict[str, WantedChannel] = {}
    for index, channel in enumerate(wanted):
        if channel.color is not None:
            check_color(f'subscriptions[{index}]["color"]', channel.color)
        name = check_channel_name(channel.name)
        clean = WantedChannel(name, one_line(channel.description), channel.color)
        by_key.setdefault(name.casefold(), clean)
    return by_key


def _sort(
    session: Session, actor: Actor, by_key: Mapping[str, WantedChannel]
) -> tuple[list[ChannelView], list[WantedChannel], list[WantedChannel]]:
    """The wanted channels that the actor may know, that do not exist, and that exist unknown to
    the actor.
    """
    existing = find_channels_by_name(session, actor, by_key)
    visible = filter_known(session, actor, existing.values())
    known = {channel.name.casefold() for channel in visible}
    missing = [channel for key, channel in by_key.items() if key not in existing]
    taken = [channel for key, channel in by_key.items() if key in existing.keys() - known]
    return visible, missing, taken


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


def _holds(session: Session, actor: Actor, value: int | AnonymousGroup | None) -> bool:
    if value is None:
        return False
    if isinstance(value, int):
        return belongs(session, actor, value)
    return actor.id in value.members or any(belongs(session, actor, g) for g in value.subgroups)


def can_subscribe(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """May the actor join the channel by themselves?"""
    if actor.is_guest:
        return channel.is_web_public
    return has_content_access(db, actor, channel)


def can_add_subscribers(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """May the actor subscribe others to the channel?

    Those of the channel's group always; the organization's group and the channel's administrators
    only where they can read it themselves.
    """
    if actor.is_guest:
        return False
    if belongs(db, actor, channel.can_add_subscribers_group):
        return True
    return has_content_access(db, actor, channel) and (
        belongs(db, actor, actor.realm.can_add_subscribers_group)
        or can_administer_channel(db, actor, channel)
    )
