"""Who may know of whom: everybody, but guests whom the organization restricts."""

from collections.abc import Container
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Select, bindparam, exists, or_, select
from sqlalchemy.orm import aliased

from models.chat.access.membership import belongs, find_member_ids
from models.chat.access.user_emails import EmailOwner
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.roles import Role
from models.chat.tables import ConversationMember, Subscription, User
from models.reader import Db

USER_COLUMNS = (
    User.id,
    User.delivery_email,
    User.full_name,
    User.role,
    User.bot_type,
    User.bot_owner_id,
    User.is_active,
    User.is_imported_stub,
    User.is_deleted,
    User.date_joined,
    User.timezone,
    User.avatar_version,
    User.email_address_visibility,
)


class UserRow(EmailOwner, Protocol):
    """A row of `USER_COLUMNS`."""

    @property
    def full_name(self) -> str: ...
    @property
    def role(self) -> int: ...
    @property
    def bot_owner_id(self) -> int | None: ...
    @property
    def is_active(self) -> bool: ...
    @property
    def is_imported_stub(self) -> bool: ...
    @property
    def is_deleted(self) -> bool: ...
    @property
    def date_joined(self) -> datetime: ...
    @property
    def timezone(self) -> str: ...
    @property
    def avatar_version(self) -> int: ...


def sees_everybody(db: Db, actor: Actor) -> bool:
    """Only guests can be kept from knowing users they share nothing with."""
    return not actor.is_guest or belongs(db, actor, actor.realm.can_access_all_users_group)


def find_known_ids(db: Db, actor: Actor) -> frozenset[int] | None:
    """Ids of the users the actor may know; None: everybody, as for all but restricted guests."""
    if sees_everybody(db, actor):
        return None
    return frozenset(db.execute(known_to(actor.id), {"realm_id": actor.realm.id}).scalars())


def visible_user_id(user_id: int | None, known_ids: Container[int] | None) -> int | None:
    """A user's id as it is shown to who may know only those; None in place of all others."""
    return user_id if known_ids is None or user_id in known_ids else None


def known_to(user_id: int) -> Select[Any]:
    """Ids of the users a restricted guest may know, in realm :realm_id: bots, fellow subscribers,
    those they wrote with directly, and themselves.
    """
    mine, theirs = aliased(Subscription), aliased(Subscription)
    shares_channel = exists().where(
        mine.user_id == user_id,
        mine.is_active,
        theirs.channel_id == mine.channel_id,
        theirs.user_id == User.id,
        theirs.is_active,
    )
    with_me, with_them = aliased(ConversationMember), aliased(ConversationMember)
    wrote = exists().where(
        with_me.user_id == user_id,
        with_them.conversation_id == with_me.conversation_id,
        with_them.user_id == User.id,
    )
    return select(User.id).where(
        User.realm_id == bindparam("realm_id"),
        or_(User.id == user_id, User.bot_type.is_not(None), shares_channel, wrote),
    )


def find_users_who_know(db: Db, realm: RealmView, user_id: int) -> list[int] | None:
    """Ids of the active users who may know of the user; None: everybody, as where guests are not
    restricted.
    """
    group_id = realm.can_access_all_users_group
    if group_id in realm.system_groups_of(Role.GUEST):
        return None
    knows = or_(
        User.role != Role.GUEST,
        User.id.in_(known_to(user_id)),
        User.id.in_(find_member_ids(db, group_id)),
    )
    found = db.execute(
        select(User.id)
        .where(User.realm_id == bindparam("realm_id"), ~User.is_system_bot, User.is_active, knows)
        .order_by(User.id),
        {"realm_id": realm.id},
    )
    return list(found.scalars())
