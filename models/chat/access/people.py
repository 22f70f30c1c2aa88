"""Users of a realm as one user sees them: visibility, email addresses and avatars."""

import re
from collections.abc import Container, Iterable
from datetime import datetime
from hashlib import md5
from typing import Any, NamedTuple, Protocol

from sqlalchemy import BindParameter, Select, bindparam, exists, or_, select
from sqlalchemy.orm import aliased

from models.chat.access.membership import belongs
from models.chat.events.log import EmailFact
from models.chat.identity.actors import Actor
from models.chat.identity.roles import EmailVisibility, Role
from models.chat.tables import ConversationMember, Subscription, User
from models.rows import columns_of
from specd.db import Db

_UPLOADED = "/user_avatars/"
DUMMY_EMAIL = re.compile(r"user([0-9]{1,10})@(.+)", re.DOTALL)


class EmailOwner(Protocol):
    """The facts that decide who may see a user's email address."""

    @property
    def id(self) -> int: ...
    @property
    def bot_type(self) -> int | None: ...
    @property
    def delivery_email(self) -> str: ...
    @property
    def email_address_visibility(self) -> int: ...


class HasAvatar(Protocol):
    """The facts that identify a user's avatar."""

    @property
    def avatar_version(self) -> int: ...
    @property
    def avatar_handle(self) -> str | None: ...


class Pictured(EmailOwner, HasAvatar, Protocol):
    """The facts that decide which avatar a viewer sees."""

    @property
    def is_deleted(self) -> bool: ...


class UserRow(NamedTuple):
    id: int
    delivery_email: str
    full_name: str
    role: int
    bot_type: int | None
    bot_owner_id: int | None
    is_active: bool
    is_imported_stub: bool
    is_deleted: bool
    date_joined: datetime
    timezone: str
    avatar_version: int
    avatar_handle: str | None
    email_address_visibility: int
    email_key: str


USER_COLUMNS = columns_of(UserRow, User)


# --- visible users: all, unless the organization restricts its guests -----------------------------


def sees_everybody(db: Db, actor: Actor) -> bool:
    """Return whether the actor sees all users. Only guests can be restricted."""
    return not actor.is_guest or belongs(db, actor, actor.realm.can_access_all_users_group)


def find_visible_user_ids(db: Db, actor: Actor) -> frozenset[int] | None:
    """Return the ids of the users that a restricted guest may see, or None for all users."""
    if sees_everybody(db, actor):
        return None
    return frozenset(db.execute(visible_to(actor.id), {"realm_id": actor.realm.id}).scalars())


def id_if_visible(user_id: int | None, visible_ids: Container[int] | None) -> int | None:
    """Return the user's id, or None if the reader may not see the user."""
    return user_id if visible_ids is None or user_id in visible_ids else None


def only_visible(user_ids: Iterable[int], visible_ids: Container[int] | None) -> list[int]:
    """Return the ids that the reader may see, in order."""
    return [user_id for user_id in user_ids if visible_ids is None or user_id in visible_ids]


def visible_to(user_id: int | BindParameter[int]) -> Select[Any]:
    """Return a select of the ids of the users that a restricted guest may see in realm `:realm_id`:
    themselves, bots, fellow subscribers, and users with whom they share a conversation.
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


# --- email: the real address for users who may see it, or a dummy address -------------------------


_LEAST_ROLE: dict[int, int] = {
    EmailVisibility.EVERYONE: Role.GUEST,
    EmailVisibility.MEMBERS: Role.MEMBER,
    EmailVisibility.MODERATORS: Role.MODERATOR,
    EmailVisibility.ADMINISTRATORS: Role.ADMINISTRATOR,
}
"""Visibility -> the lowest role that may see the address. Addresses with other visibilities are
hidden from all users.
"""


def may_see_email(viewer_role: int, visibility: int) -> bool:
    """Return whether users with that role may see real emails with that visibility."""
    return viewer_role <= _LEAST_ROLE.get(visibility, 0)


def visible_email(viewer: Actor, user: EmailOwner) -> str | None:
    """Return the user's real email, or None if the viewer may not see it."""
    if (
        user.id == viewer.id
        or user.bot_type is not None
        or may_see_email(viewer.role, user.email_address_visibility)
    ):
        return user.delivery_email
    return None


def api_email(viewer: Actor, user: EmailOwner) -> str:
    """Return the user's address for the viewer: the real address if they may see it, or the
    dummy.
    """
    return visible_email(viewer, user) or dummy_email(user.id, viewer.realm.host)


def email_for_all(user: EmailOwner, host: str) -> str:
    """Return an address of the user that all users may see."""
    if user.bot_type is not None or may_see_email(Role.GUEST, user.email_address_visibility):
        return user.delivery_email
    return dummy_email(user.id, host)


def dummy_email(user_id: int, host: str) -> str:
    """Return the user's dummy address in the realm at `host`."""
    return f"user{user_id}@{host}"


def email_fact(user: EmailOwner) -> EmailFact:
    """Return the record from which the delivery of an event computes the address for each
    reader.
    """
    visibility = user.email_address_visibility
    if user.bot_type is not None:
        visibility = EmailVisibility.EVERYONE
    return user.id, user.delivery_email, int(visibility)


def email_by_fact(viewer: Actor, fact: EmailFact) -> str:
    """Return `api_email` from the record of `email_fact`."""
    user_id, email, visibility = fact
    if user_id == viewer.id or may_see_email(viewer.role, visibility):
        return email
    return dummy_email(user_id, viewer.realm.host)


# --- avatars --------------------------------------------------------------------------------------


def email_and_picture(
    viewer: Actor, user: Pictured, *, client_makes_it: bool
) -> tuple[str, str | None]:
    """Return `api_email` and the address of the avatar. The address is None if the client computes
    it from the real email. A deleted user has the avatar of the dummy address.
    """
    real = visible_email(viewer, user)
    dummy = dummy_email(user.id, viewer.realm.host)
    email = real or dummy
    if client_makes_it and real is not None and user.avatar_handle is None and not user.is_deleted:
        return email, None
    return email, avatar_url(user, viewer.realm_id, dummy if user.is_deleted else email)


def avatar_url(user: HasAvatar, realm_id: int, email: str, *, is_medium: bool = False) -> str:
    """Return the address of the uploaded avatar, or of the avatar at the external provider for the
    email that the viewer sees.
    """
    version = f"version={user.avatar_version}"
    if user.avatar_handle is not None:
        size = "-medium" if is_medium else ""
        return f"{_UPLOADED}{realm_id}/{user.avatar_handle}{size}.png?{version}"
    digest = md5(email.strip().lower().encode("utf-8"), usedforsecurity=False).hexdigest()
    size = "&s=500" if is_medium else ""
    return f"https://secure.gravatar.com/avatar/{digest}?d=identicon&{version}{size}"


def is_uploaded(avatar: str) -> bool:
    """Return whether the address is that of an uploaded avatar."""
    return avatar.startswith(_UPLOADED)


def avatar_source(user: HasAvatar) -> str:
    """Return U for an uploaded avatar, G for an avatar at the external provider."""
    return "G" if user.avatar_handle is None else "U"
