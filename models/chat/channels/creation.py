"""Create channels: their settings, and the permission to create them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.access.errors import MustBeOwner
from models.chat.access.group_settings import (
    CHANNEL_GROUPS,
    CREATOR,
    AnonymousGroup,
    GroupValue,
    check_group_value,
    store_checked_value,
)
from models.chat.access.membership import belongs, require
from models.chat.channels.errors import (
    DefaultChannelIsPrivate,
    InvalidChannelFolder,
    InvalidParameters,
    WebPublicChannelsDisabled,
)
from models.chat.common import audit
from models.chat.common.errors import BadParameter
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.rendering.texts import NO_TEXTS
from models.chat.tables import Channel, ChannelFolder, DefaultChannel
from models.dialects import INT_MAX
from models.rows import row_of

UNLIMITED = "unlimited"
REALM_DEFAULT = "realm_default"
FOREVER = -1
INHERIT = "inherit"

CheckedGroups = Mapping[str, int | AnonymousGroup]
"""Setting -> value, for settings that are in the request."""


@dataclass(frozen=True, slots=True)
class NewChannel:
    """The settings of new channels. `groups` are group-setting values by name."""

    invite_only: bool = False
    is_web_public: bool = False
    is_default: bool = False
    history_public_to_subscribers: bool | None = None
    message_retention_days: int | str | None = None
    topics_policy: str | None = None
    folder_id: int | None = None
    groups: Mapping[str, GroupValue] = field(default_factory=dict)

    @property
    def has_public_history(self) -> bool:
        """Whether new subscribers can read earlier messages, as in every public channel."""
        return not self.invite_only or bool(self.history_public_to_subscribers)


def check_groups(session: Session, actor: Actor, wanted: NewChannel) -> CheckedGroups:
    """Return the checked groups. Raise an error of `check_group_value`."""
    return {
        name: check_group_value(session, actor.realm.id, CHANNEL_GROUPS[name], value, actor=actor)
        for name, value in sorted(wanted.groups.items())
    }


def check_folder(session: Session, actor: Actor, folder_id: int | None) -> None:
    """Raise `InvalidChannelFolder` if the folder is unknown, archived or in another realm."""
    if folder_id is None:
        return
    folder = select(ChannelFolder.id).where(
        ChannelFolder.id == folder_id,
        ChannelFolder.realm_id == actor.realm.id,
        ~ChannelFolder.is_archived,
    )
    if session.execute(folder).first() is None:
        raise InvalidChannelFolder()


def parse_retention(value: int | str | None) -> int | None:
    """Return the days that messages are kept: None for the realm's value, -1 for no limit. Raise
    `BadParameter`.
    """
    if value is None or value == REALM_DEFAULT:
        return None
    if value == UNLIMITED:
        return FOREVER
    if isinstance(value, str) or not 0 < value <= INT_MAX:
        raise BadParameter(var_name="message_retention_days", bad_value=value)
    return value


def require_may_create(
    session: Session, actor: Actor, wanted: NewChannel, *, web_public_enabled: bool
) -> None:
    """Check that the actor may create channels with these settings. `web_public_enabled` is the
    server's setting.

    Raise `InsufficientPermission`, `DefaultChannelIsPrivate`, `InvalidParameters`,
    `WebPublicChannelsDisabled`, `MustBeOwner`.
    """
    require_may_create_kind(session, actor, wanted.invite_only)
    if wanted.is_default:
        require(actor.is_administrator)
        if wanted.invite_only:
            raise DefaultChannelIsPrivate()
    if wanted.is_web_public:
        if wanted.invite_only:
            raise InvalidParameters()
        require_web_public(session, actor, web_public_enabled)
    if parse_retention(wanted.message_retention_days) is not None and not actor.is_owner:
        raise MustBeOwner()
    if wanted.topics_policy not in (None, INHERIT):
        require(belongs(session, actor, actor.realm.can_set_topics_policy_group))


def require_may_create_kind(session: Session, actor: Actor, is_private: bool) -> None:
    """Raise `InsufficientPermission` unless the actor may create private channels or, if
    `is_private` is False, public channels.
    """
    realm = actor.realm
    group_id = realm.can_create_public_channel_group
    if is_private:
        group_id = realm.can_create_private_channel_group
    require(belongs(session, actor, group_id))


def require_web_public(session: Session, actor: Actor, enabled: bool) -> None:
    """Raise `WebPublicChannelsDisabled` or `InsufficientPermission` unless the actor may create
    web-public channels. `enabled` is the server's setting.
    """
    if not (enabled and actor.realm.enable_spectator_access):
        raise WebPublicChannelsDisabled()
    require(belongs(session, actor, actor.realm.can_create_web_public_channel_group))


def create_channels(
    session: Session,
    actor: Actor,
    named: Sequence[tuple[str, str]],
    wanted: NewChannel,
    groups: CheckedGroups,
    *,
    html: Mapping[str, str] = NO_TEXTS,
    now: datetime,
) -> list[ChannelView]:
    """Create channels from checked pairs of name and description. The names must be unused. `html`
    maps descriptions to rendered texts.

    The caller adds subscriptions and events (models/chat/channels/joining.py).
    """
    if not named:
        return []
    group_ids = _store_groups(session, actor, groups, now)
    channels = [
        Channel(
            realm_id=actor.realm.id,
            name=name,
            name_key=key_of(name),
            description=description,
            rendered_description=html[description],
            invite_only=wanted.invite_only,
            is_web_public=wanted.is_web_public,
            history_public_to_subscribers=wanted.has_public_history,
            is_archived=False,
            creator_id=actor.id,
            date_created=now,
            folder_id=wanted.folder_id,
            message_retention_days=parse_retention(wanted.message_retention_days),
            topics_policy=wanted.topics_policy or INHERIT,
            **group_ids,
        )
        for name, description in named
    ]
    session.add_all(channels)
    session.flush()
    if wanted.is_default:
        session.add_all(
            DefaultChannel(channel_id=channel.id, realm_id=actor.realm.id) for channel in channels
        )
        session.flush()
    audit.record_channel_changes(
        session,
        actor.realm.id,
        "channel_created",
        [(channel.id, None) for channel in channels],
        actor_id=actor.id,
        now=now,
    )
    return [row_of(ChannelView, channel, is_subscribed=False) for channel in channels]


def _store_groups(
    session: Session, actor: Actor, groups: CheckedGroups, now: datetime
) -> dict[str, int]:
    """Return setting -> group id. Channels that are created together may share anonymous groups,
    because these never change: a changed setting gets a new group.
    """
    realm = actor.realm
    own = AnonymousGroup(members=(actor.id,), subgroups=())
    stored: dict[int | AnonymousGroup, int] = {}
    group_ids: dict[str, int] = {}
    for setting in CHANNEL_GROUPS.values():
        value = groups.get(setting.name)
        if value is None:
            value = own if setting.default == CREATOR else realm.group_id_of(setting.default)
        if value not in stored:
            stored[value] = store_checked_value(session, realm.id, value, now=now)
        group_ids[setting.name] = stored[value]
    return group_ids
