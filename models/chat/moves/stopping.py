"""Stop an organization, so that its data does not change, or resume it."""

from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.organization import HeartbeatEvent
from models.chat.tables import MessageRemoval, OutgoingDelivery, Realm, User
from specd.db import Db, table_of

_REALM = table_of(Realm)


def stop(session: Session, realm_id: int, *, now: datetime) -> None:
    """Reject all requests with `RealmMoving`, and end all long polls so that clients reconnect.

    Scheduled messages, responses of bots and deletions of many messages wait.
    """
    stopped = update(_REALM).where(_REALM.c.id == realm_id, _REALM.c.stopped_at.is_(None))
    if session.connection().execute(stopped.values(stopped_at=now)).rowcount:
        log.append(session, realm_id, HeartbeatEvent(), now=now)


def await_writes(session: Session, realm_id: int) -> None:
    """Wait until writes that began before the stop have ended. Call it twice, in two units of work:
    a transaction that waited for the first lock may have read before the stop.
    """
    # A request that writes has a shared lock on the row of its user (`actors.authenticate`).
    users = select(User.id).where(User.realm_id == realm_id).order_by(User.id)
    session.execute(users.with_for_update()).all()
    removals = select(MessageRemoval.id).where(MessageRemoval.realm_id == realm_id)
    session.execute(removals.order_by(MessageRemoval.id).with_for_update()).all()


def is_stopped(db: Db, realm_id: int) -> bool:
    stopped = select(_REALM.c.id).where(_REALM.c.id == realm_id, _REALM.c.stopped_at.is_not(None))
    return db.execute(stopped).first() is not None


def go_on(session: Session, realm_id: int) -> None:
    """Accept requests to the organization again."""
    running = update(_REALM).where(_REALM.c.id == realm_id).values(stopped_at=None)
    session.connection().execute(running)


def forget_work(session: Session, realm_id: int) -> None:
    """Delete the work of workers, because the other installation does it now."""
    for model in (OutgoingDelivery, MessageRemoval):
        table = table_of(model)
        session.connection().execute(delete(table).where(table.c.realm_id == realm_id))
