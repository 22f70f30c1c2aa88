"""Subgroups of user groups: add them without cycles, remove and list them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.access.errors import UserGroupDeactivated
from models.chat.access.groups import find_groups_by_id
from models.chat.access.membership import add_to_group, find_groups_below
from models.chat.events.people import UserGroupAddSubgroupsEvent, UserGroupRemoveSubgroupsEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.tables import Subgroup
from models.chat.user_groups import members
from models.chat.user_groups.administering import access_group_to_change, require_group
from models.chat.user_groups.errors import (
    AlreadySubgroup,
    InvalidUserGroupId,
    NotSubgroup,
    SubgroupCycle,
)
from models.dialects import id_in
from specd.db import Db


def add_subgroups(
    session: Session, actor: Actor, group_id: int, subgroup_ids: Sequence[int], *, now: datetime
) -> None:
    """Add subgroups to a group. If one fails, none is added.

    Raise `InvalidUserGroupId`, `UserGroupDeactivated`, `AlreadySubgroup`, `SubgroupCycle`, or an
    error of `access_group_to_change`.
    """
    lock_realm(session, actor.realm_id)
    wanted = sorted(set(subgroup_ids))
    access_group_to_change(session, actor, group_id, members.ADD)
    _check_groups(session, actor, wanted)
    present = _find_present(session, group_id, wanted)
    if present:
        raise AlreadySubgroup(group_id=min(present))
    if group_id in find_groups_below(session, wanted):
        raise SubgroupCycle(group_id=group_id)
    add_to_group(session, group_id, subgroups=wanted)
    event = UserGroupAddSubgroupsEvent(group_id=group_id, direct_subgroup_ids=wanted)
    facts = {"subgroup_ids": wanted}
    kind = "user_group_subgroups_added"
    append_change(session, actor, kind, facts, event, group_id=group_id, now=now)


def remove_subgroups(
    session: Session, actor: Actor, group_id: int, subgroup_ids: Sequence[int], *, now: datetime
) -> None:
    """Remove subgroups from a group that the actor may manage. If one fails, none is removed.

    Raise `InvalidUserGroupId`, `UserGroupDeactivated`, `NotSubgroup`, or an error of
    `access_group_to_change`.
    """
    lock_realm(session, actor.realm_id)
    wanted = sorted(set(subgroup_ids))
    access_group_to_change(session, actor, group_id)
    _check_groups(session, actor, wanted)
    missing = set(wanted) - _find_present(session, group_id, wanted)
    if missing:
        raise NotSubgroup(group_id=min(missing))
    removal = delete(Subgroup).where(
        Subgroup.group_id == group_id, id_in(Subgroup.subgroup_id, wanted)
    )
    session.execute(removal.execution_options(synchronize_session=False))
    event = UserGroupRemoveSubgroupsEvent(group_id=group_id, direct_subgroup_ids=wanted)
    facts = {"subgroup_ids": wanted}
    kind = "user_group_subgroups_removed"
    append_change(session, actor, kind, facts, event, group_id=group_id, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChanges:
    """Ids of users and groups to add to a group and to remove from it."""

    add: Sequence[int] = ()
    delete: Sequence[int] = ()
    add_subgroups: Sequence[int] = ()
    delete_subgroups: Sequence[int] = ()


def change_membership(
    session: Session, actor: Actor, group_id: int, changes: MembershipChanges, *, now: datetime
) -> None:
    """Make the changes in the order of the fields. If one fails, none is made. Each requires its
    own permission.

    Raise an error of `members.add_members` or of the other three functions.
    """
    if changes.add_subgroups or changes.delete_subgroups:
        lock_realm(session, actor.realm_id)  # before the group is locked, as in other functions
    for ids, change in (
        (changes.add, members.add_members),
        (changes.delete, members.remove_members),
        (changes.add_subgroups, add_subgroups),
        (changes.delete_subgroups, remove_subgroups),
    ):
        if ids:
            change(session, actor, group_id, ids, now=now)


def _check_groups(session: Session, actor: Actor, group_ids: Collection[int]) -> None:
    groups = find_groups_by_id(session, actor.realm_id, group_ids)
    for group_id in group_ids:
        if group_id not in groups:
            raise InvalidUserGroupId(group_id=group_id)
    if any(group.is_deactivated for group in groups.values()):
        raise UserGroupDeactivated()


def _find_present(session: Session, group_id: int, subgroup_ids: Sequence[int]) -> set[int]:
    """Return the groups that are direct subgroups of the group."""
    present = select(Subgroup.subgroup_id).where(
        Subgroup.group_id == group_id, id_in(Subgroup.subgroup_id, subgroup_ids)
    )
    return set(session.scalars(present))


_DIRECT = (
    select(Subgroup.subgroup_id)
    .where(Subgroup.group_id == bindparam("group_id"))
    .order_by(Subgroup.subgroup_id)
)


def access_subgroups(db: Db, actor: Actor, group_id: int, *, direct_only: bool) -> list[int]:
    """Return the ids of a group's subgroups in order, including nested subgroups unless
    `direct_only`. Raise `InvalidUserGroup`.
    """
    require_group(db, actor, group_id)
    if direct_only:
        return list(db.execute(_DIRECT, {"group_id": group_id}).scalars())
    return sorted(find_groups_below(db, [group_id]) - {group_id})
