"""User objects, limited to the facts that their viewer may see."""

from collections.abc import Container
from datetime import datetime
from typing import Any

from models.chat.access.people import (
    UserRow,
    avatar_source,
    avatar_url,
    dummy_email,
    email_and_picture,
    id_if_visible,
    may_see_email,
    visible_email,
)
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.roles import Role
from models.chat.tables import User


def describe_new_user(user: User, realm: RealmView) -> dict[str, Any]:
    """Return the User object of a new user, with the facts that all users of the realm may see."""
    is_open = user.bot_type is not None or may_see_email(Role.GUEST, user.email_address_visibility)
    email = user.delivery_email if is_open else dummy_email(user.id, realm.host)
    person = _describe(
        user,
        delivery_email=email if is_open else None,
        email=email,
        bot_owner_id=user.bot_owner_id,
        picture=avatar_url(user, realm.id, email),
    )
    return person if user.bot_type is not None else {**person, "profile_data": {}}


def _describe(
    row: UserRow | User,
    *,
    delivery_email: str | None,
    email: str,
    bot_owner_id: int | None,
    picture: str | None,
) -> dict[str, Any]:
    """Return the fields of every User object. The keyword arguments depend on the viewer."""
    return {
        "user_id": row.id,
        "delivery_email": delivery_email,
        "email": email,
        "full_name": row.full_name,
        "date_joined": _iso(row.date_joined),
        "is_active": row.is_active,
        "is_owner": row.role == Role.OWNER,
        "is_admin": row.role <= Role.ADMINISTRATOR,
        "is_guest": row.role == Role.GUEST,
        "is_bot": row.bot_type is not None,
        "bot_type": row.bot_type,
        "bot_owner_id": bot_owner_id,
        "role": int(row.role),
        "timezone": row.timezone,
        "avatar_url": picture,
        "avatar_version": row.avatar_version,
        "is_imported_stub": row.is_imported_stub,
    }


ProfileData = dict[str, dict[str, str]]


def _iso(at: datetime) -> str:
    """Return `date_joined` in whole seconds, as clients expect it: 2026-11-21T12:00:00+00:00."""
    return at.replace(microsecond=0).isoformat()


def describe_own_user(
    actor: Actor, *, max_message_id: int, profile_data: ProfileData | None
) -> dict[str, Any]:
    """Return the fields of get-own-user."""
    body = {
        "avatar_url": avatar_url(actor, actor.realm_id, actor.delivery_email),
        "avatar_version": actor.avatar_version,
        "email": actor.delivery_email,
        "full_name": actor.full_name,
        "is_admin": actor.is_administrator,
        "is_owner": actor.is_owner,
        "is_guest": actor.is_guest,
        "is_bot": actor.is_bot,
        "is_active": actor.is_active,
        "role": actor.role,
        "timezone": actor.timezone,
        "date_joined": _iso(actor.date_joined),
        "max_message_id": max_message_id,
        "user_id": actor.id,
        "delivery_email": actor.delivery_email,
        "is_imported_stub": actor.is_imported_stub,
    }
    if not actor.is_bot:
        body["profile_data"] = profile_data or {}
    return body


def describe_own_avatar(actor: Actor) -> dict[str, Any]:
    """Return the fields of the actor's avatar that a snapshot contains in addition to
    get-own-user.
    """
    email = actor.delivery_email
    return {
        "avatar_source": avatar_source(actor),
        "avatar_url_medium": avatar_url(actor, actor.realm_id, email, is_medium=True),
    }


def describe_user(
    row: UserRow,
    viewer: Actor,
    *,
    visible_ids: Container[int] | None,
    client_extavatar: bool,
    profile_data: ProfileData | None = None,
) -> dict[str, Any]:
    """Return the User object for `viewer`, who may see `visible_ids` (None for all users).

    `profile_data` is None if it was not requested.
    """
    email, picture = email_and_picture(viewer, row, client_makes_it=client_extavatar)
    body = _describe(
        row,
        delivery_email=visible_email(viewer, row),
        email=email,
        bot_owner_id=id_if_visible(row.bot_owner_id, visible_ids),
        picture=picture,
    )
    if row.is_deleted:
        body["is_deleted"] = True
    if profile_data is not None and row.bot_type is None:
        body["profile_data"] = profile_data
    return body
