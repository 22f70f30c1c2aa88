"""Delete messages that are older than `message_retention_days` of their channel or organization.

They are deleted like other messages, with events for clients and a temporary copy in the archive.
The organization's value applies to direct messages and to channels without a value. If the value is
not positive, messages are kept forever.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ColumnElement, func, literal, select, type_coerce
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Session

from models.chat.deletion.batches import PLACED, PlacedMessage, delete_batch
from models.chat.tables import Channel, Conversation, Message, Realm
from models.rows import read_rows
from specd.db import UtcMs, table_of

_MESSAGE = table_of(Message)
_CHANNEL = table_of(Channel)
_CONVERSATION = table_of(Conversation)
_REALM = table_of(Realm)
DAY_MS = 86_400_000


_FIRST_IN_CONVERSATION = (
    select(func.min(_MESSAGE.c.id))
    .where(_MESSAGE.c.conversation_id == _CONVERSATION.c.id)
    .correlate(_CONVERSATION)
    .scalar_subquery()
)
_REALM_DAYS = _REALM.c.message_retention_days
_CHANNEL_DAYS = func.coalesce(_CHANNEL.c.message_retention_days, _REALM_DAYS)
_PLACES: tuple[tuple[Column[int], ColumnElement[int], ColumnElement[int], Column[int]], ...] = (
    (_CHANNEL.c.id, _CHANNEL_DAYS, _CHANNEL.c.first_message_id, _MESSAGE.c.channel_id),
    (_CONVERSATION.c.id, _REALM_DAYS, _FIRST_IN_CONVERSATION, _MESSAGE.c.conversation_id),
)
"""For channels and conversations: the id, the days that messages are kept, the id of the first
message, and the column of `message` that refers to them.
"""


def try_expire_some(session: Session, now: datetime, limit: int) -> bool:
    """Delete up to `limit` old messages of one channel or conversation. Return whether there were
    any.
    """
    for place_id, days, first_id, of_message in _PLACES:
        overdue = session.execute(
            select(place_id, days.label("days"))
            .join(_REALM, _REALM.c.id == place_id.table.c.realm_id)
            .join(_MESSAGE, _MESSAGE.c.id == first_id)
            .where(days > 0, _is_older(days, now))
            .limit(1)
        ).first()
        if overdue is not None:
            return _expire(session, of_message == overdue.id, overdue.days, now, limit)
    return False


def _expire(
    session: Session, is_there: ColumnElement[bool], days: int, now: datetime, limit: int
) -> bool:
    messages = session.execute(
        select(*PLACED)
        .where(is_there, _is_older(literal(days), now))
        .order_by(_MESSAGE.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    batch = read_rows(PlacedMessage, messages)
    if batch:
        delete_batch(session, batch, actor_id=None, now=now)
    return bool(batch)


def _is_older(days: ColumnElement[int], now: datetime) -> ColumnElement[bool]:
    """Return the condition that a message was sent more than `days` before `now`."""
    # Use 64 bits, because milliseconds do not fit in 32.
    kept_ms = sql_cast(days, BigInteger) * DAY_MS
    return type_coerce(_MESSAGE.c.sent_at, BigInteger) < UtcMs.to_ms(now) - kept_ms
