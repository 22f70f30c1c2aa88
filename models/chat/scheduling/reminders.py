"""Reminders: the notification bot reminds a user of a message at a given time.

A reminder is a scheduled message that refers to a message. Its text is written when it is created
and again when it is due, from the facts that its user may then read. The text of the message is
quoted only when it is due, so that a reminder does not store text that was edited, deleted or
hidden meanwhile.
"""

from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import delete
from sqlalchemy.orm import Session

from models.chat.events.messages import RemindersAddEvent
from models.chat.identity.actors import Actor, find_actor
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.errors import InvalidMessage
from models.chat.messages.view import address_of
from models.chat.organization.realms import find_notification_bot_id
from models.chat.rendering.quotes import Quotes, fenced, inert_block, link, snippet
from models.chat.rendering.texts import PreparedText, prepare_text, shorten
from models.chat.scheduling.errors import ReminderDoesNotExist
from models.chat.scheduling.records import SCHEDULED, SENT, ScheduledRow, add_row, record_of
from models.chat.scheduling.scheduled_messages import (
    UNSENT,
    check_delivery_time,
    notify_removed,
    notify_sender,
)
from models.chat.sending.drafts import Draft, check_message
from models.chat.sending.notices import CLIENT
from models.chat.sending.recipients import ToUsers
from models.rows import read_row, read_rows
from specd.db import Db

NOTE_MAX = 500
_MINE = UNSENT.where(SCHEDULED.c.target_message_id.is_not(None))
_GONE = "You asked to be reminded of a message that you can no longer read."


def prepare_new(db: Db, user: Actor, *, message_id: int, note: str | None) -> PreparedText | None:
    """Return the text of a new reminder, or None if the message does not exist."""
    try:
        message = access_message(db, user, message_id)
    except InvalidMessage:
        return None
    content, quotes = _text(db, message, _stored_note(note))
    return prepare_text(db, user, content, quotes.names)


def create_reminder(
    session: Session,
    user: Actor,
    *,
    message_id: int,
    note: str | None,
    delivery_timestamp: int,
    text: PreparedText | None,
    now: datetime,
) -> int:
    """Create a reminder and return its id. `text` comes from `prepare_new`. Raise
    `DeliveryTimeNotInFuture`, `InvalidMessage`.
    """
    scheduled_at = check_delivery_time(delivery_timestamp, now)
    message = access_message(session, user, message_id)
    note = _stored_note(note)
    content, quotes = _text(session, message, note)
    if text is None or text.content != content:  # the message has just been moved or sent
        text = prepare_text(session, user, content, quotes.names)
    values = {
        "realm_id": user.realm_id,
        "sender_id": user.id,
        "recipient_ids": orjson.dumps([user.id]).decode(),
        "content": text.stored,
        "rendered_content": text.rendered.html,
        "client": CLIENT,
        "target_message_id": message_id,
        "note": note,
        "created_at": now,
    }
    row = add_row(session, values, at=scheduled_at)
    notify_sender(session, row, RemindersAddEvent(reminders=[record_of(row)]), now=now)
    return row.id


def find_reminders(db: Db, user: Actor) -> list[dict[str, Any]]:
    """Return the records of the user's undelivered reminders, soonest first."""
    rows = db.execute(_MINE, {"of_sender_id": user.id})
    return [record_of(row) for row in read_rows(ScheduledRow, rows)]


def delete_reminder(session: Session, user: Actor, reminder_id: int, *, now: datetime) -> None:
    """Delete a reminder. Raise `ReminderDoesNotExist`, also after its delivery."""
    own = delete(SCHEDULED).where(
        SCHEDULED.c.id == reminder_id,
        SCHEDULED.c.sender_id == user.id,
        SCHEDULED.c.target_message_id.is_not(None),
        SCHEDULED.c.state != SENT,
    )
    row = read_row(ScheduledRow, session.connection().execute(own.returning(*SCHEDULED.c)))
    if row is None:
        raise ReminderDoesNotExist()
    notify_removed(session, row, now=now)


# --- delivery -------------------------------------------------------------------------------------


def prepare_reminder(db: Db, user: Actor, due: ScheduledRow) -> PreparedText:
    """Return the current text of the reminder, with the beginning of the message."""
    content, quotes = _full_text(db, user, due)
    return prepare_text(db, user, content, quotes.names)


def check_reminder(
    session: Session, user: Actor, due: ScheduledRow, prepared: PreparedText
) -> Draft:
    """Return the bot's message to the user. It is written again if the facts that the user may read
    have changed since `prepared`. Raise an error of `check_message`.
    """
    content, quotes = _full_text(session, user, due)
    if content != prepared.content:
        prepared = prepare_text(session, user, content, quotes.names)
    bot = find_actor(session, find_notification_bot_id(session, user.realm_id))
    assert bot is not None
    return check_message(session, bot, ToUsers([user.id]), topic=None, text=prepared, client=CLIENT)


def _full_text(db: Db, user: Actor, due: ScheduledRow) -> tuple[str, Quotes]:
    assert due.target_message_id is not None
    try:
        message = access_message(db, user, due.target_message_id)
    except InvalidMessage:
        return "\n".join([_GONE, *_note_lines(due.note)]), Quotes()
    content, quotes = _text(db, message, due.note)
    author = find_actor(db, message.sender_id)
    assert author is not None
    who = quotes.user(author.id, author.full_name)
    quoted = fenced(snippet(message.content), "quote")
    return "\n".join([content, "", f"{who} wrote:", quoted]), quotes


def _text(db: Db, message: MessageView, note: str | None) -> tuple[str, Quotes]:
    """Return the text with the place of the message and the note, but without the message's
    text.
    """
    quotes = Quotes()
    address = address_of(db, message)
    if message.channel is None:
        what = link("a direct message", address)
    else:
        place = quotes.channel(message.channel)
        if message.topic:
            place = quotes.thread(message.channel, message.topic)
        what = f"{link('a message', address)} in {place}"
    return "\n".join([f"You asked to be reminded of {what}.", *_note_lines(note)]), quotes


def _stored_note(note: str | None) -> str | None:
    return shorten(note or "") or None


def _note_lines(note: str | None) -> list[str]:
    return [] if note is None else ["", "Your note:", fenced(inert_block(note), "quote")]
