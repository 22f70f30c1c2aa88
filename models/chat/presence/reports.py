"""Clients' reports on their users: a report is stored if it is new, and has an event if the user is
back.

A client reports every minute. A report shortly after another client's report is not stored.
"""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import BigInteger, bindparam, func, select
from sqlalchemy.orm import Session

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
from models.rows import read_row
from specd.db import Db, table_of, upsert

Status = Literal["active", "idle"]
WRITTEN_EVERY = timedelta(seconds=55)
"""A report within this time after the last one is not stored."""
AWAY_AFTER = OFFLINE_AFTER - PING_EVERY - timedelta(seconds=10)
"""After this time, an active user may appear offline to others, so an event is required."""
MAX_NOTIFIED = 100
"""Larger organizations have no events: clients learn presences from the responses to their
reports.
"""
HIDDEN_BEFORE = OFFLINE_AFTER + timedelta(minutes=2)
"""A user who hides their presence appears to have left this long ago."""
LOCKS = 2
"""The lock family of update ids. A unit of work takes these locks before that of the event log."""

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
    """The times when clients of a user last reported, and last reported that the user is active."""

    last_active_at: datetime | None
    last_connected_at: datetime


def find_last_reports(db: Db, actor: Actor) -> LastReports | None:
    """Return the last reports of the actor's clients, or None if there are none."""
    return read_row(LastReports, db.execute(_OWN, {"user_id": actor.id}))


def is_news(actor: Actor, last: LastReports | None, status: Status, now: datetime) -> bool:
    """Return whether the report must be stored. Reports of users who hide their presence are not
    stored.
    """
    if not actor.presence_enabled:
        return False
    if last is None or now - last.last_connected_at > WRITTEN_EVERY:
        return True
    return status == "active" and _is_over(last.last_active_at, WRITTEN_EVERY, now)


def note_report(session: Session, actor: Actor, status: Status, *, now: datetime) -> None:
    """Store a report if it is new, and append an event if the actor is back."""
    lock_logs(session, LOCKS, [actor.realm_id])
    last = find_last_reports(session, actor)
    if not is_news(actor, last, status, now):
        return
    is_active = status == "active"
    report = LastReports(
        now if is_active else None, now if last is None else max(now, last.last_connected_at)
    )
    _write(session, actor, report)
    if last is None or (is_active and _is_over(last.last_active_at, AWAY_AFTER, now)):
        _append_event(session, actor, report, now)


def show_or_hide(session: Session, actor: Actor, is_shown: bool, *, now: datetime) -> None:
    """Show the actor's presence from now on, or hide it as if the actor had left a while ago. All
    users get the event, even in large organizations.
    """
    lock_logs(session, LOCKS, [actor.realm_id])
    report = LastReports(now, now) if is_shown else LastReports(None, now - HIDDEN_BEFORE)
    _write(session, actor, report, forgets_activity=not is_shown)
    _append_event(session, actor, report, now, to_any_number=True)


def _is_over(at: datetime | None, lasts: timedelta, now: datetime) -> bool:
    return at is None or now - at > lasts


def _write(
    session: Session, actor: Actor, report: LastReports, *, forgets_activity: bool = False
) -> None:
    """Store the times. If there is no time of activity, the old time is kept unless
    `forgets_activity` is set.
    """
    insert = upsert(_PRESENCE).values(
        user_id=actor.id,
        realm_id=actor.realm_id,
        last_active_at=report.last_active_at,
        last_connected_at=report.last_connected_at,
        update_id=_NEXT,
    )
    new = insert.excluded
    changed = {"last_connected_at": new.last_connected_at, "update_id": new.update_id}
    if report.last_active_at is not None or forgets_activity:
        changed["last_active_at"] = new.last_active_at
    session.connection().execute(
        insert.on_conflict_do_update(index_elements=["user_id"], set_=changed),
        {"of_realm": actor.realm_id},
    )


def _append_event(
    session: Session,
    actor: Actor,
    report: LastReports,
    now: datetime,
    *,
    to_any_number: bool = False,
) -> None:
    if not to_any_number:
        people = session.execute(_PEOPLE, {"realm_id": actor.realm_id}).all()
        if len(people) > MAX_NOTIFIED:
            return
    active_at = report.last_active_at or actor.date_joined
    seen = Seen(int(active_at.timestamp()), int(report.last_connected_at.timestamp()))
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
    .limit(MAX_NOTIFIED + 1)
)
