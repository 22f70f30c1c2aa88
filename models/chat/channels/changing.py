"""Change a channel: its name, description, privacy, permissions, folder and other settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, find_channel
from models.chat.access.errors import MustBeOwner
from models.chat.access.group_settings import CHANNEL_GROUPS, changed_group
from models.chat.access.membership import belongs, require
from models.chat.channels import notices
from models.chat.channels.archiving import restore_channel
from models.chat.channels.change_events import notify_of_change
from models.chat.channels.channels import (
    access_channel_to_administer,
    check_channel_name,
    describe_channels,
    find_default_channel_ids,
    require_content_access,
)
from models.chat.channels.creation import (
    check_folder,
    parse_retention,
    require_may_create_kind,
    require_web_public,
)
from models.chat.channels.defaults import set_default
from models.chat.channels.errors import (
    CannotChangeDefaultChannels,
    ChannelHasThatName,
    ChannelHasTopics,
    ChannelIsArchived,
    ChannelNameInUse,
    DefaultChannelIsPrivate,
    InvalidParameters,
    ModerationChannelMustBePrivate,
)
from models.chat.channels.subscribing import one_line
from models.chat.common import audit
from models.chat.common.name_keys import key_of
from models.chat.events.log import ABSENT, Absent
from models.chat.identity.actors import Actor
from models.chat.tables import Channel, Topic
from models.json import Json

LET_READ = frozenset(("can_add_subscribers_group", "can_subscribe_group"))
"""Settings that give permission to read the channel. Only its readers may change them."""
OF_DELETION = frozenset(("can_delete_any_message_group", "can_delete_own_message_group"))
"""Settings that also require the organization's `can_set_delete_message_policy_group`."""


@dataclass(frozen=True, slots=True)
class PrivacyChange:
    """New values; None means no change. `is_default` decides whether new members are subscribed."""

    is_private: bool | None = None
    is_web_public: bool | None = None
    history_public_to_subscribers: bool | None = None
    is_default: bool | None = None


@dataclass(frozen=True, slots=True)
class ChannelChanges:
    """New values; None and an absent folder mean no change. `groups` are values by setting.

    If `is_archived` is False, the channel is restored before the other changes. True is rejected.
    """

    is_archived: bool | None = None
    name: str | None = None
    description: str | None = None
    privacy: PrivacyChange = field(default_factory=PrivacyChange)
    message_retention_days: int | str | None = None
    topics_policy: str | None = None
    folder_id: int | Absent | None = ABSENT
    groups: Mapping[str, Json] = field(default_factory=dict)


def change_channel(
    session: Session,
    actor: Actor,
    channel_id: int,
    changes: ChannelChanges,
    *,
    html: str,
    web_public_enabled: bool,
    now: datetime,
) -> None:
    """Change a channel, with events and notices of the values that changed. If one change fails,
    none is made. `html` is the new description, rendered. `web_public_enabled` is the server's
    setting.

    Raise `InvalidChannelId`, `MayNotAdministerChannel`, `InvalidParameters`, `ChannelIsArchived`,
    an error of `restore_channel`, `CannotChangeDefaultChannels`, or an error of a value's check.
    """
    channel = access_channel_to_administer(session, actor, channel_id)
    if changes.is_archived:
        raise InvalidParameters()
    if changes.is_archived is False:
        channel = restore_channel(session, actor, channel, now=now)
    elif channel.is_archived:
        raise ChannelIsArchived()
    values: dict[str, Any] = {
        **_privacy(session, actor, channel, changes.privacy, web_public_enabled),
        **_properties(session, actor, channel, changes, html),
        **_groups(session, actor, channel, changes.groups, now),
    }
    if changes.privacy.is_default is not None:
        if not actor.is_administrator:
            raise CannotChangeDefaultChannels()
        set_default(session, actor, channel, changes.privacy.is_default, now=now)
    values = {name: value for name, value in values.items() if value != getattr(channel, name)}
    if not values:
        return
    before = describe_channels(session, actor.realm, [channel], now=now)[channel.id]
    changed = replace(channel, **values)
    statement = update(Channel).where(Channel.id == channel.id)
    session.connection().execute(statement.values(**values, name_key=key_of(changed.name)))
    facts = {
        "old": {name: getattr(channel, name) for name in sorted(values)},
        "new": {name: values[name] for name in sorted(values)},
    }
    audit.record(
        session, actor.realm_id, "channel_changed", actor_id=actor.id, channel_id=channel.id,
        facts=facts, now=now,
    )  # fmt: skip
    notify_of_change(session, actor, channel, changed, before, now=now)
    notices.notify_of_changes(session, actor, channel, changed, now=now)


def _privacy(
    session: Session,
    actor: Actor,
    channel: ChannelView,
    change: PrivacyChange,
    web_public_enabled: bool,
) -> dict[str, bool]:
    """Return the three columns of privacy. Public channels have a public history. Channels that
    become private have a protected history unless the change sets a public one.

    Raise `InvalidParameters`, `DefaultChannelIsPrivate`, `ModerationChannelMustBePrivate`,
    `ContentAccessRequired`, `InsufficientPermission`, `WebPublicChannelsDisabled`.
    """
    realm, is_private = actor.realm, change.is_private
    invite_only = channel.invite_only if is_private is None else is_private
    web_public = channel.is_web_public if change.is_web_public is None else change.is_web_public
    has_history = channel.history_public_to_subscribers
    if change.history_public_to_subscribers is not None:
        has_history = change.history_public_to_subscribers
    elif is_private is not None:
        has_history = not is_private
    if (web_public and invite_only) or not (has_history or invite_only):
        raise InvalidParameters()
    is_default = change.is_default
    if is_default is None:
        is_default = channel.id in find_default_channel_ids(session, actor.realm_id)
    if invite_only and is_default:
        raise DefaultChannelIsPrivate()
    if is_private is not None:
        if not is_private and realm.moderation_request_channel_id == channel.id:
            raise ModerationChannelMustBePrivate()
        require_content_access(session, actor, channel)
        require_may_create_kind(session, actor, is_private)
    if change.is_web_public:
        require_web_public(session, actor, web_public_enabled)
    return {
        "invite_only": invite_only,
        "is_web_public": web_public,
        "history_public_to_subscribers": has_history,
    }


def _properties(
    session: Session, actor: Actor, channel: ChannelView, changes: ChannelChanges, html: str
) -> dict[str, Any]:
    """Return the new values of columns that are independent of each other."""
    values: dict[str, Any] = {}
    if changes.message_retention_days is not None:
        if not actor.is_owner:
            raise MustBeOwner()
        values["message_retention_days"] = parse_retention(changes.message_retention_days)
    if changes.topics_policy is not None:
        require(belongs(session, actor, actor.realm.can_set_topics_policy_group))
        if changes.topics_policy == "empty_topic_only":
            _require_no_topics(session, actor, channel)
        values["topics_policy"] = changes.topics_policy
    if changes.description is not None:
        values["description"] = one_line(changes.description)
        values["rendered_description"] = html
    if changes.name is not None:
        values["name"] = _new_name(session, actor, channel, changes.name)
    if not isinstance(changes.folder_id, Absent):
        if changes.folder_id != channel.folder_id:
            check_folder(session, actor, changes.folder_id)
        values["folder_id"] = changes.folder_id
    return values


def _new_name(session: Session, actor: Actor, channel: ChannelView, wanted: str) -> str:
    """Return the new name, which may differ from the old name only in case. Raise an error of
    `check_channel_name`, `ChannelHasThatName` or `ChannelNameInUse`.
    """
    name = check_channel_name(wanted)
    if name == channel.name:
        raise ChannelHasThatName()
    other = find_channel(session, actor, name=name)
    if other is not None and other.id != channel.id:
        raise ChannelNameInUse()
    return name


def _require_no_topics(session: Session, actor: Actor, channel: ChannelView) -> None:
    topics = select(Topic.topic_key).where(Topic.channel_id == channel.id, Topic.topic_key != "")
    if session.execute(topics.limit(1)).first() is not None:
        raise ChannelHasTopics(empty_topic_name=actor.realm.empty_topic_display_name)


def _groups(
    session: Session,
    actor: Actor,
    channel: ChannelView,
    wanted: Mapping[str, Json],
    now: datetime,
) -> dict[str, int]:
    """Return setting -> group id for the settings that change. Raise `ContentAccessRequired`,
    `InsufficientPermission`, or an error of `changed_group`.
    """
    values: dict[str, int] = {}
    for name in sorted(wanted):
        current = getattr(channel, name)
        setting, value = CHANNEL_GROUPS[name], wanted[name]
        after = changed_group(
            session, actor.realm_id, setting, value, current, actor=actor, now=now
        )
        if after == current:
            continue
        if name in LET_READ:
            require_content_access(session, actor, channel)
        if name in OF_DELETION:
            require(belongs(session, actor, actor.realm.can_set_delete_message_policy_group))
        values[name] = after
    return values
