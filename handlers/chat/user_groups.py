"""Operations of the tag user_groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.access import groups
from models.chat.access.group_settings import GroupValue
from models.chat.access.people import find_visible_user_ids
from models.chat.common.quotas import GROUPS, require_within
from models.chat.user_groups import changing, deactivation, members, subgroups
from models.chat.user_groups.errors import NoMembersToChange, NoSubgroupsToChange
from models.chat.user_groups.subgroups import MembershipChanges
from models.json import Json

if TYPE_CHECKING:
    from handlers.chat import types


def list_user_groups(
    ctx: Context, *, include_deactivated_groups: bool = False
) -> envelope.Answer[types.UserGroupList]:
    """List the user groups."""
    records = groups.find_groups(
        ctx.connection,
        ctx.actor.realm_id,
        include_deactivated=include_deactivated_groups,
        visible_ids=find_visible_user_ids(ctx.connection, ctx.actor),
    )
    return envelope.success(
        ctx, {**envelope.OK, "user_groups": cast("list[types.UserGroup]", records)}
    )


def create_user_group(
    ctx: Context,
    *,
    name: str,
    description: str,
    members: list[int],
    subgroups: list[int] | None = None,
    **settings: types.GroupSettingValue | None,
) -> envelope.Answer[types.UserGroupCreated]:
    """Create a user group.

    `settings`: the group settings that were sent.
    """
    group = groups.create_group(
        ctx.session,
        ctx.actor,
        name=name,
        description=description,
        members=members,
        subgroups=subgroups or (),
        settings={
            setting: cast("GroupValue", value)
            for setting, value in settings.items()
            if value is not None
        },
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, GROUPS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "group_id": group.id})


def update_user_group(
    ctx: Context,
    *,
    user_group_id: int,
    name: str | None = None,
    description: str | None = None,
    deactivated: bool | None = None,
    **settings: Json,
) -> envelope.Answer[types.Success]:
    """Change or reactivate a user group."""
    changes = changing.GroupChanges(name, description, deactivated, settings)
    changing.update_group(ctx.session, ctx.actor, user_group_id, changes, now=ctx.now)
    return envelope.success(ctx)


def deactivate_user_group(ctx: Context, *, user_group_id: int) -> envelope.Answer[types.Success]:
    """Deactivate a user group."""
    deactivation.deactivate_group(ctx.session, ctx.actor, user_group_id, now=ctx.now)
    return envelope.success(ctx)


def list_user_group_members(
    ctx: Context, *, user_group_id: int, direct_member_only: bool = False
) -> envelope.Answer[types.UserGroupMembers]:
    """List the members of a user group."""
    user_ids = members.access_members(
        ctx.connection, ctx.actor, user_group_id, direct_only=direct_member_only
    )
    return envelope.success(ctx, {**envelope.OK, "members": user_ids})


def update_user_group_members(
    ctx: Context,
    *,
    user_group_id: int,
    add: Sequence[int] = (),
    delete: Sequence[int] = (),
    add_subgroups: Sequence[int] = (),
    delete_subgroups: Sequence[int] = (),
) -> envelope.Answer[types.Success]:
    """Change the members and subgroups of a user group."""
    if not (add or delete or add_subgroups or delete_subgroups):
        raise NoMembersToChange()
    changes = MembershipChanges(
        add=add, delete=delete, add_subgroups=add_subgroups, delete_subgroups=delete_subgroups
    )
    subgroups.change_membership(ctx.session, ctx.actor, user_group_id, changes, now=ctx.now)
    return envelope.success(ctx)


def get_user_group_membership(
    ctx: Context, *, user_group_id: int, user_id: int, direct_member_only: bool = False
) -> envelope.Answer[types.UserGroupMembership]:
    """Get whether a user is in a user group."""
    is_member = members.access_membership(
        ctx.connection, ctx.actor, user_group_id, user_id, direct_only=direct_member_only
    )
    return envelope.success(ctx, {**envelope.OK, "is_user_group_member": is_member})


def list_user_group_subgroups(
    ctx: Context, *, user_group_id: int, direct_subgroup_only: bool = False
) -> envelope.Answer[types.UserGroupSubgroups]:
    """List the subgroups of a user group."""
    group_ids = subgroups.access_subgroups(
        ctx.connection, ctx.actor, user_group_id, direct_only=direct_subgroup_only
    )
    return envelope.success(ctx, {**envelope.OK, "subgroups": group_ids})


def update_user_group_subgroups(
    ctx: Context, *, user_group_id: int, add: Sequence[int] = (), delete: Sequence[int] = ()
) -> envelope.Answer[types.Success]:
    """Change the subgroups of a user group."""
    if not (add or delete):
        raise NoSubgroupsToChange()
    changes = MembershipChanges(add_subgroups=add, delete_subgroups=delete)
    subgroups.change_membership(ctx.session, ctx.actor, user_group_id, changes, now=ctx.now)
    return envelope.success(ctx)
