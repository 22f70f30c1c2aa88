"""Reminders: at a given time the notification bot tells a user of a message.

A reminder is a scheduled message that names another one. What it says is worded when it is set, and
again at its time, each time with what its user may read then. The message's own text is quoted at
the end alone, so that no reminder keeps what was edited, deleted or hidden meanwhile.
"""

from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import delete
from sqlalchemy.orm import Session

from models.chat.events.messages import RemindersAddEvent
from models.chat.identity.actors import Actor, find_actor
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.addresses import address_of
from models.chat.messages.errors import InvalidMessage
from models.chat.organization.realms import find_notification_bot_id
from models.chat.rendering.quotes import Quotes, fenced, inert_block, link, snippet
from models.chat.rendering.texts import PreparedText, prepare_text, shorten
from models.chat.scheduling.errors import ReminderDoesNotExist
from models.chat.scheduling.records import SCHEDULED, SENT, ScheduledRow, keep, record_of
from models.chat.scheduling.scheduled_messages import (
    UNSENT,
    check_delivery_time,
    notify_removed,
    notify_sender,
)
from models.chat.sending.drafts import Draft, check_message
from models.chat.sending.notices import CLIENT
from models.chat.sending.recipients import ToUsers
from models.reader import Db

NOTE_MAX = 500
_MINE = UNSENT.where(SCHEDULED.c.target_message_id.is_not(None))
_GONE = "You asked to be reminded of a message that you can no longer read."


def prepare_new(db: Db, user: Actor, *, message_id: int, note: str | None) -> PreparedText | None:
    """What a reminder would say if it were set now; None where there is no such message."""
    try:
        message = access_message(db, user, message_id)
    except InvalidMessage:
        return None
    content, quotes = _word(db, message, _kept(note))
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
    """The new reminder's id. `text` is what `prepare_new` made. Raises `DeliveryTimeNotInFuture`,
    `InvalidMessage`.
    """
    scheduled_at = check_delivery_time(delivery_timestamp, now)
    message = access_message(session, user, message_id)
    note = _kept(note)
    content, quotes = _word(session, message, note)
    if text is None or text.content != content:  # it has just been moved, or been sent
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
    row = keep(session, values, at=scheduled_at)
    notify_sender(session, row, RemindersAddEvent(reminders=[record_of(row)]), now=now)
    return row.id


def find_reminders(db: Db, user: Actor) -> list[dict[str, Any]]:
    """Records of the reminders that wait and of those that could not be delivered, soonest
    first.
    """
    return [record_of(row) for row in db.execute(_MINE, {"of_sender_id": user.id})]


def delete_reminder(session: Session, user: Actor, reminder_id: int, *, now: datetime) -> None:
    """Raises `ReminderDoesNotExist`, also once it was delivered."""
    own = delete(SCHEDULED).where(
        SCHEDULED.c.id == reminder_id,
        SCHEDULED.c.sender_id == user.id,
        SCHEDULED.c.target_message_id.is_not(None),
        SCHEDULED.c.state != SENT,
    )
    row = session.connection().execute(own.returning(*SCHEDULED.c)).first()
    if row is None:
        raise ReminderDoesNotExist()
    notify_removed(session, row, now=now)


# --- at its time ------------------------------------------------------------------------------


def prepare_reminder(db: Db, user: Actor, due: ScheduledRow) -> PreparedText:
    """What the reminder says just now, with the beginning of the message's text."""
    content, quotes = _word_in_full(db, user, due)
    return prepare_text(db, user, content, quotes.names)


def check_reminder(
    session: Session, user: Actor, due: ScheduledRow, prepared: PreparedText
) -> Draft:
    """The bot's message to the user, worded again if what they may read has changed since it was
    prepared. Raises what `check_message` raises.
    """
    content, quotes = _word_in_full(session, user, due)
    if content != prepared.content:
        prepared = prepare_text(session, user, content, quotes.names)
    bot = find_actor(session, find_notification_bot_id(session, user.realm_id))
    assert bot is not None
    return check_message(session, bot, ToUsers([user.id]), topic=None, text=prepared, client=CLIENT)


def _word_in_full(db: Db, user: Actor, due: ScheduledRow) -> tuple[str, Quotes]:
    assert due.target_message_id is not None
    try:
        message = access_message(db, user, due.target_message_id)
    except InvalidMessage:
        return "\n".join([_GONE, *_noted(due.note)]), Quotes()
    content, quotes = _word(db, message, due.note)
    author = find_actor(db, message.sender_id)
    assert author is not None
    who = quotes.user(author.id, author.full_name)
    quoted = fenced(snippet(message.content), "quote")
    return "\n".join([content, "", f"{who} wrote:", quoted]), quotes


def _word(db: Db, message: MessageView, note: str | None) -> tuple[str, Quotes]:
    """Where the message is, and the note. The message's own text is not in it."""
    quotes = Quotes()
    address = address_of(db, message)
    if message.channel is None:
        what = link("a direct message", address)
    else:
        place = quotes.channel(message.channel)
        if message.topic:
            place = quotes.thread(message.channel, message.topic)
        what = f"{link('a message', address)} in {place}"
    return "\n".join([f"You asked to be reminded of {what}.", *_noted(note)]), quotes


def _kept(note: str | None) -> str | None:
    return shorten(note or "") or None


def _noted(note: str | None) -> list[str]:
    return [] if note is None else ["", "Your note:", fenced(inert_block(note), "quote")]
