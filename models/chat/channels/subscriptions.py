"""Subscriptions, and their settings for each user."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, bindparam, select, update
from sqlalchemy.orm import Session

from models.chat.access.channels import (
    CHANNEL_COLUMNS,
    ChannelView,
    access_channel,
    filter_visible,
    find_channels,
)
from models.chat.access.errors import InvalidChannelId
from models.chat.access.naming import access_principals
from models.chat.access.people import find_visible_user_ids, only_visible
from models.chat.channels.channels import describe_channels, find_subscriber_ids
from models.chat.channels.errors import InvalidColor, NotSubscribed, UnknownSubscriptionProperty
from models.chat.common import audit
from models.chat.common.errors import InvalidParameter
from models.chat.events import log
from models.chat.events.channels import SubscriptionUpdateEvent
from models.chat.events.log import AddressedEvent
from models.chat.identity.actors import Actor
from models.chat.tables import Channel, Subscription
from models.dialects import in_parameter
from models.json import Json
from models.rows import row_of
from specd.db import Db, table_of

COLORS = (
    "#76ce90", "#fae589", "#a6c7e5", "#e79ab5", "#bfd56f", "#f4ae55", "#b0a5fd", "#addfe5",
    "#f5ce6e", "#c2726a", "#94c849", "#bd86e5", "#ee7e4a", "#a6dcbf", "#95a5fd", "#53a063",
    "#9987e1", "#e4523d", "#c2c2c2", "#4f8de4", "#c6a8ad", "#e7cc4d", "#c8bebf", "#a47462",
)  # fmt: skip
_COLOR = re.compile(r"#[0-9A-Fa-f]{3,6}")
IS_MUTED, IN_HOME_VIEW = "is_muted", "in_home_view"
NOTIFICATIONS = (
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
)
SETTINGS = ("color", IS_MUTED, "pin_to_top", *NOTIFICATIONS)
"""The columns of a user's settings for a channel."""

PROPERTIES = frozenset((*SETTINGS, IN_HOME_VIEW))
DEFAULT_SETTINGS: Mapping[str, Any] = {
    IS_MUTED: False,
    "pin_to_top": False,
    **dict.fromkeys(NOTIFICATIONS),
}


def color_of(channel_id: int) -> str:
    """Return the default color of a channel for new subscribers."""
    return COLORS[channel_id % len(COLORS)]


def check_color(name: str, value: Json) -> str:
    """Return the color. Raise `InvalidColor` for `name`."""
    if not isinstance(value, str) or _COLOR.fullmatch(value) is None:
        raise InvalidColor(name=name)
    return value


SubscriptionRow = RowMapping | Mapping[str, Any]
"""A subscription's columns by name, as read or inserted."""


def describe_subscription(row: SubscriptionRow) -> dict[str, Any]:
    """Return a subscription's settings in the API's form."""
    settings = {name: row[name] for name in SETTINGS}
    return {**settings, IN_HOME_VIEW: not settings[IS_MUTED]}


ARE_OF = (
    in_parameter(Subscription.channel_id, "channel_ids"),
    in_parameter(Subscription.user_id, "user_ids"),
)
"""The conditions on subscriptions of users in `:user_ids` to channels in `:channel_ids`."""


def parameters_of(channel_ids: Iterable[int], user_ids: Iterable[int]) -> dict[str, Any]:
    """Return the parameters of `ARE_OF`."""
    return {"channel_ids": list(channel_ids), "user_ids": list(user_ids)}


def find_subscriptions(
    db: Db, actor: Actor, *, include_subscribers: bool, include_archived: bool, now: datetime
) -> list[dict[str, Any]]:
    """Return the channels to which the actor is subscribed, with the settings, ordered by id."""
    statement = (
        select(*CHANNEL_COLUMNS, *_SETTING_COLUMNS)
        .join(Subscription, Subscription.channel_id == Channel.id)
        .where(Subscription.user_id == actor.id, Subscription.is_active)
        .order_by(Channel.id)
    )
    if not include_archived:
        statement = statement.where(~Channel.is_archived)
    rows = db.execute(statement).all()
    channels = [row_of(ChannelView, row, is_subscribed=True) for row in rows]
    visible_ids = find_visible_user_ids(db, actor)
    described = describe_channels(db, actor.realm, channels, now=now, visible_ids=visible_ids)
    subscribers: dict[int, list[int]] = {}
    if include_subscribers:
        subscribers = find_subscriber_ids(db, [channel.id for channel in channels])
    return [
        {
            **described[channel.id],
            **describe_subscription(row._mapping),
            **({"subscribers": subscribers[channel.id]} if include_subscribers else {}),
        }
        for channel, row in zip(channels, rows, strict=True)
    ]


def find_own_settings(db: Db, user_id: int, *, is_active: bool) -> dict[int, dict[str, Any]]:
    """Return channel id -> the user's settings, for active or for ended subscriptions."""
    rows = db.execute(_OWN, {"user_id": user_id, "is_active": is_active})
    return {row["channel_id"]: describe_subscription(row) for row in rows.mappings()}


def find_visible_subscriber_ids(db: Db, actor: Actor, channel_id: int) -> list[int]:
    """Return the ids of the channel's active subscribers that the actor may see, in ascending
    order. Raise `InvalidChannelId`.
    """
    channel = access_channel(db, actor, channel_id, content=False)
    subscriber_ids = find_subscriber_ids(db, [channel.id])[channel.id]
    return only_visible(subscriber_ids, find_visible_user_ids(db, actor))


def is_subscribed(db: Db, actor: Actor, *, user_id: int, channel_id: int) -> bool:
    """Return whether the user is subscribed to the channel. Raise `NoSuchUser`,
    `UserIsDeactivated`, `InvalidChannelId`.
    """
    (user,) = access_principals(db, actor, [user_id])
    channel = access_channel(db, actor, channel_id, content=False)
    is_active = select(Subscription.is_active).where(
        Subscription.channel_id == channel.id, Subscription.user_id == user.id
    )
    return bool(db.execute(is_active).scalar())


_SETTING_COLUMNS = [getattr(Subscription, name) for name in SETTINGS]
_OWN = select(Subscription.channel_id, *_SETTING_COLUMNS).where(
    Subscription.user_id == bindparam("user_id"), Subscription.is_active == bindparam("is_active")
)


# --- changing settings ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SettingChange:
    """The new value of one property of a subscription."""

    channel_id: int
    property: str
    value: Json


_TABLE = table_of(Subscription)
_UPDATE = (
    update(_TABLE)
    .where(_TABLE.c.channel_id == bindparam("of_channel"), _TABLE.c.user_id == bindparam("of_user"))
    .values({name: bindparam(f"new_{name}") for name in SETTINGS})
)


def change_settings(
    session: Session, actor: Actor, changes: Sequence[SettingChange], *, now: datetime
) -> None:
    """Change the actor's settings. If one change fails, none is made. An unchanged value also has
    an event.

    Raise `UnknownSubscriptionProperty`, `InvalidChannelId`, `NotSubscribed`, `InvalidParameter`,
    `InvalidColor`.
    """
    ids = {change.channel_id for change in changes}
    channels = find_channels(session, actor, channel_ids=ids)
    visible_ids = {channel.id for channel in filter_visible(session, actor, channels)}
    settings = _lock_settings(session, actor, ids)
    events: list[AddressedEvent] = []
    for change in changes:
        if change.property not in PROPERTIES:
            raise UnknownSubscriptionProperty(value=change.property)
        if change.channel_id not in visible_ids:
            raise InvalidChannelId()
        if change.channel_id not in settings:
            raise NotSubscribed(channel_id=change.channel_id)
        for name, value in _checked(change):
            if name != IN_HOME_VIEW:
                settings[change.channel_id][name] = value
            event = SubscriptionUpdateEvent(property=name, value=value, stream_id=change.channel_id)
            events.append((event, [actor.id]))
    if not events:
        return
    session.connection().execute(
        _UPDATE,
        [
            {
                "of_channel": channel_id,
                "of_user": actor.id,
                **{f"new_{name}": values[name] for name in SETTINGS},
            }
            for channel_id, values in settings.items()
        ],
    )
    log.append_all(session, actor.realm.id, events, now=now)
    audit.record_channel_changes(
        session,
        actor.realm.id,
        "subscription_setting_changed",
        [(channel_id, actor.id) for channel_id in settings],
        actor_id=actor.id,
        now=now,
    )


def _lock_settings(
    session: Session, actor: Actor, channel_ids: Collection[int]
) -> dict[int, dict[str, Any]]:
    """Return channel id -> the actor's settings. They are locked, so that two concurrent changes of
    different properties both take effect.
    """
    rows = session.execute(
        select(Subscription.channel_id, *_SETTING_COLUMNS)
        .where(
            Subscription.user_id == actor.id,
            Subscription.channel_id.in_(channel_ids),
            Subscription.is_active,
        )
        .with_for_update()
    )
    return {row["channel_id"]: dict(row) for row in rows.mappings()}


def _checked(change: SettingChange) -> list[tuple[str, str | bool]]:
    """Return the properties and values of the events, in order. Muting also has an event with its
    older name.
    """
    if change.property == "color":
        return [("color", check_color("color", change.value))]
    if not isinstance(change.value, bool):
        raise InvalidParameter(name=change.property, problem="is not a boolean")
    if change.property in (IS_MUTED, IN_HOME_VIEW):
        is_muted = change.value == (change.property == IS_MUTED)
        return [(IN_HOME_VIEW, not is_muted), (IS_MUTED, is_muted)]
    return [(change.property, change.value)]
