"""Permission to change a user group, the locked group itself, and the record of its changes."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from models.chat.access.errors import InvalidUserGroup, UserGroupDeactivated
from models.chat.access.group_settings import USER_GROUP_GROUPS, GroupSetting
from models.chat.access.membership import belongs, require
from models.chat.common import audit
from models.chat.events import log
from models.chat.identity.actors import Actor
from models.chat.tables import Realm, UserGroup
from models.json import Json
from models.reader import Db

MANAGE = USER_GROUP_GROUPS["can_manage_group"]


def take_turns(session: Session, realm_id: int) -> None:
    """Lock the settings and subgroups of a realm's groups against concurrent changes, which could
    make a circle of groups or use a group that is being deactivated.
    """
    session.execute(select(Realm.id).where(Realm.id == realm_id).with_for_update(key_share=True))


def access_group_to_change(
    session: Session,
    actor: Actor,
    group_id: int,
    *permissions: GroupSetting,
    may_be_deactivated: bool = False,
) -> UserGroup:
    """Return a named group for which the actor has one of the permissions. Who may manage a group,
    or all groups, has every permission; nobody may change a system group.

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


def require_known(db: Db, actor: Actor, group_id: int) -> None:
    """Raise `InvalidUserGroup` unless the group is a system group or a named one of the realm."""
    if db.execute(_in_realm(actor, group_id).with_only_columns(UserGroup.id)).first() is None:
        raise InvalidUserGroup()


def _in_realm(actor: Actor, group_id: int) -> Select[UserGroup]:
    return select(UserGroup).where(
        UserGroup.id == group_id,
        UserGroup.realm_id == actor.realm_id,
        UserGroup.kind != "anonymous",
    )


def may_change(db: Db, actor: Actor, group: UserGroup, *permissions: GroupSetting) -> bool:
    """Return whether it is a named group that the actor may manage or for which the actor has one
    of the permissions.
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


def record_change(
    session: Session,
    actor: Actor,
    group_id: int,
    kind: str,
    event: log.ClientEvent,
    *,
    facts: Mapping[str, Json] | None = None,
    now: datetime,
) -> None:
    """Write a change of a group to the audit log, and append its event for everybody."""
    audit.record(
        session, actor.realm_id, kind, actor_id=actor.id, group_id=group_id, facts=facts, now=now
    )
    log.append(session, actor.realm_id, event, now=now)
