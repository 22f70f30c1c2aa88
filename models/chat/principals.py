"""The users an operation is about, named by ids or by API emails."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from models.chat.actors import Actor, Reader
from models.chat.errors.people import NoSuchUser, UserIsDeactivated
from models.chat.tables import User
from models.chat.users import DUMMY_EMAIL, visible_email

_COLUMNS = (
    User.id,
    User.role,
    User.bot_type,
    User.bot_owner_id,
    User.is_active,
    User.delivery_email,
    User.email_key,
    User.email_address_visibility,
)


def is_self(actor: Actor, principals: Sequence[int | str]) -> bool:
    """Do they name nobody but the actor? Nobody at all means the actor."""
    mine = (actor.id, actor.email_key, actor.dummy_email.casefold())
    return all((p if isinstance(p, int) else p.strip().casefold()) in mine for p in principals)


def access_principals(reader: Reader, actor: Actor, principals: Sequence[int | str]) -> list[Any]:
    """Rows of the users named, in that order, none twice; the actor's own when nobody is named.

    Raises `NoSuchUser`, also for a real email that the actor may not see, and `UserIsDeactivated`.
    """
    named = [_key_of(actor, principal) for principal in principals] or [actor.id]
    ids = [key for key in named if isinstance(key, int)]
    emails = [key for key in named if isinstance(key, str)]
    rows = reader.execute(
        select(*_COLUMNS).where(
            User.realm_id == actor.realm.id,
            ~User.is_system_bot,
            User.id.in_(ids) | User.email_key.in_(emails),
        )
    ).all()
    by_id = {row.id: row for row in rows}
    by_email = {row.email_key: row for row in rows if visible_email(actor, row) is not None}
    found: dict[int, Any] = {}
    for key in named:
        row = by_id.get(key) if isinstance(key, int) else by_email.get(key)
        if row is None:
            raise NoSuchUser()
        if not row.is_active:
            raise UserIsDeactivated()
        found[row.id] = row
    return list(found.values())


def _key_of(actor: Actor, principal: int | str) -> int | str:
    if isinstance(principal, int):
        return principal
    email = principal.strip().casefold()
    dummy = DUMMY_EMAIL.fullmatch(email)
    return int(dummy[1]) if dummy is not None and dummy[2] == actor.realm.host else email
