"""Access to user groups for changes: permissions and locks."""

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from models.chat.access.errors import InvalidUserGroup, UserGroupDeactivated
from models.chat.access.group_settings import USER_GROUP_GROUPS, GroupSetting
from models.chat.access.membership import belongs, require
from models.chat.identity.actors import Actor
from models.chat.tables import UserGroup
from specd.db import Db

MANAGE = USER_GROUP_GROUPS["can_manage_group"]


def access_group_to_change(
    session: Session,
    actor: Actor,
    group_id: int,
    *permissions: GroupSetting,
    may_be_deactivated: bool = False,
) -> UserGroup:
    """Return a named group for which the actor has one of the permissions. Users who may manage the
    group, or all groups, have all permissions. System groups cannot be changed.

    Raise `InvalidUserGroup`, `UserGroupDeactivated`, `InsufficientPermission`.
    """
    group = session.scalars(
        _in_realm(actor, group_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).first()
    if group is None:
        raise InvalidUserGroup()
    if group.is_deactivated and not may_be_deactivated:
        raise UserGroupDeactivated()
    require(may_change(session, actor, group, *permissions))
    return group


def require_group(db: Db, actor: Actor, group_id: int) -> None:
    """Raise `InvalidUserGroup` unless the group is a system group or a named group of the realm."""
    if db.execute(_in_realm(actor, group_id).with_only_columns(UserGroup.id)).first() is None:
        raise InvalidUserGroup()


def _in_realm(actor: Actor, group_id: int) -> Select[UserGroup]:
    return select(UserGroup).where(
        UserGroup.id == group_id,
        UserGroup.realm_id == actor.realm_id,
        UserGroup.kind != "anonymous",
    )


def may_change(db: Db, actor: Actor, group: UserGroup, *permissions: GroupSetting) -> bool:
    """Return whether the group is a named group that the actor may manage or for which the actor
    has one of the permissions.
    """
    if group.kind != "named":
        return False
    if not actor.is_guest and belongs(db, actor, actor.realm.can_manage_all_groups):
        return True
    return any(
        (setting.everyone or not actor.is_guest)
        and belongs(db, actor, getattr(group, setting.name))
        for setting in (MANAGE, *permissions)
    )
