"""Events that tell clients what has become of a user."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.known_people import find_users_who_know
from models.chat.access.user_emails import may_see_email
from models.chat.ground import events
from models.chat.identity.actors import RealmView
from models.chat.tables import User, UserGroup, UserGroupMember


def tell_of_user(
    session: Session,
    realm: RealmView,
    user_id: int,
    *changes: Mapping[str, Any],
    now: datetime,
    user_ids: Iterable[int] | None = None,
) -> None:
    """What is new about the user, an event for each change, to `user_ids`, else to everybody who
    may know of them.
    """
    readers = find_users_who_know(session, realm, user_id) if user_ids is None else list(user_ids)
    told = [
        ({"op": "update", "person": {"user_id": user_id, **change}}, readers) for change in changes
    ]
    events.append_all(session, realm.id, "realm_user", told, now=now)


def find_email_readers(session: Session, user: User, *, visibility: int | None = None) -> list[int]:
    """Ids of the active users who may see the user's real email, or may at another visibility."""
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


def tell_of_membership(
    session: Session,
    realm_id: int,
    op: str,
    group_ids: Iterable[int],
    user_ids: Sequence[int],
    *,
    now: datetime,
) -> None:
    """`add_members` or `remove_members` of groups that have a name."""
    events.append_all(
        session,
        realm_id,
        "user_group",
        [
            ({"op": op, "group_id": group_id, "user_ids": list(user_ids)}, None)
            for group_id in group_ids
        ],
        now=now,
    )


def find_named_group_ids(session: Session, user_id: int) -> list[int]:
    """Ids of the system and named groups that the user is directly in."""
    return list(
        session.scalars(
            select(UserGroup.id)
            .join(UserGroupMember, UserGroupMember.group_id == UserGroup.id)
            .where(UserGroupMember.user_id == user_id, UserGroup.kind != "anonymous")
            .order_by(UserGroup.id)
        )
    )
