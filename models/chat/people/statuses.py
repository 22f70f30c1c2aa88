"""User statuses. They are visible to all users who may see the user. The user and administrators
can set them.
"""

from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, or_, select, update
from sqlalchemy.orm import Session

from models.chat.access.errors import NoSuchUser, UserIsDeactivated
from models.chat.access.naming import access_user
from models.chat.common import audit
from models.chat.common.one_line import require_one_line
from models.chat.events import log
from models.chat.events.account import UserSettingsUpdateEvent
from models.chat.events.log import or_absent
from models.chat.events.people import UserStatusEvent
from models.chat.identity.actors import Actor
from models.chat.people.emoji import Emoji
from models.chat.people.errors import NoNewStatus
from models.chat.presence.reports import show_or_hide
from models.chat.tables import User, UserStatus
from models.rows import columns_of, read_rows
from specd.db import Db, table_of, upsert

_STATUS = table_of(UserStatus)


class _Status(NamedTuple):
    """A user's status. The texts are null if the user never had a status."""

    id: int
    presence_enabled: bool
    status_text: str | None
    emoji_name: str | None
    emoji_code: str
    reaction_type: str


_STATUSES = (
    select(User.id, User.presence_enabled, *columns_of(_Status, UserStatus))
    .select_from(User)
    .outerjoin(UserStatus, UserStatus.user_id == User.id)
)
_FIND = _STATUSES.where(User.id == bindparam("user_id"))
_FIND_ALL = _STATUSES.where(
    User.realm_id == bindparam("realm_id"),
    User.is_active,
    User.bot_type.is_(None),
    or_(~User.presence_enabled, UserStatus.user_id.is_not(None)),
).order_by(User.id)


def access_status(db: Db, actor: Actor, user_id: int) -> dict[str, Any]:
    """Return the status object of a user in the actor's realm, which is empty without a status.

    Raise an error of `require_person`.
    """
    require_person(db, actor, user_id)
    return _described(_find(db, user_id))


def require_person(db: Db, actor: Actor, user_id: int) -> None:
    """Raise `NoSuchUser` (also for bots, which have no status), `UserIsDeactivated`."""
    user = access_user(db, actor, user_id)
    if user.bot_type is not None:
        raise NoSuchUser()
    if not user.is_active:
        raise UserIsDeactivated()


def find_statuses(db: Db, realm_id: int) -> dict[int, dict[str, Any]]:
    """Return user id -> status object, for the realm's active users who have one."""
    rows = read_rows(_Status, db.execute(_FIND_ALL, {"realm_id": realm_id}))
    statuses = ((row.id, _described(row)) for row in rows)
    return {user_id: status for user_id, status in statuses if status}


def _find(db: Db, user_id: int) -> _Status:
    (status,) = read_rows(_Status, db.execute(_FIND, {"user_id": user_id}))
    return status


def _described(row: _Status) -> dict[str, Any]:
    status: dict[str, Any] = {}
    if not row.presence_enabled:
        status["away"] = True
    if row.status_text:
        status["status_text"] = row.status_text
    if row.emoji_name:
        status |= asdict(Emoji(row.emoji_name, row.emoji_code, row.reaction_type))
    return status


def notify_of_standing(
    session: Session, realm_id: int, user_id: int, *, is_active: bool, now: datetime
) -> None:
    """Append the event for a user who was deactivated, which clears the status, or reactivated."""
    status = _described(_find(session, user_id))
    if status:
        empty = {"away": False, "status_text": "", **asdict(Emoji())}
        shown = status if is_active else {name: empty[name] for name in status}
        log.append(session, realm_id, UserStatusEvent(user_id=user_id, **shown), now=now)


def change_status(
    session: Session,
    actor: Actor,
    user_id: int,
    *,
    now: datetime,
    status_text: str | None = None,
    away: bool | None = None,
    emoji: Emoji | None = None,
) -> None:
    """Set the parts of a user's status that are not None. An empty text or emoji clears its part.
    `away` always changes the actor.
    """
    if away is not None:
        _set_presence(session, actor, not away, now)
    changes: dict[str, Any] = {} if status_text is None else {"status_text": status_text}
    if emoji is not None:
        changes |= asdict(emoji)
    if changes:
        row = {"status_text": "", **asdict(Emoji()), **changes}
        session.connection().execute(
            upsert(_STATUS)
            .values(user_id=user_id, updated_at=now, **row)
            .on_conflict_do_update(index_elements=["user_id"], set_={**changes, "updated_at": now})
        )
    event = UserStatusEvent(user_id=user_id, away=or_absent(away), **changes)
    log.append(session, actor.realm_id, event, now=now)


def change_status_of(
    session: Session,
    actor: Actor,
    user_id: int,
    *,
    now: datetime,
    status_text: str | None,
    emoji: Emoji | None,
) -> None:
    """Set the status of a user who passed `require_person`, with an entry in the audit log."""
    change_status(session, actor, user_id, now=now, status_text=status_text, emoji=emoji)
    kind = "user_status_changed"
    audit.record(session, actor.realm_id, kind, actor_id=actor.id, user_id=user_id, now=now)


def _set_presence(session: Session, actor: Actor, enabled: bool, now: datetime) -> None:
    """Change the setting `presence_enabled`. `away` is its older, inverted form."""
    if enabled == actor.presence_enabled:
        return
    session.connection().execute(
        update(User).where(User.id == actor.id).values(presence_enabled=enabled)
    )
    change = UserSettingsUpdateEvent(property="presence_enabled", value=enabled)
    log.append(session, actor.realm_id, change, user_ids=[actor.id], now=now)
    show_or_hide(session, actor, enabled, now=now)


def check_status(text: str | None, away: bool | None, emoji_name: str | None) -> str | None:
    """Return the text as it is stored. Raise `NoNewStatus` if the request contains no values, and
    `NotOneLine` if the text has several lines.
    """
    if text is None and away is None and emoji_name is None:
        raise NoNewStatus()
    return None if text is None else require_one_line("status_text", text.strip())
