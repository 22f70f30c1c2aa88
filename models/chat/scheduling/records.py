"""Scheduled messages and reminders as they are kept, and the objects that their senders see."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import orjson
from sqlalchemy import insert
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.tables import ScheduledMessage
from models.prepared import Query

CHANNEL, DIRECT = "channel", "direct"
PENDING, SENT, FAILED = "pending", "sent", "failed"

SCHEDULED = table_of(ScheduledMessage)

To = int | list[int]


class ScheduledRow(Protocol):
    """A scheduled message with all of its columns that its sender or its delivery asks for."""

    @property
    def id(self) -> int: ...
    @property
    def realm_id(self) -> int: ...
    @property
    def sender_id(self) -> int: ...
    @property
    def channel_id(self) -> int | None: ...
    @property
    def recipient_ids(self) -> str | None: ...
    @property
    def topic(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def rendered_content(self) -> str: ...
    @property
    def client(self) -> str: ...
    @property
    def read_by_sender(self) -> bool | None: ...
    @property
    def scheduled_at(self) -> datetime: ...
    @property
    def next_try_at(self) -> datetime: ...
    @property
    def attempts(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def target_message_id(self) -> int | None: ...
    @property
    def note(self) -> str | None: ...


class _New(NamedTuple):
    """One that was just written; a `ScheduledRow`."""

    id: int
    realm_id: int
    sender_id: int
    channel_id: int | None
    recipient_ids: str | None
    topic: str
    content: str
    rendered_content: str
    client: str
    read_by_sender: bool | None
    scheduled_at: datetime
    next_try_at: datetime
    attempts: int
    state: str
    failure: str | None
    target_message_id: int | None
    note: str | None


_INSERT = Query(insert(SCHEDULED).returning(*(SCHEDULED.c[name] for name in _New._fields)))
_AT_FIRST: Mapping[str, object] = {
    "topic": "",
    "client": "",
    "read_by_sender": False,
    "attempts": 0,
    "state": PENDING,
}


def keep(session: Session, values: Mapping[str, object], *, at: datetime) -> ScheduledRow:
    """Write down what is to be sent `at` that time, by its columns."""
    times = {"scheduled_at": at, "next_try_at": at}
    return _New._make(_INSERT.one(session, {**_AT_FIRST, **values, **times}))


def stored_to(row: ScheduledRow) -> To:
    """The channel's id, or the ids of the recipients, ascending."""
    if row.channel_id is not None:
        return row.channel_id
    assert row.recipient_ids is not None
    ids: list[int] = orjson.loads(row.recipient_ids)
    return ids


def record_of(row: ScheduledRow) -> dict[str, Any]:
    """The scheduled-message object or the reminder object, as answers and events show it."""
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
