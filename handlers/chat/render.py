"""How users look on the wire: from rows and actors to the document's objects."""

from collections.abc import Container
from datetime import datetime
from typing import Any

from models.chat.access.known_people import shown_id
from models.chat.access.user_emails import api_email, visible_email
from models.chat.identity.actors import Actor
from models.chat.identity.roles import Role
from models.chat.people.users import avatar_url, picture_of

ProfileData = dict[str, dict[str, str]]


def iso(at: datetime) -> str:
    """Whole seconds, as clients know `date_joined`: 2026-11-21T12:00:00+00:00."""
    return at.replace(microsecond=0).isoformat()


def own_user(
    actor: Actor, *, max_message_id: int, profile_data: ProfileData | None
) -> dict[str, Any]:
    """The fields of get-own-user."""
    body = {
        "avatar_url": avatar_url(actor.delivery_email, actor.avatar_version),
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
        "date_joined": iso(actor.date_joined),
        "max_message_id": max_message_id,
        "user_id": actor.id,
        "delivery_email": actor.delivery_email,
        "is_imported_stub": actor.is_imported_stub,
    }
    if not actor.is_bot:
        body["profile_data"] = profile_data or {}
    return body


def user(
    row: Any,
    viewer: Actor,
    *,
    known_ids: Container[int] | None,
    client_extavatar: bool,
    profile_data: ProfileData | None = None,
) -> dict[str, Any]:
    """The User object as `viewer` may see it, who may know only `known_ids` (None: everybody).

    `profile_data` None: it was not asked for.
    """
    email = visible_email(viewer, row)
    body = {
        "user_id": row.id,
        "delivery_email": email,
        "email": api_email(viewer, row),
        "full_name": row.full_name,
        "date_joined": iso(row.date_joined),
        "is_active": row.is_active,
        "is_owner": row.role == Role.OWNER,
        "is_admin": row.role <= Role.ADMINISTRATOR,
        "is_guest": row.role == Role.GUEST,
        "is_bot": row.bot_type is not None,
        "bot_type": row.bot_type,
        "bot_owner_id": shown_id(row.bot_owner_id, known_ids),
        "role": row.role,
        "timezone": row.timezone,
        "avatar_url": picture_of(viewer, row, client_makes_it=client_extavatar),
        "avatar_version": row.avatar_version,
        "is_imported_stub": row.is_imported_stub,
    }
    if row.is_deleted:
        body["is_deleted"] = True
    if profile_data is not None and row.bot_type is None:
        body["profile_data"] = profile_data
    return body
