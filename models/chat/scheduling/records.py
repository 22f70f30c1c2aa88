"""Rows of scheduled messages and reminders, and their form in the API."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from models.chat.tables import ScheduledMessage
from models.rows import read_rows
from specd.db import table_of

CHANNEL, DIRECT = "channel", "direct"
PENDING, SENT, FAILED = "pending", "sent", "failed"

SCHEDULED = table_of(ScheduledMessage)

To = int | list[int]


class ScheduledRow(NamedTuple):
    """A scheduled message or a reminder."""

    id: int
    realm_id: int
    sender_id: int
    channel_id: int | None
    recipient_ids: str | None
    topic: str
    content: str
    rendered_content: str
    client: str
    read_by_sender: bool
    scheduled_at: datetime
    next_try_at: datetime
    attempts: int
    state: str
    failure: str | None
    message_id: int | None
    target_message_id: int | None
    note: str | None
    created_at: datetime


def add_row(session: Session, values: Mapping[str, object], *, at: datetime) -> ScheduledRow:
    """Insert a row with a time of delivery, and return it. `values` are its other columns."""
    added = insert(SCHEDULED).values(**values, scheduled_at=at, next_try_at=at)
    (row,) = read_rows(ScheduledRow, session.execute(added.returning(*SCHEDULED.c)))
    return row


def change_row(session: Session, row_id: int, values: Mapping[str, object]) -> ScheduledRow:
    """Change columns of a row that this transaction has locked. Return the changed row."""
    changed = update(SCHEDULED).where(SCHEDULED.c.id == row_id).values(**values)
    (row,) = read_rows(ScheduledRow, session.connection().execute(changed.returning(*SCHEDULED.c)))
    return row


def stored_to(row: ScheduledRow) -> To:
    """Return the id of the channel, or the ids of the recipients in ascending order."""
    if row.channel_id is not None:
        return row.channel_id
    assert row.recipient_ids is not None
    ids: list[int] = orjson.loads(row.recipient_ids)
    return ids


def record_of(row: ScheduledRow) -> dict[str, Any]:
    """Return the scheduled-message object or the reminder object for responses and events."""
    is_direct = row.channel_id is None
    record = {
        "scheduled_message_id" if row.target_message_id is None else "reminder_id": row.id,
        "type": "private" if is_direct else "stream",
        "to": stored_to(row),
        "content": row.content,
        "rendered_content": row.rendered_content,
        "scheduled_delivery_timestamp": int(row.scheduled_at.timestamp()),
        "failed": row.state == FAILED,
    }
    if not is_direct:
        record["topic"] = row.topic
    if row.failure is not None:
        record["failure_message"] = row.failure
    if row.target_message_id is not None:
        record["reminder_target_message_id"] = row.target_message_id
    return record
