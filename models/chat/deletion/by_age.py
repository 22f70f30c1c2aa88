"""Messages older than `message_retention_days` of their channel or organization.

They go as if somebody had deleted them: clients are told, and the archive has them for a while. A
channel without days of its own, and direct messages, have the organization's; what is not positive
means for ever.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, ColumnElement, func, literal, select, type_coerce
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.deletion.batches import PLACED, PlacedMessage, delete_batch
from models.chat.tables import Channel, Conversation, Message, Realm
from models.rows import read_row, read_rows
from models.types import to_ms

_MESSAGE = table_of(Message)
_CHANNEL = table_of(Channel)
_CONVERSATION = table_of(Conversation)
_REALM = table_of(Realm)
DAY_MS = 86_400_000


class _Overdue(NamedTuple):
    """A channel or conversation with messages that are too old, and the days it keeps them."""

    id: int
    days: int


def try_expire_some(session: Session, now: datetime, limit: int) -> bool:
    """Delete up to `limit` old messages of one channel or conversation; says whether it did."""
    channel = _find_channel(session, now)
    if channel is not None:
        return _expire(session, _MESSAGE.c.channel_id == channel.id, channel.days, now, limit)
    found = _find_conversation(session, now)
    if found is not None:
        return _expire(session, _MESSAGE.c.conversation_id == found.id, found.days, now, limit)
    return False


def _expire(
    session: Session, is_there: ColumnElement[bool], days: int, now: datetime, limit: int
) -> bool:
    found = session.execute(
        select(*PLACED)
        .where(is_there, _is_older(literal(days), now))
        .order_by(_MESSAGE.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    batch = read_rows(PlacedMessage, found)
    if batch:
        delete_batch(session, batch, actor_id=None, now=now)
    return bool(batch)


def _find_channel(session: Session, now: datetime) -> _Overdue | None:
    """A channel whose first message is too old; the channel knows which that is."""
    days = func.coalesce(_CHANNEL.c.message_retention_days, _REALM.c.message_retention_days)
    found = session.execute(
        select(_CHANNEL.c.id, days.label("days"))
        .join_from(_CHANNEL, _REALM, _REALM.c.id == _CHANNEL.c.realm_id)
        .join(_MESSAGE, _MESSAGE.c.id == _CHANNEL.c.first_message_id)
        .where(days > 0, _is_older(days, now))
        .limit(1)
    )
    return read_row(_Overdue, found)


def _find_conversation(session: Session, now: datetime) -> _Overdue | None:
    """A conversation whose first message is too old."""
    days = _REALM.c.message_retention_days
    first = (
        select(func.min(_MESSAGE.c.id))
        .where(_MESSAGE.c.conversation_id == _CONVERSATION.c.id)
        .correlate(_CONVERSATION)
        .scalar_subquery()
    )
    found = session.execute(
        select(_CONVERSATION.c.id, days.label("days"))
        .join_from(_CONVERSATION, _REALM, _REALM.c.id == _CONVERSATION.c.realm_id)
        .join(_MESSAGE, _MESSAGE.c.id == first)
        .where(days > 0, _is_older(days, now))
        .limit(1)
    )
    return read_row(_Overdue, found)


def _is_older(days: ColumnElement[int], now: datetime) -> ColumnElement[bool]:
    """Was the message sent more than so many days before now? In 64 bits, for milliseconds."""
    kept_ms = sql_cast(days, BigInteger) * DAY_MS
    return type_coerce(_MESSAGE.c.sent_at, BigInteger) < to_ms(now) - kept_ms
