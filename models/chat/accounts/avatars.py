"""Avatars that users and bots upload.

An avatar is stored under a new handle before its user refers to it. An unused file is deleted after
the change, or later by the worker.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.people import avatar_source, avatar_url, email_for_all
from models.chat.accounts.changes import notify_of_picture
from models.chat.accounts.errors import AvatarChangesDisabled
from models.chat.common import audit
from models.chat.identity.actors import Actor
from models.chat.people.events import find_email_readers
from models.chat.tables import User
from models.chat.uploads.names import AVATAR, AVATAR_MEDIUM, key_of
from specd.db import Db, table_of

SIZE, SIZE_MEDIUM = 100, 500
"""Width and height of the two forms of an avatar, in pixels."""
FILE_MAX_MIB = 5

_TABLE = table_of(User)


def require_may_change(actor: Actor) -> None:
    """Raise `AvatarChangesDisabled` if only administrators may change their avatars."""
    if actor.realm.avatar_changes_disabled and not actor.is_administrator:
        raise AvatarChangesDisabled()


def change_avatar(
    session: Session, actor: Actor, handle: str | None, *, now: datetime
) -> tuple[str, str | None]:
    """Give the actor the avatar with this handle, or if it is None, the one at the external
    provider. Return its address, and the handle of the replaced avatar. Raise
    `AvatarChangesDisabled`.
    """
    require_may_change(actor)
    locked = select(User).where(User.id == actor.id).with_for_update(key_share=True)
    user = session.scalars(locked.execution_options(populate_existing=True)).one()
    before, user.avatar_handle = user.avatar_handle, handle
    if before != handle:
        user.avatar_version += 1
        session.flush()
        audit.record(
            session, actor.realm_id, "user_avatar_changed", actor_id=actor.id, user_id=user.id,
            now=now, facts={"avatar_source": avatar_source(user)},
        )  # fmt: skip
        _notify(session, actor, user, now)
    return avatar_url(user, actor.realm_id, user.delivery_email), before


def keys_of(realm_id: int, handle: str) -> tuple[str, str]:
    """Return the store keys of the avatar and of its larger form."""
    key = key_of(realm_id, handle)
    return key + AVATAR, key + AVATAR_MEDIUM


def has_avatar(db: Db, realm_id: int, handle: str) -> bool:
    """Return whether a user of the organization has this avatar."""
    query = select(_TABLE.c.id)
    theirs = (_TABLE.c.avatar_handle == handle, _TABLE.c.realm_id == realm_id)
    return db.execute(query.where(*theirs)).first() is not None


def _notify(session: Session, actor: Actor, user: User, now: datetime) -> None:
    realm = actor.realm
    email = email_for_all(user, realm.host)
    notify_of_picture(session, realm, user, email, now=now)
    if user.avatar_handle is None and email != user.delivery_email:
        readers = find_email_readers(session, user)
        notify_of_picture(session, realm, user, user.delivery_email, now=now, user_ids=readers)
