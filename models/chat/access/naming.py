"""Find the users named in a request, by id or by API email.

Hidden users, and real addresses that the actor may not see, are not found.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from sqlalchemy import bindparam, select

from models.chat.access.errors import NoSuchUser, UserIsDeactivated
from models.chat.access.people import (
    DUMMY_EMAIL,
    USER_COLUMNS,
    UserRow,
    sees_everybody,
    visible_email,
    visible_to,
)
from models.chat.identity.actors import Actor
from models.chat.tables import User
from models.dialects import INT_MAX, in_parameter
from models.rows import RowQuery
from specd.db import Db


@cache
def _named(ids: int, emails: int, *, system_bots: bool, sees_everybody: bool) -> RowQuery[UserRow]:
    """Return the query for users of realm `:realm_id` with one of `:ids` or of `:email_keys`.

    `ids` and `emails` are the numbers of values: 0, 1, or 2 for several. Without `system_bots`
    these are left out. Without `sees_everybody`, users that `:actor_id` may not see are left out.
    """
    by_id = User.id == bindparam("ids") if ids == 1 else in_parameter(User.id, "ids")
    by_email = in_parameter(User.email_key, "email_keys")
    if emails == 1:
        by_email = User.email_key == bindparam("email_keys")
    wanted = select(*USER_COLUMNS).where(
        User.realm_id == bindparam("realm_id"),
        by_id | by_email if ids and emails else by_email if emails else by_id,
    )
    if not system_bots:
        wanted = wanted.where(~User.is_system_bot)
    if not sees_everybody:
        wanted = wanted.where(User.id.in_(visible_to(bindparam("actor_id"))))
    return RowQuery(UserRow, wanted, one_plan=sees_everybody)


def find_named(
    db: Db, actor: Actor, names: Iterable[int | str], *, system_bots: bool = False
) -> dict[int | str, UserRow]:
    """Return name -> row of the users of the actor's realm that the actor may see, active or not,
    in the order of the names. A name is an id, a real email in any case, or a dummy email.
    """
    keys = {name: _key_of(actor, name) for name in names}
    ids = [key for key in keys.values() if isinstance(key, int) and key <= INT_MAX]
    emails = [key for key in keys.values() if isinstance(key, str)]
    query = _named(
        min(len(ids), 2),
        min(len(emails), 2),
        system_bots=system_bots,
        sees_everybody=sees_everybody(db, actor),
    )
    values = {
        "realm_id": actor.realm_id,
        "actor_id": actor.id,
        "ids": ids[0] if len(ids) == 1 else ids,
        "email_keys": emails[0] if len(emails) == 1 else emails,
    }
    rows = query.all(db, values)
    by_key: dict[int | str, UserRow] = {row.id: row for row in rows}
    by_key |= {row.email_key: row for row in rows if visible_email(actor, row) is not None}
    return {name: by_key[key] for name, key in keys.items() if key in by_key}


def _key_of(actor: Actor, name: int | str) -> int | str:
    """Return an id, or the key of a real email."""
    if isinstance(name, int):
        return name
    email = name.strip().casefold()
    dummy = DUMMY_EMAIL.fullmatch(email)
    return int(dummy[1]) if dummy is not None and dummy[2] == actor.realm.host else email


def access_user(db: Db, actor: Actor, name: int | str) -> UserRow:
    """Return a user of the actor's realm, active or not, including bots. Raise `NoSuchUser`."""
    rows = find_named(db, actor, [name])
    if name not in rows:
        raise NoSuchUser()
    return rows[name]


def is_self(actor: Actor, principals: Sequence[int | str]) -> bool:
    """Return whether the principals name only the actor. This is also true for an empty list."""
    mine = (actor.id, actor.email_key)
    return all(_key_of(actor, principal) in mine for principal in principals)


def access_principals(db: Db, actor: Actor, principals: Sequence[int | str]) -> list[UserRow]:
    """Return the named users in order, without duplicates, or the actor if the list is empty.

    Raise `NoSuchUser` and `UserIsDeactivated`.
    """
    names = list(principals) or [actor.id]
    rows = find_named(db, actor, names)
    users: dict[int, UserRow] = {}
    for name in names:
        if name not in rows:
            raise NoSuchUser()
        row = rows[name]
        if not row.is_active:
            raise UserIsDeactivated()
        users[row.id] = row
    return list(users.values())
