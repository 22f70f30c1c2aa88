"""The presences of the users that the actor may see."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    SQLColumnExpression,
    bindparam,
    func,
    select,
    type_coerce,
)

from models.chat.access.errors import NoSuchUser
from models.chat.access.naming import access_user
from models.chat.access.people import api_email, sees_everybody, visible_to
from models.chat.events.presence import SlimPresence
from models.chat.identity.actors import Actor
from models.chat.presence.errors import NoPresence, NoPresenceOfBots
from models.chat.presence.view import (
    LegacyPresence,
    Seen,
    described_presence,
    legacy_presence,
    slim_presence,
)
from models.chat.tables import Presence, User
from models.dialects import INT_MAX
from models.rows import read_row
from specd.db import Db

HISTORY_DAYS = 14
"""The days of presences for a client without presences, unless the client requests another
number.
"""
NO_UPDATE = -1


def _seconds(at: SQLColumnExpression[datetime]) -> ColumnElement[int]:
    """Return the seconds of a time as a number, because a response may contain thousands."""
    return type_coerce(at, BigInteger) // 1000


_TIMES = (
    _seconds(func.coalesce(Presence.last_active_at, User.date_joined)).label("active_at"),
    _seconds(Presence.last_connected_at).label("connected_at"),
)
_TIMES_OF = (
    select(*_TIMES)
    .join(User, User.id == Presence.user_id)
    .where(Presence.user_id == bindparam("user_id"))
)
_BY_ID = select(User.id, Presence.update_id, *_TIMES)
_BY_EMAIL = _BY_ID.add_columns(User.delivery_email, User.bot_type, User.email_address_visibility)


def find_presences(
    db: Db,
    actor: Actor,
    *,
    is_slim: bool,
    after: int | None = None,
    history_days: int | None = None,
    now: datetime,
) -> dict[str, Any]:
    """Return `presences` of active users, by user id (`is_slim`) or by API email, with the newest
    update among them and the time.

    `after` is the newest update that the client has, or `NO_UPDATE`; only newer presences are
    returned. A client without updates gets those of `history_days`.
    """
    query = (_BY_ID if is_slim else _BY_EMAIL).join(User, User.id == Presence.user_id)
    query = query.where(Presence.realm_id == actor.realm_id, User.is_active)
    if after is not None and after > 0:
        query = query.where(Presence.update_id > after)
    else:
        days = HISTORY_DAYS if history_days is None else history_days
        query = query.where(Presence.last_connected_at >= _days_before(now, days))
    if not sees_everybody(db, actor):
        query = query.where(User.id.in_(visible_to(actor.id)))
    rows = db.execute(query, {"realm_id": actor.realm_id}).all()
    presences: Mapping[str, SlimPresence | LegacyPresence]
    seen = [(row, Seen(row.active_at, row.connected_at)) for row in rows]
    if is_slim:
        presences = {str(row.id): slim_presence(times) for row, times in seen}
    else:
        presences = {api_email(actor, row): legacy_presence(times) for row, times in seen}
    return {
        "presences": presences,
        "presence_last_update_id": max(
            (row.update_id for row in rows), default=NO_UPDATE if after is None else after
        ),
        "server_timestamp": now.timestamp(),
    }


def _days_before(now: datetime, days: int) -> datetime:
    return now - timedelta(days=min(days, (now - datetime.min.replace(tzinfo=now.tzinfo)).days - 1))


def access_presence(
    db: Db, actor: Actor, name: str, *, now: datetime
) -> dict[str, dict[str, str | int]]:
    """Return the presence of a user that the actor may see, by id or API email.

    Raise `NoSuchUser` (also for a deactivated user), `NoPresenceOfBots`, `NoPresence`.
    """
    is_id = name.isascii() and name.isdecimal() and len(name) <= len(str(INT_MAX))
    user = access_user(db, actor, int(name) if is_id else name)
    if not user.is_active:
        raise NoSuchUser()
    if user.bot_type is not None:
        raise NoPresenceOfBots()
    seen = read_row(Seen, db.execute(_TIMES_OF, {"user_id": user.id}))
    if seen is None:
        raise NoPresence(user_id_or_email=name)
    return described_presence(seen, now)
