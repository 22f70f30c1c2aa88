"""Events about changes of users."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from models.chat.access.membership import find_member_ids
from models.chat.access.people import may_see_email, visible_to
from models.chat.events import log
from models.chat.events.people import (
    PersonChange,
    RealmUserUpdateEvent,
    UserGroupAddMembersEvent,
    UserGroupRemoveMembersEvent,
)
from models.chat.identity.actors import RealmView
from models.chat.identity.roles import Role
from models.chat.tables import User, UserGroup, UserGroupMember
from specd.db import Db


def notify_of_user(
    session: Session,
    realm: RealmView,
    user_id: int,
    *changes: PersonChange,
    now: datetime,
    user_ids: Iterable[int] | None = None,
) -> None:
    """Append an event for each change of the user, for `user_ids`, or if it is None, for all users
    who may see the user.
    """
    readers = find_users_who_know(session, realm, user_id) if user_ids is None else list(user_ids)
    events = [
        (RealmUserUpdateEvent(person={"user_id": user_id, **change}), readers) for change in changes
    ]
    log.append_all(session, realm.id, events, now=now)


def find_email_readers(session: Session, user: User, *, visibility: int | None = None) -> list[int]:
    """Return the ids of the active users who may see the user's real email, with the user's
    visibility or with `visibility`.
    """
    shown_to = user.email_address_visibility if visibility is None else visibility
    rows = session.execute(
        select(User.id, User.role).where(
            User.realm_id == user.realm_id, User.is_active, ~User.is_system_bot
        )
    )
    return [
        user_id
        for user_id, role in rows
        if user_id == user.id or user.bot_type is not None or may_see_email(role, shown_to)
    ]


def notify_of_membership(
    session: Session,
    realm_id: int,
    kind: type[UserGroupAddMembersEvent] | type[UserGroupRemoveMembersEvent],
    group_ids: Iterable[int],
    user_ids: Sequence[int],
    *,
    now: datetime,
) -> None:
    """Append an event for each group about users who joined or left it."""
    events = [(kind(group_id=group_id, user_ids=user_ids), None) for group_id in group_ids]
    log.append_all(session, realm_id, events, now=now)


def find_named_group_ids(session: Session, user_id: int) -> list[int]:
    """Return the ids of system and named groups of which the user is a direct member."""
    return list(
        session.scalars(
            select(UserGroup.id)
            .join(UserGroupMember, UserGroupMember.group_id == UserGroup.id)
            .where(UserGroupMember.user_id == user_id, UserGroup.kind != "anonymous")
            .order_by(UserGroup.id)
        )
    )


def find_users_who_know(db: Db, realm: RealmView, user_id: int) -> list[int] | None:
    """Return the ids of the active users who may see the user, or None for all users if guests are
    not restricted.
    """
    group_id = realm.can_access_all_users_group
    if group_id in realm.system_groups_of(Role.GUEST):
        return None
    may_know = or_(
        User.role != Role.GUEST,
        User.id.in_(visible_to(user_id)),
        User.id.in_(find_member_ids(db, group_id)),
    )
    user_ids = db.execute(
        select(User.id)
        .where(
            User.realm_id == bindparam("realm_id"), ~User.is_system_bot, User.is_active, may_know
        )
        .order_by(User.id),
        {"realm_id": realm.id},
    )
    return list(user_ids.scalars())
