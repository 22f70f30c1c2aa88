"""What clients report of their users: written where it is news, told where somebody comes back.

A client reports every minute. One that reports while another has just done so writes nothing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import BigInteger, bindparam, func, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.people import email_fact
from models.chat.events import log
from models.chat.events.presence import PresenceEvent
from models.chat.identity.actors import Actor
from models.chat.presence.view import (
    OFFLINE_AFTER,
    PING_EVERY,
    Seen,
    client_presence,
    slim_presence,
)
from models.chat.tables import Presence, User
from models.commit_order import lock_logs
from models.dialects import upsert
from models.reader import Db

Status = Literal["active", "idle"]
WRITTEN_EVERY = timedelta(seconds=55)
"""A report that is no further from the last one is no news."""
AWAY_AFTER = OFFLINE_AFTER - PING_EVERY - timedelta(seconds=10)
"""Who is active again after so long may be offline to somebody else: that is told at once."""
MOST_TOLD = 100
"""In an organization with more people, clients learn who is back from their own next report."""
HIDDEN_BEFORE = OFFLINE_AFTER + timedelta(minutes=2)
"""Who hides their presence was last there so long ago."""
LOCKS = 2
"""The family of the locks of update ids. A unit takes them before the lock of the event log."""

_PRESENCE = table_of(Presence)
_OWN = select(_PRESENCE.c.last_active_at, _PRESENCE.c.last_connected_at).where(
    _PRESENCE.c.user_id == bindparam("user_id")
)
_NEXT = (
    select(func.coalesce(func.max(_PRESENCE.c.update_id), 0) + 1)
    .where(_PRESENCE.c.realm_id == bindparam("of_realm", type_=BigInteger))
    .scalar_subquery()
)


class LastReports(NamedTuple):
    """When clients of a person last reported, and last reported that the person is active."""

    active_at: datetime | None
    connected_at: datetime


def find_last_reports(db: Db, actor: Actor) -> LastReports | None:
    """Of the actor's clients; None: never."""
    row = db.execute(_OWN, {"user_id": actor.id}).first()
    return None if row is None else LastReports(*row)


def is_news(actor: Actor, last: LastReports | None, status: Status, now: datetime) -> bool:
    """Does the report change anything? Never of somebody who hides their presence."""
    if not actor.presence_enabled:
        return False
    if last is None or now - last.connected_at > WRITTEN_EVERY:
        return True
    return status == "active" and _is_over(last.active_at, WRITTEN_EVERY, now)


def note_report(session: Session, actor: Actor, status: Status, *, now: datetime) -> None:
    """Write down that the actor is there, if it is news, and tell that the actor is back."""
    lock_logs(session, LOCKS, [actor.realm_id])
    last = find_last_reports(session, actor)
    if not is_news(actor, last, status, now):
        return
    is_active = status == "active"
    report = LastReports(
        now if is_active else None, now if last is None else max(now, last.connected_at)
    )
    _write(session, actor, report)
    if last is None or (is_active and _is_over(last.active_at, AWAY_AFTER, now)):
        _tell(session, actor, report, now)


def show_or_hide(session: Session, actor: Actor, is_shown: bool, *, now: datetime) -> None:
    """The actor shows their presence from now on, or hides it: as if they had left a while ago.

    Everybody is told, however many they are.
    """
    lock_logs(session, LOCKS, [actor.realm_id])
    report = LastReports(now, now) if is_shown else LastReports(None, now - HIDDEN_BEFORE)
    _write(session, actor, report, forgets_activity=not is_shown)
    _tell(session, actor, report, now, to_any_number=True)


def _is_over(at: datetime | None, lasts: timedelta, now: datetime) -> bool:
    return at is None or now - at > lasts


def _write(
    session: Session, actor: Actor, report: LastReports, *, forgets_activity: bool = False
) -> None:
    """Without a time of activity, the one that was there stays, unless it is forgotten."""
    insert = upsert(_PRESENCE).values(
        user_id=actor.id,
        realm_id=actor.realm_id,
        last_active_at=report.active_at,
        last_connected_at=report.connected_at,
        update_id=_NEXT,
    )
    new = insert.excluded
    changed = {"last_connected_at": new.last_connected_at, "update_id": new.update_id}
    if report.active_at is not None or forgets_activity:
        changed["last_active_at"] = new.last_active_at
    session.connection().execute(
        insert.on_conflict_do_update(index_elements=["user_id"], set_=changed),
        {"of_realm": actor.realm_id},
    )


def _tell(
    session: Session,
    actor: Actor,
    report: LastReports,
    now: datetime,
    *,
    to_any_number: bool = False,
) -> None:
    if not to_any_number and _is_large(session, actor.realm_id):
        return
    active_at = report.active_at or actor.date_joined
    seen = Seen(int(active_at.timestamp()), int(report.connected_at.timestamp()))
    event = PresenceEvent(
        user_id=actor.id,
        email=actor.dummy_email,
        server_timestamp=now.timestamp(),
        presence={"website": client_presence(seen)},
        presences={str(actor.id): slim_presence(seen)},
        emails=[email_fact(actor)],
    )
    log.append(session, actor.realm_id, event, now=now)


_PEOPLE = (
    select(User.id)
    .where(User.realm_id == bindparam("realm_id"), User.is_active, User.bot_type.is_(None))
    .limit(MOST_TOLD + 1)
)


def _is_large(db: Db, realm_id: int) -> bool:
    people: Sequence[int] = db.execute(_PEOPLE, {"realm_id": realm_id}).scalars().all()
    return len(people) > MOST_TOLD
