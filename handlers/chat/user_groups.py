"""Operations of the tag user_groups."""

from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.access import groups
from models.chat.access.group_settings import GroupValue
from models.chat.access.people import find_known_ids
from models.chat.ground.quotas import GROUPS, require_within
from server.response import Response


def list_user_groups(ctx: Context, *, include_deactivated_groups: bool) -> Response:
    """List the user groups."""
    found = groups.find_groups(
        ctx.session,
        ctx.actor.realm_id,
        include_deactivated=include_deactivated_groups,
        known_ids=find_known_ids(ctx.session, ctx.actor),
    )
    return envelope.success(ctx, user_groups=found)


def create_user_group(
    ctx: Context,
    *,
    name: str,
    description: str,
    members: list[int],
    subgroups: list[int] | None = None,
    can_add_members_group: GroupValue | None = None,
    can_join_group: GroupValue | None = None,
    can_leave_group: GroupValue | None = None,
    can_manage_group: GroupValue | None = None,
    can_mention_group: GroupValue | None = None,
    can_remove_members_group: GroupValue | None = None,
) -> Response:
    """Create a user group."""
    settings: dict[str, Any] = {
        "can_add_members_group": can_add_members_group,
        "can_join_group": can_join_group,
        "can_leave_group": can_leave_group,
        "can_manage_group": can_manage_group,
        "can_mention_group": can_mention_group,
        "can_remove_members_group": can_remove_members_group,
    }
    group = groups.create_group(
        ctx.session,
        ctx.actor,
        name=name,
        description=description,
        members=members,
        subgroups=subgroups or (),
        settings={setting: value for setting, value in settings.items() if value is not None},
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, GROUPS, ctx.actor.id)
    return envelope.success(ctx, group_id=group.id)
