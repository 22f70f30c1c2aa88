"""Subscribe users to channels, and create missing channels. The number of statements does not
depend on the numbers of users and channels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, filter_visible, has_content_access
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
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.rendering.texts import NO_TEXTS
from specd.db import Db

MAX_SUBSCRIPTIONS = 5000
"""Maximum number of channels times users in one request."""
MAX_NEW = 20
"""Maximum number of new channels in one request. Each gets a notice, and its description is
rendered.
"""


@dataclass(frozen=True, slots=True)
class WantedChannel:
    """A requested channel: its name, its description if it is new, and its color for new
    subscribers.
    """

    name: str
    description: str = ""
    color: str | None = None


def one_line(description: str) -> str:
    """Return a channel's description as it is stored and rendered."""
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
    """Subscribe the principals, or the actor if there are none, to the channels. If one fails, no
    subscription is stored.

    `html` maps the descriptions, each as one line, to rendered texts. With `refuse_unauthorized`, a
    channel that the actor may not use is an error; otherwise it is skipped. Raise errors of the
    checks, in this order: groups, folder, retention, names and colors, `TooManyNewChannels`, the
    permission to create channels, `ChannelNotAccessible` and `InsufficientPermission` for existing
    channels, `NoSuchUser` and `UserIsDeactivated`, `TooManySubscriptions`, and
    `ChannelNotAccessible` for a channel that the actor may not see.
    """
    groups = check_groups(session, actor, new)
    check_folder(session, actor, new.folder_id)
    parse_retention(new.message_retention_days)
    by_key = _clean(wanted)
    visible, missing, hidden = _sort(session, actor, by_key)
    # A channel that the actor may not see counts as new in the following checks.
    unknown = len(missing) + len(hidden)
    if unknown > MAX_NEW:
        raise TooManyNewChannels(most=MAX_NEW)
    if unknown:
        require_may_create(session, actor, new, web_public_enabled=web_public_enabled)
    others = not is_self(actor, principals)
    authorized, unauthorized = _authorize(
        session, actor, visible, others=others, strict=refuse_unauthorized
    )
    if unknown and others:
        _require_may_add_to_new(session, actor, groups)
    people = access_principals(session, actor, principals)
    check_count(len(by_key), len(people))
    if hidden and refuse_unauthorized:
        raise ChannelNotAccessible(name=hidden[0].name)
    named = [(channel.name, channel.description) for channel in missing]
    created = create_channels(session, actor, named, new, groups, html=html, now=now)
    refused = [*(channel.name for channel in unauthorized), *(channel.name for channel in hidden)]
    joinable = {key_of(channel.name): channel for channel in (*created, *authorized)}
    channels = [joinable[key] for key in by_key if key in joinable]
    outcome = Subscribed(people, channels, unauthorized=refused, created=created)
    colors = {
        channel.id: by_key[key_of(channel.name)].color or color_of(channel.id)
        for channel in channels
    }
    join(session, actor, outcome, colors=colors, is_default=new.is_default, now=now)
    return outcome


def subscribe_to_existing(
    session: Session,
    actor: Actor,
    names: Sequence[str],
    *,
    principals: Sequence[int] = (),
    now: datetime,
) -> None:
    """Subscribe the principals, or the actor if there are none, to the channels that the actor may
    use.
    """
    if names:
        subscribe(
            session, actor, [WantedChannel(name) for name in names], NewChannel(),
            principals=principals, refuse_unauthorized=False, web_public_enabled=False, now=now,
        )  # fmt: skip


def _clean(wanted: Sequence[WantedChannel]) -> dict[str, WantedChannel]:
    """Return the channels with their values as stored, by the key of the name. If a name is
    repeated, the first channel counts. Raise an error of `check_color` or `check_channel_name`.
    """
    by_key: dict[str, WantedChannel] = {}
    for index, channel in enumerate(wanted):
        if channel.color is not None:
            check_color(f'subscriptions[{index}]["color"]', channel.color)
        name = check_channel_name(channel.name)
        clean = WantedChannel(name, one_line(channel.description), channel.color)
        by_key.setdefault(key_of(name), clean)
    return by_key


def _sort(
    session: Session, actor: Actor, by_key: Mapping[str, WantedChannel]
) -> tuple[list[ChannelView], list[WantedChannel], list[WantedChannel]]:
    """Return the channels that the actor may see, those that do not exist, and those that the actor
    may not see.
    """
    existing = find_channels_by_name(session, actor, by_key)
    visible = filter_visible(session, actor, existing.values())
    visible_keys = {key_of(channel.name) for channel in visible}
    missing = [channel for key, channel in by_key.items() if key not in existing]
    hidden = [channel for key, channel in by_key.items() if key in existing.keys() - visible_keys]
    return visible, missing, hidden


def check_count(channels: int, people: int) -> None:
    """Raise `TooManySubscriptions` if the request would change too many subscriptions."""
    if channels * people > MAX_SUBSCRIPTIONS:
        raise TooManySubscriptions(most=MAX_SUBSCRIPTIONS)


def _authorize(
    session: Session, actor: Actor, channels: Sequence[ChannelView], *, others: bool, strict: bool
) -> tuple[list[ChannelView], list[ChannelView]]:
    """Return the existing channels to which the actor may subscribe users, and the others."""
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
    """Raise `InsufficientPermission` unless the actor may add others to new channels. The
    permission comes from the organization, or from the new channel's settings, which include its
    creator by default.
    """
    if belongs(session, actor, actor.realm.can_add_subscribers_group) or actor.is_administrator:
        return
    administers = groups.get("can_administer_channel_group")
    adds = groups.get("can_add_subscribers_group")
    require(administers is None or any(_is_in(session, actor, g) for g in (administers, adds)))


def _is_in(session: Session, actor: Actor, value: int | AnonymousGroup | None) -> bool:
    if value is None:
        return False
    if isinstance(value, int):
        return belongs(session, actor, value)
    return actor.id in value.members or any(belongs(session, actor, g) for g in value.subgroups)


def can_subscribe(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may join the channel."""
    if actor.is_guest:
        return channel.is_web_public
    return has_content_access(db, actor, channel)


def can_add_subscribers(db: Db, actor: Actor, channel: ChannelView) -> bool:
    """Return whether the actor may subscribe others to the channel.

    Members of the channel's group always may. Members of the organization's group and the channel's
    administrators may only if they can read the channel.
    """
    if actor.is_guest:
        return False
    if belongs(db, actor, channel.can_add_subscribers_group):
        return True
    return has_content_access(db, actor, channel) and (
        belongs(db, actor, actor.realm.can_add_subscribers_group)
        or can_administer_channel(db, actor, channel)
    )
