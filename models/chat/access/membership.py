"""Membership in user groups, and roles: every permission is the question whether somebody is in a
group or has a role.

Resolved by one recursive statement per request at most (`group_ids_of`); system groups follow from
the role alone. Every question takes a `Db`: a connection or a session.
"""

from collections.abc import Iterable

from sqlalchemy import CTE, bindparam, delete, insert, select
from sqlalchemy.orm import Session

from models.base import table_of
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
from models.prepared import Query
from models.reader import Db


def _groups_above() -> CTE:
    """The groups of user :user_id, directly or through subgroups."""
    direct = select(UserGroupMember.group_id).where(UserGroupMember.user_id == bindparam("user_id"))
    above = direct.cte("groups_above", recursive=True)
    return above.union(
        select(Subgroup.group_id).join(above, Subgroup.subgroup_id == above.c.group_id)
    )


def _groups_below() -> CTE:
    """Group :group_id and all its subgroups."""
    start = select(bindparam("group_id", type_=Subgroup.group_id.type).label("group_id"))
    below = start.cte("groups_below", recursive=True)
    return below.union(
        select(Subgroup.subgroup_id).join(below, Subgroup.group_id == below.c.group_id)
    )


_ABOVE = _groups_above()
_BELOW = _groups_below()
_GROUP_IDS = Query(select(_ABOVE.c.group_id))
_MEMBERS = Query(
    select(UserGroupMember.user_id)
    .distinct()
    .join(_BELOW, UserGroupMember.group_id == _BELOW.c.group_id)
    .join(User, User.id == UserGroupMember.user_id)
    .where(User.is_active)
)


def group_ids_of(db: Db, actor: Actor) -> frozenset[int]:
    """Ids of all groups the actor is in, directly or through subgroups. Asked once per request."""
    if actor.cached.group_ids is None:
        actor.cached.group_ids = find_group_ids_of(db, actor.id)
    return actor.cached.group_ids


def find_group_ids_of(db: Db, user_id: int) -> frozenset[int]:
    """Ids of all groups a user is in, directly or through subgroups."""
    return frozenset([group_id for (group_id,) in _GROUP_IDS.all(db, {"user_id": user_id})])


def belongs(db: Db, actor: Actor, group_id: int) -> bool:
    """Is the actor in the group? THE question of every group setting."""
    if group_id in actor.realm.system_groups:
        return group_id in actor.realm.system_groups_of(actor.role)
    return group_id in group_ids_of(db, actor)


def require(allowed: bool) -> None:
    """Raises `InsufficientPermission` unless `allowed`."""
    if not allowed:
        raise InsufficientPermission()


def require_role(actor: Actor, role: str) -> None:
    """Raise unless the actor has the role an operation names with `x-required-role`:
    `owner`, `administrator`, `member` (no guest), `human` (no bot).
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
    """Ids of the active users in a group, directly or through subgroups."""
    return {user_id for (user_id,) in _MEMBERS.all(db, {"group_id": group_id})}


def find_members_of_any(db: Db, group_ids: Iterable[int]) -> set[int]:
    """Ids of the active users in any of the groups, directly or through subgroups."""
    below = _groups_below_any(db, group_ids)
    members = (
        select(UserGroupMember.user_id)
        .distinct()
        .join(below, UserGroupMember.group_id == below.c.group_id)
        .join(User, User.id == UserGroupMember.user_id)
        .where(User.is_active)
    )
    return set(db.execute(members).scalars())


def find_groups_below(db: Db, group_ids: Iterable[int]) -> set[int]:
    """Ids of the groups and of all their subgroups."""
    return set(db.execute(select(_groups_below_any(db, group_ids).c.group_id)).scalars())


def _groups_below_any(db: Db, group_ids: Iterable[int]) -> CTE:
    start = select(UserGroup.id.label("group_id")).where(id_in(UserGroup.id, group_ids))
    below = start.cte("groups_below_any", recursive=True)
    return below.union(
        select(Subgroup.subgroup_id).join(below, Subgroup.group_id == below.c.group_id)
    )


def find_members_of_each(db: Db, group_ids: Iterable[int]) -> dict[int, set[int]]:
    """Group id -> ids of its active users, directly or through subgroups; by one statement."""
    wanted = list(group_ids)
    members: dict[int, set[int]] = {group_id: set() for group_id in wanted}
    start = select(UserGroup.id.label("root_id"), UserGroup.id.label("group_id")).where(
        id_in(UserGroup.id, wanted)
    )
    below = start.cte("groups_below_each", recursive=True)
    below = below.union(
        select(below.c.root_id, Subgroup.subgroup_id).join(
            below, Subgroup.group_id == below.c.group_id
        )
    )
    found = (
        select(below.c.root_id, UserGroupMember.user_id)
        .distinct()
        .join(UserGroupMember, UserGroupMember.group_id == below.c.group_id)
        .join(User, User.id == UserGroupMember.user_id)
        .where(User.is_active)
    )
    for root_id, user_id in db.execute(found):
        members[root_id].add(user_id)
    return members


def add_to_group(
    session: Session, group_id: int, *, members: Iterable[int] = (), subgroups: Iterable[int] = ()
) -> None:
    """Put users and groups that were checked into a group they are not in yet."""
    rows = [{"group_id": group_id, "user_id": user_id} for user_id in members]
    if rows:
        session.connection().execute(insert(table_of(UserGroupMember)), rows)
    rows = [{"group_id": group_id, "subgroup_id": subgroup} for subgroup in subgroups]
    if rows:
        session.connection().execute(insert(table_of(Subgroup)), rows)


def sync_system_groups(session: Session, user: User) -> None:
    """Put a user into the system groups of their role, and out of all others."""
    named = session.execute(
        select(UserGroup.name, UserGroup.id).where(
            UserGroup.realm_id == user.realm_id, UserGroup.kind == "system"
        )
    )
    system = {name: group_id for name, group_id in named}
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
