"""The users an operation is about, named by ids or by API emails: the one rule who may name whom.

Somebody the actor may not know, and a real address the actor may not see, are nobody.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from sqlalchemy import select

from models.chat.access.errors import NoSuchUser, UserIsDeactivated
from models.chat.access.people import (
    DUMMY_EMAIL,
    USER_COLUMNS,
    UserRow,
    known_to,
    sees_everybody,
    visible_email,
)
from models.chat.identity.actors import Actor
from models.chat.tables import User
from models.reader import INT_MAX, Db, id_in

_COLUMNS = (*USER_COLUMNS, User.email_key)


class NamedUser(UserRow, Protocol):
    """A row of `USER_COLUMNS` and email_key."""

    @property
    def email_key(self) -> str: ...


def find_named(
    db: Db, actor: Actor, names: Iterable[int | str], *, system_bots: bool = False
) -> dict[int | str, NamedUser]:
    """Name -> row of those that are somebody of the actor's realm
    whom the actor may know, active or not; in the order of the names and in one statement.

    A name is an id, a real email in any case, or a dummy one.
    """
    keys = {name: _key_of(actor, name) for name in names}
    ids = [key for key in keys.values() if isinstance(key, int) and key <= INT_MAX]
    emails = [key for key in keys.values() if isinstance(key, str)]
    wanted = select(*_COLUMNS).where(
        User.realm_id == actor.realm_id, id_in(db, User.id, ids) | User.email_key.in_(emails)
    )
    if not system_bots:
        wanted = wanted.where(~User.is_system_bot)
    if not sees_everybody(db, actor):
        wanted = wanted.where(User.id.in_(known_to(actor.id)))
    rows: Sequence[NamedUser] = db.execute(wanted, {"realm_id": actor.realm_id}).all()
    by_key: dict[int | str, NamedUser] = {row.id: row for row in rows}
    by_key |= {row.email_key: row for row in rows if visible_email(actor, row) is not None}
    return {name: by_key[key] for name, key in keys.items() if key in by_key}


def _key_of(actor: Actor, name: int | str) -> int | str:
    """An id, or the key of a real email."""
    if isinstance(name, int):
        return name
    email = name.strip().casefold()
    dummy = DUMMY_EMAIL.fullmatch(email)
    return int(dummy[1]) if dummy is not None and dummy[2] == actor.realm.host else email


def access_user(db: Db, actor: Actor, name: int | str) -> NamedUser:
    """A user of the actor's realm, active or not, person or bot. Raises `NoSuchUser`."""
    found = find_named(db, actor, [name])
    if name not in found:
        raise NoSuchUser()
    return found[name]


def is_self(actor: Actor, principals: Sequence[int | str]) -> bool:
    """Do they name nobody but the actor? Nobody at all means the actor."""
    mine = (actor.id, actor.email_key)
    return all(_key_of(actor, principal) in mine for principal in principals)


def access_principals(db: Db, actor: Actor, principals: Sequence[int | str]) -> list[NamedUser]:
    """Rows of the users named, in that order, none twice; the actor's own when nobody is named.

    Raises `NoSuchUser` and `UserIsDeactivated`.
    """
    named = list(principals) or [actor.id]
    rows = find_named(db, actor, named)
    found: dict[int, NamedUser] = {}
    for name in named:
        if name not in rows:
            raise NoSuchUser()
        row = rows[name]
        if not row.is_active:
            raise UserIsDeactivated()
        found[row.id] = row
    return list(found.values())
