"""Muted users.

Messages from a muted user are marked as read when they are sent, for users who muted the sender
(models/chat/sending/messages.py).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.access.naming import access_user
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.account import MutedUsersEvent
from models.chat.identity.actors import Actor
from models.chat.tables import MutedUser
from specd.db import Db, table_of, upsert


class CannotMuteSelf(ChatError):
    """The caller tried to mute their own account."""

    sentence = "Cannot mute self"
    advice = "Send the id of another user."


class UserAlreadyMuted(ChatError):
    """The caller has already muted the user."""

    sentence = "User already muted"
    advice = "Treat the user as muted."


class UserNotMuted(ChatError):
    """The caller has not muted the user."""

    sentence = "User is not muted"
    advice = "Treat the user as not muted."


_TABLE = table_of(MutedUser)
_MINE = (
    select(_TABLE.c.muted_user_id, _TABLE.c.muted_at)
    .where(_TABLE.c.user_id == bindparam("of_user_id"))
    .order_by(_TABLE.c.muted_at, _TABLE.c.muted_user_id)
)


def find_muted_users(db: Db, actor: Actor) -> list[dict[str, Any]]:
    """Return the users that the actor has muted, with the time in Unix seconds, earliest first."""
    return [
        {"id": row.muted_user_id, "timestamp": int(row.muted_at.timestamp())}
        for row in db.execute(_MINE, {"of_user_id": actor.id})
    ]


def mute_user(session: Session, actor: Actor, user_id: int, *, now: datetime) -> None:
    """Mute a user. Raise `CannotMuteSelf`, `NoSuchUser`, `UserAlreadyMuted`."""
    if user_id == actor.id:
        raise CannotMuteSelf()
    muted = access_user(session, actor, user_id)
    row = {"user_id": actor.id, "muted_user_id": muted.id, "muted_at": now}
    made = upsert(_TABLE).values(row).on_conflict_do_nothing()
    if session.connection().execute(made.returning(_TABLE.c.user_id)).first() is None:
        raise UserAlreadyMuted()
    _append_event(session, actor, now)


def unmute_user(session: Session, actor: Actor, user_id: int, *, now: datetime) -> None:
    """Unmute a user, even if the actor may no longer see the user. Raise `NoSuchUser`,
    `UserNotMuted`.
    """
    mine = delete(_TABLE).where(_TABLE.c.user_id == actor.id, _TABLE.c.muted_user_id == user_id)
    if session.connection().execute(mine.returning(_TABLE.c.user_id)).first() is None:
        access_user(session, actor, user_id)
        raise UserNotMuted()
    _append_event(session, actor, now)


def _append_event(session: Session, actor: Actor, now: datetime) -> None:
    log.append(session, actor.realm_id, MutedUsersEvent(), user_ids=[actor.id], now=now)
