"""Who is in a user group: users put into it, taken out of it, and listed."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy import delete as delete_from
from sqlalchemy.orm import Session

from models.chat.access.group_settings import USER_GROUP_GROUPS, check_members
from models.chat.access.membership import add_to_group, find_group_ids_of, find_member_ids
from models.chat.access.naming import access_user
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.people import UserGroupAddMembersEvent, UserGroupRemoveMembersEvent
from models.chat.identity.actors import Actor
from models.chat.tables import User, UserGroup, UserGroupMember
from models.chat.user_groups.administering import access_group_to_change, require_known
from models.chat.user_groups.errors import AlreadyGroupMember, NotGroupMember
from models.chat.user_groups.notices import notify_added, notify_removed
from models.dialects import id_in
from models.reader import Db

ADD, REMOVE, JOIN, LEAVE = (
    USER_GROUP_GROUPS[name]
    for name in (
        "can_add_members_group",
        "can_remove_members_group",
        "can_join_group",
        "can_leave_group",
    )
)


def add_members(
    session: Session, actor: Actor, group_id: int, user_ids: Sequence[int], *, now: datetime
) -> None:
    """Put users into a group, all or none. Who may join may add themselves alone.

    Raises `AlreadyGroupMember`, and what `access_group_to_change` and `check_members` raise.
    """
    wanted = sorted(set(user_ids))
    permissions = (ADD, JOIN) if wanted == [actor.id] else (ADD,)
    group = access_group_to_change(session, actor, group_id, *permissions)
    check_members(session, actor.realm_id, wanted, actor=actor)
    present = _find_present(session, group_id, wanted)
    if present:
        raise AlreadyGroupMember(user_id=min(present))
    add_to_group(session, group_id, members=wanted)
    _tell(session, actor, group, UserGroupAddMembersEvent, wanted, now)
    notify_added(session, actor, group, wanted, now=now)


def remove_members(
    session: Session, actor: Actor, group_id: int, user_ids: Sequence[int], *, now: datetime
) -> None:
    """Take users out of a group, all or none. Who may leave may take themselves alone out of it.

    Raises `NotGroupMember`, and what `access_group_to_change` and `check_members` raise.
    """
    wanted = sorted(set(user_ids))
    permissions = (REMOVE, LEAVE) if wanted == [actor.id] else (REMOVE,)
    group = access_group_to_change(session, actor, group_id, *permissions)
    check_members(session, actor.realm_id, wanted, actor=actor)
    missing = set(wanted) - _find_present(session, group_id, wanted)
    if missing:
        raise NotGroupMember(user_id=min(missing))
    gone = delete_from(UserGroupMember).where(
        UserGroupMember.group_id == group_id, id_in(UserGroupMember.user_id, wanted)
    )
    session.execute(gone.execution_options(synchronize_session=False))
    _tell(session, actor, group, UserGroupRemoveMembersEvent, wanted, now)
    notify_removed(session, actor, group, wanted, now=now)


def _find_present(session: Session, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Those of the users who are directly in the group."""
    found = select(UserGroupMember.user_id).where(
        UserGroupMember.group_id == group_id, id_in(UserGroupMember.user_id, user_ids)
    )
    return set(session.scalars(found))


def _tell(
    session: Session,
    actor: Actor,
    group: UserGroup,
    kind: type[UserGroupAddMembersEvent] | type[UserGroupRemoveMembersEvent],
    user_ids: Sequence[int],
    now: datetime,
) -> None:
    is_addition = kind is UserGroupAddMembersEvent
    audit.record(
        session,
        actor.realm_id,
        "user_group_members_added" if is_addition else "user_group_members_removed",
        actor_id=actor.id,
        group_id=group.id,
        facts={"user_ids": user_ids},
        now=now,
    )
    event = kind(group_id=group.id, user_ids=user_ids)
    log.append(session, actor.realm_id, event, now=now)


# --- questions --------------------------------------------------------------------------------

_DIRECT = (
    select(User.id)
    .join(UserGroupMember, UserGroupMember.user_id == User.id)
    .where(UserGroupMember.group_id == bindparam("group_id"), User.is_active, ~User.is_system_bot)
    .order_by(User.id)
)
_SYSTEM_BOTS = select(User.id).where(User.realm_id == bindparam("realm_id"), User.is_system_bot)


def access_members(db: Db, actor: Actor, group_id: int, *, direct_only: bool) -> list[int]:
    """Ids of a group's active members, directly or (unless `direct_only`) through subgroups too,
    in order. Raises `InvalidUserGroup`.
    """
    require_known(db, actor, group_id)
    if direct_only:
        return list(db.execute(_DIRECT, {"group_id": group_id}).scalars())
    system_bots = db.execute(_SYSTEM_BOTS, {"realm_id": actor.realm_id}).scalars()
    return sorted(find_member_ids(db, group_id).difference(system_bots))


def access_membership(
    db: Db, actor: Actor, group_id: int, user_id: int, *, direct_only: bool
) -> bool:
    """Is the user an active member of the group, directly or (unless `direct_only`) through
    subgroups too? Raises `InvalidUserGroup`, `NoSuchUser`.
    """
    require_known(db, actor, group_id)
    user = access_user(db, actor, user_id)
    if not direct_only:
        return user.is_active and group_id in find_group_ids_of(db, user.id)
    direct = _DIRECT.where(User.id == bindparam("user_id"))
    found = db.execute(direct, {"group_id": group_id, "user_id": user.id})
    return found.first() is not None
