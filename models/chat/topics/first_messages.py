"""The first message of each channel. Clients get events about its changes."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.events import log
from models.chat.events.channels import StreamUpdateEvent
from models.chat.tables import Channel, Message
from specd.db import table_of

_CHANNEL = table_of(Channel)
_FIRST = select(func.min(Message.id)).where(Message.channel_id == _CHANNEL.c.id).scalar_subquery()


def note_first_message(
    session: Session, channel: ChannelView, message_id: int, *, now: datetime
) -> None:
    """Set the first message of a channel that has none."""
    has_none = (_CHANNEL.c.id == channel.id) & _CHANNEL.c.first_message_id.is_(None)
    _set(session, channel.realm_id, has_none, message_id, now)


def recount_first_messages(
    session: Session, realm_id: int, channel_ids: Collection[int], *, now: datetime
) -> None:
    """Update the first messages of channels after messages were moved or deleted."""
    is_other = _CHANNEL.c.first_message_id.is_distinct_from(_FIRST)
    _set(session, realm_id, _CHANNEL.c.id.in_(channel_ids) & is_other, _FIRST, now)


def _set(
    session: Session, realm_id: int, channels: ColumnElement[bool], first: object, now: datetime
) -> None:
    """Set the first message of channels. Append an event for each. The delivery decides which users
    get it.
    """
    changed = update(_CHANNEL).where(channels).values(first_message_id=first)
    returned = (_CHANNEL.c.id, _CHANNEL.c.name, _CHANNEL.c.first_message_id)
    for row in session.connection().execute(changed.returning(*returned)).all():
        event = StreamUpdateEvent(
            property="first_message_id",
            value=row.first_message_id,
            stream_id=row.id,
            name=row.name,
        )
        log.append(session, realm_id, event, now=now)
