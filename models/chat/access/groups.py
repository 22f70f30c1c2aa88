"""User groups: the system groups of a realm, and named groups."""

from collections.abc import Collection, Container, Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.access.errors import InvalidUserGroup, InvalidUserGroupName, UserGroupExists
from models.chat.access.group_settings import (
    CREATOR,
    USER_GROUP_GROUPS,
    check_members,
    find_group_values,
    store_group_value,
)
from models.chat.access.membership import add_to_group, belongs, require
from models.chat.access.people import id_if_visible, only_visible
from models.chat.common import audit
from models.chat.common.name_keys import key_of
from models.chat.common.one_line import require_one_line
from models.chat.events import log
from models.chat.events.people import UserGroupAddEvent
from models.chat.identity.actors import Actor
from models.chat.identity.roles import NOBODY, SYSTEM_GROUPS
from models.chat.tables import Realm, Subgroup, User, UserGroup, UserGroupMember
from models.dialects import id_in, ids_as_array
from models.rows import RowQuery, columns_of
from specd.db import Db

NAME_MAX = 100
KEY_MAX = 200
"""Casefolding can triple the length of a name."""
RESERVED_PREFIXES = ("@", "role:", "user:", "stream:", "channel:")


def create_system_groups(session: Session, realm: Realm, *, now: datetime) -> dict[str, int]:
    """Create the groups for roles, each with the next narrower group as a subgroup. Return name ->
    id.
    """
    groups = [
        UserGroup(
            realm_id=realm.id,
            kind="system",
            name=name,
            name_key=name,
            description=description,
            date_created=now,
        )
        for name, description in SYSTEM_GROUPS.items()
    ]
    for group in groups:  # flushed one by one, so that the ids have this order
        session.add(group)
        session.flush()
    ids = {str(group.name): group.id for group in groups}
    for name, group_id in ids.items():
        setattr(realm, f"{name.removeprefix('role:')}_group_id", group_id)
    for group in groups:
        for setting in USER_GROUP_GROUPS:
            setattr(group, setting, ids[NOBODY])
        group.can_mention_group = ids["role:everyone"]
    chain = [group_id for name, group_id in ids.items() if name != NOBODY]
    for wider, narrower in pairwise(chain):
        add_to_group(session, wider, subgroups=[narrower])
    return ids


def create_group(
    session: Session,
    actor: Actor,
    *,
    name: str,
    description: str,
    members: Iterable[int],
    subgroups: Iterable[int],
    settings: Mapping[str, Any],
    now: datetime,
) -> UserGroup:
    """Create a named group. `settings` are group-setting values by name.

    Raise `InsufficientPermission`, `InvalidUserGroupName`, `UserGroupExists`, `InvalidUserId`,
    `InvalidUserGroup` or an error of `store_group_value`.
    """
    require(not actor.is_guest and belongs(session, actor, actor.realm.can_create_groups))
    realm_id = actor.realm.id
    name = check_group_name(session, realm_id, name)
    members, subgroups = sorted(set(members)), sorted(set(subgroups))
    check_members(session, realm_id, members, actor=actor)
    groups = find_groups_by_id(session, realm_id, subgroups)
    if len(groups) < len(subgroups) or any(group.is_deactivated for group in groups.values()):
        raise InvalidUserGroup()
    own = {"direct_members": [actor.id], "direct_subgroups": []}
    permissions = {
        setting.name: store_group_value(
            session,
            realm_id,
            setting,
            settings.get(setting.name, own if setting.default == CREATOR else setting.default),
            actor=actor,
            now=now,
        )
        for setting in USER_GROUP_GROUPS.values()
    }
    group = UserGroup(
        realm_id=realm_id,
        kind="named",
        name=name,
        name_key=key_of(name),
        description=description,
        creator_id=actor.id,
        date_created=now,
        **permissions,
    )
    session.add(group)
    session.flush()
    add_to_group(session, group.id, members=members, subgroups=subgroups)
    audit.record(
        session,
        realm_id,
        "user_group_created",
        actor_id=actor.id,
        group_id=group.id,
        facts={"name": name},
        now=now,
    )
    (created,) = find_groups(session, realm_id, group_id=group.id, include_deactivated=True)
    log.append(session, realm_id, UserGroupAddEvent(group=created), now=now)
    return group


def check_group_name(
    session: Session, realm_id: int, name: str, *, besides: int | None = None
) -> str:
    """Return the name as it is stored. `besides` is a group that may already have the name.

    Raise `InvalidUserGroupName`, `NotOneLine`, `UserGroupExists`.
    """
    name = require_one_line("name", name.strip())
    if not name:
        raise InvalidUserGroupName(problem="can't be empty!")
    if len(name) > NAME_MAX or len(key_of(name)) > KEY_MAX:
        raise InvalidUserGroupName(problem=f"cannot exceed {NAME_MAX} characters.")
    for prefix in RESERVED_PREFIXES:
        if name.startswith(prefix):
            raise InvalidUserGroupName(problem=f"cannot start with '{prefix}'.")
    taken = select(UserGroup.id).where(
        UserGroup.realm_id == realm_id,
        UserGroup.name_key == key_of(name),
        UserGroup.id != (besides or 0),
    )
    if session.execute(taken).first() is not None:
        raise UserGroupExists(name=name)
    return name


def find_groups_by_id(
    session: Session, realm_id: int, group_ids: Collection[int]
) -> dict[int, UserGroup]:
    """Return the realm's named and system groups with these ids, by id in order."""
    if not group_ids:
        return {}
    groups = session.scalars(
        select(UserGroup)
        .where(
            UserGroup.realm_id == realm_id,
            id_in(UserGroup.id, group_ids),
            UserGroup.kind != "anonymous",
        )
        .order_by(UserGroup.id)
    )
    return {group.id: group for group in groups}


class _Group(NamedTuple):
    """A group, its direct members and subgroups, and the groups that have its permissions."""

    id: int
    name: str
    description: str
    kind: str
    creator_id: int | None
    date_created: datetime
    is_deactivated: bool
    members: list[int]
    subgroups: list[int]
    can_add_members_group: int
    can_join_group: int
    can_leave_group: int
    can_manage_group: int
    can_mention_group: int
    can_remove_members_group: int

    @property
    def settings(self) -> dict[str, int]:
        """Permission -> id of the group that has it."""
        return {name: getattr(self, name) for name in USER_GROUP_GROUPS}


_MEMBER_IDS = (
    select(ids_as_array(UserGroupMember.user_id))
    .join(User, User.id == UserGroupMember.user_id)
    .where(UserGroupMember.group_id == UserGroup.id, User.is_active, ~User.is_system_bot)
    .scalar_subquery()
)
_SUBGROUP_IDS = (
    select(ids_as_array(Subgroup.subgroup_id))
    .where(Subgroup.group_id == UserGroup.id)
    .scalar_subquery()
)
_ALL = select(
    *columns_of(_Group, UserGroup),
    _MEMBER_IDS.label("members"),
    _SUBGROUP_IDS.label("subgroups"),
).where(UserGroup.realm_id == bindparam("realm_id"), UserGroup.kind != "anonymous")
_IN_REALM = RowQuery(_Group, _ALL.order_by(UserGroup.id))
_ONE = RowQuery(_Group, _ALL.where(UserGroup.id == bindparam("group_id")))


def find_groups(
    db: Db,
    realm_id: int,
    *,
    include_deactivated: bool,
    group_id: int | None = None,
    visible_ids: Container[int] | None = None,
) -> list[dict[str, Any]]:
    """Return the realm's named and system groups in the API's form, ordered by id, or one of them.

    `visible_ids` are the users that the reader may see, or None for all users.
    """
    query = _IN_REALM if group_id is None else _ONE
    groups = query.all(db, {"realm_id": realm_id, "group_id": group_id})
    if not include_deactivated:
        groups = [group for group in groups if not group.is_deactivated]
    values = find_group_values(
        db, {id_ for group in groups for id_ in group.settings.values()}, visible_ids=visible_ids
    )
    return [
        {
            "id": group.id,
            "name": group.name,
            "description": group.description,
            "members": only_visible(group.members, visible_ids),
            "direct_subgroup_ids": group.subgroups,
            "is_system_group": group.kind == "system",
            "date_created": int(group.date_created.timestamp()),
            "deactivated": group.is_deactivated,
            **{setting: values[id_] for setting, id_ in group.settings.items()},
            "creator_id": id_if_visible(group.creator_id, visible_ids),
        }
        for group in groups
    ]
