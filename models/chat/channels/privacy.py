"""How private a channel is, and who may change that."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.access.membership import belongs, require
from models.chat.channels.administering import require_content_access
from models.chat.channels.channels import find_default_channel_ids
from models.chat.channels.errors import (
    DefaultChannelIsPrivate,
    InvalidParameters,
    ModerationChannelMustBePrivate,
    WebPublicChannelsDisabled,
)
from models.chat.identity.actors import Actor


@dataclass(frozen=True, slots=True)
class PrivacyChange:
    """What shall be different; None: as it is. `is_default`: of new members."""

    is_private: bool | None = None
    is_web_public: bool | None = None
    history_public_to_subscribers: bool | None = None
    is_default: bool | None = None


def check_privacy(
    session: Session,
    actor: Actor,
    channel: ChannelView,
    change: PrivacyChange,
    *,
    web_public_enabled: bool,
) -> dict[str, bool]:
    """The three columns as they shall be.

    Public channels have a public history; private ones that become so, none unless asked for.
    Raises `InvalidParameters`, `DefaultChannelIsPrivate`, `ModerationChannelMustBePrivate`,
    `ContentAccessRequired`, `InsufficientPermission`, `WebPublicChannelsDisabled`.
    """
    is_private, is_web_public = change.is_private, change.is_web_public
    invite_only = channel.invite_only if is_private is None else is_private
    web_public = channel.is_web_public if is_web_public is None else is_web_public
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
        _check_private(session, actor, channel, is_private)
    if is_web_public:
        realm = actor.realm
        if not (web_public_enabled and realm.enable_spectator_access):
            raise WebPublicChannelsDisabled()
        require(belongs(session, actor, realm.can_create_web_public_channel_group))
    return {
        "invite_only": invite_only,
        "is_web_public": web_public,
        "history_public_to_subscribers": has_history,
    }


def _check_private(session: Session, actor: Actor, channel: ChannelView, is_private: bool) -> None:
    """Like making one of that kind; and no secret of others."""
    realm = actor.realm
    if not is_private and realm.moderation_request_channel_id == channel.id:
        raise ModerationChannelMustBePrivate()
    require_content_access(session, actor, channel)
    if is_private:
        require(belongs(session, actor, realm.can_create_private_channel_group))
    else:
        require(belongs(session, actor, realm.can_create_public_channel_group))
