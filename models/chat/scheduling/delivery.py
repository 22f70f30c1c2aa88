"""Deliver scheduled messages and reminders: each is checked again and sent, or fails with a reason.

Each function runs in the caller's transaction. The message, its copies, its events and the final
state of the row are in one transaction, so a worker that dies leaves the row unchanged.
"""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.errors import ChatError
from models.chat.events.log import ClientEvent
from models.chat.events.messages import RemindersAddEvent, ScheduledMessagesUpdateEvent
from models.chat.identity.actors import Actor, find_actor, find_writer, is_running
from models.chat.rendering.quotes import inert_line
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.scheduling.records import (
    CHANNEL,
    DIRECT,
    FAILED,
    PENDING,
    SCHEDULED,
    SENT,
    ScheduledRow,
    change_row,
    record_of,
    stored_to,
)
from models.chat.scheduling.reminders import check_reminder, prepare_reminder
from models.chat.scheduling.scheduled_messages import destination_of, notify_removed, notify_sender
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.notices import try_send_notice
from models.chat.sending.recipients import ToUsers
from models.rows import read_row, read_rows
from specd.db import Db, WorkQueue

TOO_LATE = "Message could not be sent at the scheduled time."
UNEXPECTED = "Internal server error"
SENDER_GONE = "Account is deactivated"
REALM_GONE = "This organization has been deactivated"
LONGEST_PAUSE = timedelta(seconds=60)

QUEUE = WorkQueue(SCHEDULED, PENDING)


AT_ONCE = 20
_DUE = QUEUE.listed(select(*SCHEDULED.c).where(is_running(SCHEDULED.c.realm_id)))
_DUE = _DUE.limit(AT_ONCE).offset(bindparam("skipped"))


def find_due(db: Db, *, now: datetime, skipped: int = 0) -> list[ScheduledRow]:
    """Return the next `AT_ONCE` messages that have been due the longest, after skipping `skipped`
    of them.
    """
    return read_rows(ScheduledRow, db.execute(_DUE, {"at": now, "skipped": skipped}))


def prepare(db: Db, chosen: ScheduledRow) -> PreparedText:
    """Return the rendered text of a message."""
    sender = find_actor(db, chosen.sender_id)
    assert sender is not None
    if chosen.target_message_id is not None:
        return prepare_reminder(db, sender, chosen)
    return prepare_text(db, sender, chosen.content)


def take_chosen(session: Session, chosen: ScheduledRow) -> bool:
    """Lock a message from `find_due`. Return False if it is locked or has changed."""
    unlocked = QUEUE.claimed(chosen).with_for_update(skip_locked=True)
    return read_row(ScheduledRow, session.connection().execute(unlocked)) == chosen


def deliver(
    session: Session,
    due: ScheduledRow,
    text: PreparedText,
    *,
    now: datetime,
    late_window: timedelta,
) -> None:
    """Send the locked message, or record that it failed because it is late or no longer allowed.
    Reminders cannot be late. Messages of a stopped organization are left to the new installation.
    """
    sender = find_writer(session, due.sender_id)
    assert sender is not None
    if sender.realm.stopped_at is not None:
        return
    if sender.realm.is_deactivated or not sender.is_active:
        reason = REALM_GONE if sender.realm.is_deactivated else SENDER_GONE
        change_row(session, due.id, {"state": FAILED, "failure": reason})
        return
    is_reminder = due.target_message_id is not None
    if now > due.scheduled_at + late_window and not is_reminder:
        _fail(session, due, sender, TOO_LATE, now)
        return
    try:
        if is_reminder:
            draft = check_reminder(session, sender, due, text)
        else:
            draft = check_message(
                session,
                sender,
                destination_of(DIRECT if due.channel_id is None else CHANNEL, stored_to(due)),
                topic=due.topic,
                text=text,
                client=due.client,
                read_by_sender=due.read_by_sender,
            )
    except ChatError as refusal:
        _fail(session, due, sender, str(refusal), now)
        return
    sent = send_message(session, draft, now=now, scheduled_message_id=due.id)
    change_row(session, due.id, {"state": SENT, "message_id": sent.id})
    notify_removed(session, due, now=now)


def record_failure(
    session: Session, due: ScheduledRow, *, now: datetime, late_window: timedelta
) -> None:
    """Schedule another attempt after an unexpected error, with a growing pause, if it would be in
    time. Otherwise mark the message as failed. Do nothing if the message is locked or has changed.
    """
    if not take_chosen(session, due):
        return
    again_at = now + min(timedelta(seconds=2**due.attempts), LONGEST_PAUSE)
    if again_at <= due.scheduled_at + late_window:
        change_row(session, due.id, {"attempts": due.attempts + 1, "next_try_at": again_at})
        return
    sender = find_actor(session, due.sender_id)
    assert sender is not None
    _fail(session, due, sender, UNEXPECTED, now)


def _fail(session: Session, due: ScheduledRow, sender: Actor, reason: str, now: datetime) -> None:
    """Record the failure, and notify the sender by an event and by a notice."""
    failed = change_row(session, due.id, {"state": FAILED, "failure": reason})
    if due.target_message_id is None:
        what, view = "message you scheduled", "[View scheduled messages](#scheduled)"
        event: ClientEvent = ScheduledMessagesUpdateEvent(scheduled_message=record_of(failed))
    else:
        what, view = "reminder you set", "[View reminders](#reminders)"
        notify_removed(session, due, now=now)  # reminders have no event for changes
        event = RemindersAddEvent(reminders=[record_of(failed)])
    notify_sender(session, failed, event, now=now)
    notice = (
        f"The {what} for <time:{due.scheduled_at.isoformat()}> was not sent because"
        f" of the following error:\n\n> {inert_line(reason)}\n\n{view}"
    )
    try_send_notice(
        session, sender.realm_id, ToUsers([sender.id]),
        content=notice, now=now, scheduled_message_id=due.id,
    )  # fmt: skip
