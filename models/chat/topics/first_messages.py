"""The first message of each channel, whose changes clients get as events."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.channels import ChannelView
from models.chat.events import log
from models.chat.events.channels import StreamUpdateEvent
from models.chat.tables import Channel, Message
from models.rows import columns_of, read_rows

_CHANNEL = table_of(Channel)
_FIRST = select(func.min(Message.id)).where(Message.channel_id == _CHANNEL.c.id).scalar_subquery()


class _Row(NamedTuple):
    id: int
    name: str
    first_message_id: int | None


_RETURNED = columns_of(_Row, Channel)


def note_first_message(
    session: Session, channel: ChannelView, message_id: int, *, now: datetime
) -> None:
    """Set the first message of a channel that has none."""
    changed = session.connection().execute(
        update(_CHANNEL)
        .where(_CHANNEL.c.id == channel.id, _CHANNEL.c.first_message_id.is_(None))
        .values(first_message_id=message_id)
        .returning(*_RETURNED)
    )
    _append_events(session, channel.realm_id, read_rows(_Row, changed), now)


def recount_first_messages(
    session: Session, realm_id: int, channel_ids: Collection[int], *, now: datetime
) -> None:
    """Update the first messages of channels after messages were moved or deleted."""
    changed = session.connection().execute(
        update(_CHANNEL)
        .where(_CHANNEL.c.id.in_(channel_ids), _CHANNEL.c.first_message_id.is_distinct_from(_FIRST))
        .values(first_message_id=_FIRST)
        .returning(*_RETURNED)
    )
    _append_events(session, realm_id, read_rows(_Row, changed), now)


def _append_events(session: Session, realm_id: int, rows: Sequence[_Row], now: datetime) -> None:
    """Append an event for each channel; the delivery decides who may get it."""
    for row in rows:
        event = StreamUpdateEvent(
            property="first_message_id",
            value=row.first_message_id,
            stream_id=row.id,
            name=row.name,
        )
        log.append(session, realm_id, event, now=now)
