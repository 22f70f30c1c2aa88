"""Change the caller's password. The API key does not depend on it and stays the same.

A pending change of the email address is deleted and browser sessions end, because anyone with the
old password may have created them.
"""

from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.identity.actors import Actor
from models.chat.identity.browser_sessions import end_sessions_of
from models.chat.identity.passwords import hash_if_strong, is_password
from models.chat.settings.errors import NewPasswordTooWeak, WrongPassword
from models.chat.tables import EmailChange, User
from specd.db import Db


def find_hash(db: Db, actor: Actor) -> str | None:
    """Return the hash of the actor's password, or None if there is no password."""
    return db.execute(select(User.password_hash).where(User.id == actor.id)).scalar_one()


def check_old(old: str, password_hash: str | None) -> None:
    """Raise `WrongPassword` unless the password matches. This takes about 50 ms by design."""
    if not is_password(old, password_hash):
        raise WrongPassword()


def hash_new(new: str) -> str:
    """Return the hash. Raise `NewPasswordTooWeak`. This takes about 50 ms by design."""
    password_hash = hash_if_strong(new)
    if password_hash is None:
        raise NewPasswordTooWeak()
    return password_hash


def set_password(
    session: Session, actor: Actor, *, old_hash: str | None, new_hash: str, now: datetime
) -> None:
    """Store the new hash. Raise `WrongPassword` if the password has changed since the check."""
    changed = session.connection().execute(
        update(User)
        .where(User.id == actor.id, User.password_hash == old_hash)
        .values(password_hash=new_hash)
    )
    if changed.rowcount == 0:
        raise WrongPassword()
    session.execute(delete(EmailChange).where(EmailChange.user_id == actor.id))
    end_sessions_of(session, [actor.id])
    audit.record(
        session, actor.realm_id, "user_password_changed", actor_id=actor.id, user_id=actor.id,
        now=now,
    )  # fmt: skip
