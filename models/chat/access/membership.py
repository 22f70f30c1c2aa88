"""Membership in user groups, and roles. Every permission belongs to a group or to a role.

At most one recursive statement per request reads the groups of the actor (`group_ids_of`). System
groups follow from the role.
"""

from collections.abc import Iterable

from sqlalchemy import CTE, Select, bindparam, delete, insert, select
from sqlalchemy.orm import Session

from models.chat.access.errors import (
    InsufficientPermission,
    MustBeAdministrator,
    MustBeMember,
    MustBeOwner,
    NotAllowedForGuests,
    NotForBots,
)
from models.chat.identity.actors import Actor
from models.chat.identity.roles import DIRECT_GROUPS, Role
from models.chat.tables import Subgroup, User, UserGroup, UserGroupMember
from models.dialects import id_in
from specd.db import Db, Query, table_of


def _groups_above() -> CTE:
    """Return the groups of user `:user_id`, including groups through subgroups."""
    direct = select(UserGroupMember.group_id).where(UserGroupMember.user_id == bindparam("user_id"))
    above = direct.cte("groups_above", recursive=True)
    return above.union(
        select(Subgroup.group_id).join(above, Subgroup.subgroup_id == above.c.group_id)
    )


def _with_subgroups(groups: Select[int]) -> CTE:
    """Return the selected groups and all their subgroups."""
    below = groups.cte("groups_below", recursive=True)
    return below.union(
        select(Subgroup.subgroup_id).join(below, Subgroup.group_id == below.c.group_id)
    )


def _among(group_ids: Iterable[int]) -> Select[int]:
    return select(UserGroup.id.label("group_id")).where(id_in(UserGroup.id, group_ids))


def _members_of(groups: CTE) -> Select[int]:
    return (
        select(UserGroupMember.user_id)
        .distinct()
        .join(groups, UserGroupMember.group_id == groups.c.group_id)
        .join(User, User.id == UserGroupMember.user_id)
        .where(User.is_active)
    )


_GROUP_IDS = Query(select(_groups_above().c.group_id))
_ONE_GROUP = select(bindparam("group_id", type_=Subgroup.group_id.type).label("group_id"))
_MEMBERS = Query(_members_of(_with_subgroups(_ONE_GROUP)))


def group_ids_of(db: Db, actor: Actor) -> frozenset[int]:
    """Return the ids of all groups of the actor. They are read once per request."""
    if actor.cached.group_ids is None:
        actor.cached.group_ids = find_group_ids_of(db, actor.id)
    return actor.cached.group_ids


def find_group_ids_of(db: Db, user_id: int) -> frozenset[int]:
    """Return the ids of all groups of a user, including groups through subgroups."""
    return frozenset([group_id for (group_id,) in _GROUP_IDS.all(db, {"user_id": user_id})])


def belongs(db: Db, actor: Actor, group_id: int) -> bool:
    """Return whether the actor is in the group or in one of its subgroups."""
    if group_id in actor.realm.system_groups:
        return group_id in actor.realm.system_groups_of(actor.role)
    return group_id in group_ids_of(db, actor)


def require(allowed: bool) -> None:
    """Raise `InsufficientPermission` unless `allowed`."""
    if not allowed:
        raise InsufficientPermission()


def require_role(actor: Actor, role: str) -> None:
    """Raise an error unless the actor has the role in an operation's `x-required-role`: `owner`,
    `administrator`, `member` or `full_member` (not a guest), `human` (not a bot).
    """
    match role:
        case "owner" if not actor.is_owner:
            raise MustBeOwner()
        case "administrator" if not actor.is_administrator:
            raise MustBeAdministrator()
        case "member" if actor.is_guest:
            raise NotAllowedForGuests()
        case "full_member" if actor.is_guest:
            raise MustBeMember()
        case "human" if actor.is_bot:
            raise NotForBots()


def find_member_ids(db: Db, group_id: int) -> set[int]:
    """Return the ids of the active users in a group, including members of subgroups."""
    return {user_id for (user_id,) in _MEMBERS.all(db, {"group_id": group_id})}


def find_members_of_any(db: Db, group_ids: Iterable[int]) -> set[int]:
    """Return the ids of the active users in any of the groups, including members of subgroups."""
    return set(db.execute(_members_of(_with_subgroups(_among(group_ids)))).scalars())


def find_groups_below(db: Db, group_ids: Iterable[int]) -> set[int]:
    """Return the ids of the groups and of all their subgroups."""
    return set(db.execute(select(_with_subgroups(_among(group_ids)).c.group_id)).scalars())


def find_members_of_each(db: Db, group_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return group id -> ids of its active users, including members of subgroups."""
    members: dict[int, set[int]] = {group_id: set() for group_id in group_ids}
    roots = _among(members).add_columns(UserGroup.id.label("root_id"))
    below = roots.cte("groups_below_each", recursive=True)
    below = below.union(
        select(Subgroup.subgroup_id, below.c.root_id).join(
            below, Subgroup.group_id == below.c.group_id
        )
    )
    for user_id, root_id in db.execute(_members_of(below).add_columns(below.c.root_id)):
        members[root_id].add(user_id)
    return members


def add_to_group(
    session: Session, group_id: int, *, members: Iterable[int] = (), subgroups: Iterable[int] = ()
) -> None:
    """Add users and groups to a group. The caller has checked that they are not in the group."""
    rows = [{"group_id": group_id, "user_id": user_id} for user_id in members]
    if rows:
        session.connection().execute(insert(table_of(UserGroupMember)), rows)
    rows = [{"group_id": group_id, "subgroup_id": subgroup} for subgroup in subgroups]
    if rows:
        session.connection().execute(insert(table_of(Subgroup)), rows)


def sync_system_groups(session: Session, user: User) -> None:
    """Add a user to the system groups of their role, and remove the user from other system
    groups.
    """
    rows = session.execute(
        select(UserGroup.name, UserGroup.id).where(
            UserGroup.realm_id == user.realm_id, UserGroup.kind == "system"
        )
    )
    system = {name: group_id for name, group_id in rows}
    session.execute(
        delete(UserGroupMember)
        .where(
            UserGroupMember.user_id == user.id,
            UserGroupMember.group_id.in_(system.values()),
        )
        .execution_options(synchronize_session=False)
    )
    for name in DIRECT_GROUPS[Role(user.role)]:
        add_to_group(session, system[name], members=[user.id])
