"""Scheduled messages: create, list, change and delete them.

Each function checks and writes in the caller's transaction and locks the changed row, so that a
change and the delivery of the same message exclude each other (models/chat/scheduling/delivery.py).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.log import ClientEvent
from models.chat.events.messages import (
    RemindersRemoveEvent,
    ScheduledMessagesAddEvent,
    ScheduledMessagesRemoveEvent,
    ScheduledMessagesUpdateEvent,
)
from models.chat.identity.actors import Actor
from models.chat.messages.errors import NothingToChange
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.scheduling.errors import (
    DeliveryTimeNotInFuture,
    InvalidRecipientType,
    RecipientRequired,
    ScheduledMessageAlreadySent,
    ScheduledMessageDoesNotExist,
    TopicRequired,
)
from models.chat.scheduling.records import (
    CHANNEL,
    DIRECT,
    FAILED,
    PENDING,
    SCHEDULED,
    SENT,
    ScheduledRow,
    To,
    add_row,
    change_row,
    record_of,
    stored_to,
)
from models.chat.sending.drafts import Draft, check_message
from models.chat.sending.recipients import Destination, ToChannel, ToUsers
from models.rows import read_row, read_rows
from specd.db import Db

_OWN = select(*SCHEDULED.c).where(
    SCHEDULED.c.id == bindparam("wanted_id"),
    SCHEDULED.c.sender_id == bindparam("of_sender_id"),
    SCHEDULED.c.target_message_id.is_(None),
)
UNSENT = (
    select(*SCHEDULED.c)
    .where(SCHEDULED.c.sender_id == bindparam("of_sender_id"), SCHEDULED.c.state != SENT)
    .order_by(SCHEDULED.c.scheduled_at, SCHEDULED.c.id)
)
_UNSENT = UNSENT.where(SCHEDULED.c.target_message_id.is_(None))


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a scheduled message; None means no change. `kind` is CHANNEL or DIRECT."""

    kind: str | None = None
    to: To | None = None
    content: str | None = None
    topic: str | None = None
    delivery_timestamp: int | None = None


def check_delivery_time(timestamp: int, now: datetime) -> datetime:
    """Return the time for Unix seconds. Raise `DeliveryTimeNotInFuture`."""
    if timestamp <= now.timestamp():
        raise DeliveryTimeNotInFuture()
    return datetime.fromtimestamp(timestamp, UTC)


def destination_of(kind: str, to: To) -> Destination:
    """Return the destination. Raise `InvalidRecipientType` if the value does not match the kind."""
    if kind == CHANNEL:
        if not isinstance(to, int):
            raise InvalidRecipientType(what="channel ID")
        return ToChannel(to)
    if isinstance(to, int):
        raise InvalidRecipientType(what="recipients")
    return ToUsers(list(dict.fromkeys(to)))


def schedule_message(
    session: Session,
    sender: Actor,
    *,
    kind: str,
    to: To,
    text: PreparedText,
    topic: str | None,
    delivery_timestamp: int,
    client: str,
    read_by_sender: bool | None,
    now: datetime,
) -> int:
    """Schedule a message and return its id. Raise `DeliveryTimeNotInFuture` first, then
    `InvalidRecipientType` or an error of `check_message`.
    """
    scheduled_at = check_delivery_time(delivery_timestamp, now)
    draft = check_message(
        session,
        sender,
        destination_of(kind, to),
        topic=topic,
        text=text,
        client=client,
        read_by_sender=read_by_sender,
    )
    values = _columns_of(draft) | {
        "realm_id": sender.realm_id,
        "sender_id": sender.id,
        "read_by_sender": draft.read_by_sender,
        "created_at": now,
    }
    row = add_row(session, values, at=scheduled_at)
    added = ScheduledMessagesAddEvent(scheduled_messages=[record_of(row)])
    notify_sender(session, row, added, now=now)
    return row.id


def find_scheduled_messages(db: Db, sender: Actor) -> list[dict[str, Any]]:
    """Return the records of the sender's unsent messages, soonest first."""
    rows = db.execute(_UNSENT, {"of_sender_id": sender.id})
    return [record_of(row) for row in read_rows(ScheduledRow, rows)]


def prepare_edit(
    db: Db, sender: Actor, message_id: int, *, content: str | None
) -> PreparedText | None:
    """Return the text that the message will have: the new or the current content. Return None if
    the message does not exist.
    """
    if content is None:
        key = {"wanted_id": message_id, "of_sender_id": sender.id}
        row = read_row(ScheduledRow, db.execute(_OWN, key))
        if row is None:
            return None
        content = row.content
    return prepare_text(db, sender, content)


def edit_scheduled_message(
    session: Session,
    sender: Actor,
    message_id: int,
    changes: Changes,
    *,
    text: PreparedText | None = None,
    client: str,
    now: datetime,
) -> None:
    """Change a message before its delivery. A failed message with a new time waits again. `text` is
    the result of `prepare_edit`.

    Raise, in this order: `NothingToChange`, `RecipientRequired`, `TopicRequired`,
    `DeliveryTimeNotInFuture`, `ScheduledMessageDoesNotExist`, `ScheduledMessageAlreadySent`,
    `DeliveryTimeNotInFuture` (for a failed message without a new time), `InvalidRecipientType`, or
    an error of `check_message`.
    """
    scheduled_at = _check_changes(changes, now)
    row = _access(session, sender, message_id)
    if row.state == FAILED and scheduled_at is None:
        raise DeliveryTimeNotInFuture()
    values: dict[str, Any] = {"client": client}
    moves = (changes.kind, changes.to, changes.content, changes.topic)
    if any(change is not None for change in moves):
        content = row.content if changes.content is None else changes.content
        if text is None or text.content != content:  # changed by another request
            text = prepare_text(session, sender, content)
        kind = changes.kind or (DIRECT if row.channel_id is None else CHANNEL)
        draft = check_message(
            session,
            sender,
            destination_of(kind, stored_to(row) if changes.to is None else changes.to),
            topic=row.topic if changes.topic is None else changes.topic,
            text=text,
            client=client,
        )
        values |= _columns_of(draft)
    if scheduled_at is not None:
        values |= {
            "scheduled_at": scheduled_at,
            "next_try_at": scheduled_at,
            "attempts": 0,
            "state": PENDING,
            "failure": None,
        }
    changed = change_row(session, row.id, values)
    updated = ScheduledMessagesUpdateEvent(scheduled_message=record_of(changed))
    notify_sender(session, changed, updated, now=now)


def _check_changes(changes: Changes, now: datetime) -> datetime | None:
    """Check the changes as far as possible without the message. Return the new time or None."""
    if changes == Changes():
        raise NothingToChange()
    if changes.kind is not None and changes.to is None:
        raise RecipientRequired()
    if changes.kind == CHANNEL and changes.topic is None:
        raise TopicRequired()
    if changes.delivery_timestamp is None:
        return None
    return check_delivery_time(changes.delivery_timestamp, now)


def delete_scheduled_message(
    session: Session, sender: Actor, message_id: int, *, now: datetime
) -> None:
    """Delete a message. Raise `ScheduledMessageDoesNotExist`, `ScheduledMessageAlreadySent`."""
    row = _access(session, sender, message_id)
    session.connection().execute(delete(SCHEDULED).where(SCHEDULED.c.id == row.id))
    notify_removed(session, row, now=now)


def _access(session: Session, sender: Actor, message_id: int) -> ScheduledRow:
    """Return the sender's message, locked against delivery and other changes."""
    key = {"wanted_id": message_id, "of_sender_id": sender.id}
    row = read_row(ScheduledRow, session.connection().execute(_OWN.with_for_update(), key))
    if row is None:
        raise ScheduledMessageDoesNotExist()
    if row.state == SENT:
        raise ScheduledMessageAlreadySent()
    return row


# --- shared with delivery -------------------------------------------------------------------------


def notify_sender(
    session: Session, row: ScheduledRow, event: ClientEvent, *, now: datetime
) -> None:
    """Append an event for the sender only."""
    log.append(session, row.realm_id, event, user_ids=[row.sender_id], now=now)


def notify_removed(session: Session, row: ScheduledRow, *, now: datetime) -> None:
    """Append the event for a message that was deleted or sent."""
    event: ClientEvent = ScheduledMessagesRemoveEvent(scheduled_message_id=row.id)
    if row.target_message_id is not None:
        event = RemindersRemoveEvent(reminder_id=row.id)
    notify_sender(session, row, event, now=now)


def _columns_of(draft: Draft) -> dict[str, Any]:
    others = [user for user in draft.user_ids if user != draft.sender.id] or [draft.sender.id]
    is_direct = draft.channel is None
    return {
        "channel_id": None if draft.channel is None else draft.channel.id,
        "recipient_ids": orjson.dumps(others).decode() if is_direct else None,
        "topic": draft.topic,
        "content": draft.content,
        "rendered_content": draft.rendered.html,
        "client": draft.client,
    }
