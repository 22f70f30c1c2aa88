"""Members of user groups: add and remove them, with notices, and list them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.access.group_settings import USER_GROUP_GROUPS, check_members
from models.chat.access.membership import add_to_group, find_group_ids_of, find_member_ids
from models.chat.access.naming import access_user
from models.chat.events.people import UserGroupAddMembersEvent, UserGroupRemoveMembersEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change
from models.chat.rendering.quotes import Quotes
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import User, UserGroup, UserGroupMember
from models.chat.user_groups.administering import access_group_to_change, require_group
from models.chat.user_groups.errors import AlreadyGroupMember, NotGroupMember
from models.dialects import id_in
from specd.db import Db

ADD, REMOVE, JOIN, LEAVE = (
    USER_GROUP_GROUPS[name]
    for name in (
        "can_add_members_group",
        "can_remove_members_group",
        "can_join_group",
        "can_leave_group",
    )
)

MAX_NOTIFIED = 100
"""If a request changes more users than this, none of them gets a notice."""


def add_members(
    session: Session, actor: Actor, group_id: int, user_ids: Sequence[int], *, now: datetime
) -> None:
    """Add users to a group. If one fails, none is added. Users who may join may add only
    themselves.

    Raise `AlreadyGroupMember`, or an error of `access_group_to_change` or `check_members`.
    """
    wanted = sorted(set(user_ids))
    permissions = (ADD, JOIN) if wanted == [actor.id] else (ADD,)
    group = access_group_to_change(session, actor, group_id, *permissions)
    check_members(session, actor.realm_id, wanted, actor=actor)
    present = _find_present(session, group_id, wanted)
    if present:
        raise AlreadyGroupMember(user_id=min(present))
    add_to_group(session, group_id, members=wanted)
    event = UserGroupAddMembersEvent(group_id=group_id, user_ids=wanted)
    facts = {"user_ids": wanted}
    kind = "user_group_members_added"
    append_change(session, actor, kind, facts, event, group_id=group_id, now=now)
    _notify_members(session, actor, group, wanted, "added you to", now=now)


def remove_members(
    session: Session, actor: Actor, group_id: int, user_ids: Sequence[int], *, now: datetime
) -> None:
    """Remove users from a group. If one fails, none is removed. Users who may leave may remove only
    themselves.

    Raise `NotGroupMember`, or an error of `access_group_to_change` or `check_members`.
    """
    wanted = sorted(set(user_ids))
    permissions = (REMOVE, LEAVE) if wanted == [actor.id] else (REMOVE,)
    group = access_group_to_change(session, actor, group_id, *permissions)
    check_members(session, actor.realm_id, wanted, actor=actor)
    missing = set(wanted) - _find_present(session, group_id, wanted)
    if missing:
        raise NotGroupMember(user_id=min(missing))
    removal = delete(UserGroupMember).where(
        UserGroupMember.group_id == group_id, id_in(UserGroupMember.user_id, wanted)
    )
    session.execute(removal.execution_options(synchronize_session=False))
    event = UserGroupRemoveMembersEvent(group_id=group_id, user_ids=wanted)
    facts = {"user_ids": wanted}
    kind = "user_group_members_removed"
    append_change(session, actor, kind, facts, event, group_id=group_id, now=now)
    _notify_members(session, actor, group, wanted, "removed you from", now=now)


def _find_present(session: Session, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Return the users who are direct members of the group."""
    present = select(UserGroupMember.user_id).where(
        UserGroupMember.group_id == group_id, id_in(UserGroupMember.user_id, user_ids)
    )
    return set(session.scalars(present))


def _notify_members(
    session: Session,
    actor: Actor,
    group: UserGroup,
    user_ids: Sequence[int],
    change: str,
    *,
    now: datetime,
) -> None:
    """Send a notice to the users except the actor and bots. `change` is "added you to" or "removed
    you from".
    """
    if len(user_ids) > MAX_NOTIFIED:
        return
    people = session.scalars(
        select(User.id)
        .where(id_in(User.id, user_ids), User.bot_type.is_(None), User.id != actor.id)
        .order_by(User.id)
    ).all()
    quotes = Quotes()
    who = quotes.user(actor.id, actor.full_name)
    content = f"{who} {change} the group {quotes.group(group.id, str(group.name))}."
    send_direct_notices(session, actor.realm_id, people, content=content, quotes=quotes, now=now)


_DIRECT = (
    select(User.id)
    .join(UserGroupMember, UserGroupMember.user_id == User.id)
    .where(UserGroupMember.group_id == bindparam("group_id"), User.is_active, ~User.is_system_bot)
    .order_by(User.id)
)
_SYSTEM_BOTS = select(User.id).where(User.realm_id == bindparam("realm_id"), User.is_system_bot)


def access_members(db: Db, actor: Actor, group_id: int, *, direct_only: bool) -> list[int]:
    """Return the ids of a group's active members in order, including members of subgroups unless
    `direct_only`. Raise `InvalidUserGroup`.
    """
    require_group(db, actor, group_id)
    if direct_only:
        return list(db.execute(_DIRECT, {"group_id": group_id}).scalars())
    system_bots = db.execute(_SYSTEM_BOTS, {"realm_id": actor.realm_id}).scalars()
    return sorted(find_member_ids(db, group_id).difference(system_bots))


def access_membership(
    db: Db, actor: Actor, group_id: int, user_id: int, *, direct_only: bool
) -> bool:
    """Return whether the user is an active member of the group, or of a subgroup unless
    `direct_only`. Raise `InvalidUserGroup`, `NoSuchUser`.
    """
    require_group(db, actor, group_id)
    user = access_user(db, actor, user_id)
    if not direct_only:
        return user.is_active and group_id in find_group_ids_of(db, user.id)
    direct = _DIRECT.where(User.id == user.id)
    return db.execute(direct, {"group_id": group_id}).first() is not None
