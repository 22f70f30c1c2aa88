"""Permissions to invite: roles, channels and groups of invited users."""

from collections.abc import Collection, Sequence

from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, filter_readable, find_channels
from models.chat.access.errors import (
    InvalidUserGroup,
    MustBeAdministrator,
    MustBeOwner,
    UserGroupDeactivated,
)
from models.chat.access.groups import find_groups_by_id
from models.chat.access.membership import belongs, require, require_role
from models.chat.channels.channels import find_default_channel_ids
from models.chat.channels.subscribing import can_add_subscribers
from models.chat.identity.actors import Actor
from models.chat.identity.roles import Role
from models.chat.invitations.errors import CannotSubscribeInvitees, InvalidChannelToJoin
from models.chat.user_groups.administering import may_change
from models.chat.user_groups.members import ADD
from specd.db import Db


def require_may_invite(db: Db, actor: Actor, role: int, *, by_link: bool) -> None:
    """Require that the actor may invite users with the role, by mail or by a link.

    Raise `NotForBots`, `InsufficientPermission`, `MustBeOwner`, `MustBeAdministrator`.
    """
    require_role(actor, "human")
    realm = actor.realm
    group_id = realm.create_multiuse_invite_group if by_link else realm.can_invite_users_group
    require(not actor.is_guest and belongs(db, actor, group_id))
    require_may_give(actor, role)


def require_may_give(actor: Actor, role: int) -> None:
    """Raise `MustBeOwner` or `MustBeAdministrator` unless the actor may invite users with the role.
    Only owners may invite owners, and only administrators may invite administrators and moderators.
    """
    if role == Role.OWNER and not actor.is_owner:
        raise MustBeOwner()
    if role <= Role.MODERATOR and not actor.is_administrator:
        raise MustBeAdministrator()


def may_give(actor: Actor, role: int) -> bool:
    """Return whether an invitation by the actor with the role is still valid."""
    try:
        require_may_give(actor, role)
    except (MustBeOwner, MustBeAdministrator):
        return False
    return actor.is_active and not actor.is_guest


def check_channels(session: Session, actor: Actor, channel_ids: Sequence[int]) -> list[int]:
    """Return the ids of channels to which the actor may subscribe others, in ascending order and
    without duplicates. Every inviter may subscribe others to default channels.

    Raise `InvalidChannelToJoin`, `CannotSubscribeInvitees`.
    """
    wanted = sorted(set(channel_ids))
    channels = _find_channels(session, actor, wanted)
    for channel_id in wanted:
        if channel_id not in channels:
            raise InvalidChannelToJoin(channel_id=channel_id)
    if len(_filter_addable(session, actor, channels.values())) < len(wanted):
        raise CannotSubscribeInvitees()
    return wanted


def filter_channels(session: Session, actor: Actor, channel_ids: Sequence[int]) -> list[str]:
    """Return the names of the channels to which the actor may still subscribe others."""
    channels = _find_channels(session, actor, channel_ids).values()
    return [channel.name for channel in _filter_addable(session, actor, channels)]


def _find_channels(
    session: Session, actor: Actor, channel_ids: Sequence[int]
) -> dict[int, ChannelView]:
    """Return id -> channel for channels that the actor may read and that are not archived."""
    channels = filter_readable(
        session, actor, find_channels(session, actor, channel_ids=channel_ids)
    )
    return {channel.id: channel for channel in channels if not channel.is_archived}


def _filter_addable(
    session: Session, actor: Actor, channels: Collection[ChannelView]
) -> list[ChannelView]:
    """Return the channels to which the actor may subscribe others, ordered by id."""
    default = find_default_channel_ids(session, actor.realm_id) if channels else ()
    return [
        channel
        for channel in sorted(channels, key=lambda each: each.id)
        if channel.id in default or can_add_subscribers(session, actor, channel)
    ]


def check_groups(session: Session, actor: Actor, group_ids: Sequence[int]) -> list[int]:
    """Return the ids of groups to which the actor may add members, in ascending order and without
    duplicates. Raise `InvalidUserGroup`, `InsufficientPermission`, `UserGroupDeactivated`.
    """
    wanted = sorted(set(group_ids))
    groups = find_groups_by_id(session, actor.realm_id, wanted)
    for group_id in wanted:
        if group_id not in groups:
            raise InvalidUserGroup()
        require(may_change(session, actor, groups[group_id], ADD))
        if groups[group_id].is_deactivated:
            raise UserGroupDeactivated()
    return wanted


def filter_groups(session: Session, actor: Actor, group_ids: Sequence[int]) -> list[int]:
    """Return the ids of the groups to which the actor may still add members."""
    return [
        group.id
        for group in find_groups_by_id(session, actor.realm_id, group_ids).values()
        if not group.is_deactivated and may_change(session, actor, group, ADD)
    ]
