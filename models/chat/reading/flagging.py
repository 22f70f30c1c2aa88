"""Add and remove flags on many messages, in a fixed number of statements.

If a message that the user may read but never received is starred, collapsed or marked as unread, a
copy is created. The copy is `historical`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BigInteger, Insert, Update, bindparam, insert, select, update
from sqlalchemy import cast as as_type
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.log import ABSENT, ClientEvent
from models.chat.events.messages import (
    MessageDetails,
    UpdateMessageFlagsAddEvent,
    UpdateMessageFlagsRemoveEvent,
)
from models.chat.identity.actors import Actor
from models.chat.messages.conversations import find_members
from models.chat.messages.flags import ANY_MENTION, EDITABLE, FIXED, READ, STARRED, WITHOUT_COPY
from models.chat.messages.stars import add_stars, remove_stars
from models.chat.reading.errors import FlagNotEditable, InvalidFlag, InvalidFlagOperation
from models.chat.tables import Message, Subscription, UserMessage
from models.dialects import id_in, in_parameter
from specd.db import Change, table_of

_COPY = table_of(UserMessage)


@dataclass(frozen=True, slots=True)
class Flagged:
    """The result: the number of changed copies; the messages that stayed read because the user is
    no longer subscribed to their channels; and these channels.
    """

    changed: int
    ignored: set[int]
    unsubscribed: list[int]


def check_flag(op: str, flag: str) -> int:
    """Return the flag's bit. Raise `InvalidFlag`, `FlagNotEditable`, `InvalidFlagOperation`."""
    if flag in FIXED:
        raise FlagNotEditable(flag=flag)
    if flag not in EDITABLE:
        raise InvalidFlag(flag=flag)
    if op not in ("add", "remove"):
        raise InvalidFlagOperation(op=op)
    return EDITABLE[flag]


def update_flags(
    session: Session,
    actor: Actor,
    message_ids: Sequence[int],
    *,
    op: str,
    flag: str,
    now: datetime,
) -> Flagged:
    """Add a flag to messages that the actor may read, or remove it. Raise an error of
    `check_flag`.
    """
    bit = check_flag(op, flag)
    adding = op == "add"
    ids = list(message_ids)
    unsubscribed: list[int] = []
    ignored: set[int] = set()
    if bit == READ and not adding and ids:
        ignored, unsubscribed = _of_left_channels(session, actor, ids)
        ids = [message_id for message_id in ids if message_id not in ignored]
    changed = 0
    if ids:
        if bit == STARRED:
            changed = _star(session, actor, ids, adding)
        else:
            changed = _FLIP[adding].run(session, {"reader_id": actor.id, "ids": ids, "bit": bit})
            new_flags = WITHOUT_COPY | bit if adding else WITHOUT_COPY & ~bit
            if changed < len(ids) and new_flags != WITHOUT_COPY:
                changed += _copy_missing(session, actor, ids, new_flags)
    event: ClientEvent = UpdateMessageFlagsAddEvent(flag=flag, messages=ids)
    if not adding:
        details = _details(session, actor, ids) if bit == READ else ABSENT
        event = UpdateMessageFlagsRemoveEvent(flag=flag, messages=ids, message_details=details)
    log.append(session, actor.realm_id, event, user_ids=[actor.id], now=now)
    return Flagged(changed, ignored, unsubscribed)


def _star(session: Session, actor: Actor, ids: list[int], adding: bool) -> int:
    """Add or remove stars. Return the number of changed copies."""
    if not adding:
        return remove_stars(session, actor.id, ids)
    changed = add_stars(session, actor.id, ids)
    if changed < len(ids) and _copy_missing(session, actor, ids, WITHOUT_COPY):
        changed += add_stars(session, actor.id, ids)
    return changed


def _flipping(*, adding: bool) -> Update:
    flags, bit = UserMessage.flags, bindparam("bit", type_=BigInteger)
    is_set = flags.op("&")(bit) != 0
    return (
        update(_COPY)
        .where(
            UserMessage.user_id == bindparam("reader_id"),
            in_parameter(UserMessage.message_id, "ids"),
            ~is_set if adding else is_set,
        )
        .values(flags=flags + bit if adding else flags - bit)
    )


_FLIP = {adding: Change(_flipping(adding=adding)) for adding in (True, False)}


def _copy_missing(session: Session, actor: Actor, ids: Sequence[int], flags: int) -> int:
    """Create copies with these flags for messages without a copy. Return their number."""
    return _COPY_MISSING.run(session, {"reader_id": actor.id, "ids": ids, "flags": flags})


def _copying() -> Insert:
    reader_id = bindparam("reader_id", type_=BigInteger)
    known = select(UserMessage.message_id).where(
        UserMessage.user_id == reader_id, in_parameter(UserMessage.message_id, "ids")
    )
    missing = select(
        as_type(reader_id, BigInteger), Message.id, as_type(bindparam("flags"), BigInteger)
    ).where(in_parameter(Message.id, "ids"), Message.id.not_in(known))
    return insert(_COPY).from_select(["user_id", "message_id", "flags"], missing)


_COPY_MISSING = Change(_copying())


def _of_left_channels(
    session: Session, actor: Actor, ids: Sequence[int]
) -> tuple[set[int], list[int]]:
    """Return the messages in channels to which the actor is not subscribed, and the ids of these
    channels.
    """
    subscribed = select(Subscription.channel_id).where(
        Subscription.user_id == actor.id, Subscription.is_active
    )
    rows = session.execute(
        select(Message.id, Message.channel_id).where(
            id_in(Message.id, ids),
            Message.channel_id.is_not(None),
            Message.channel_id.not_in(subscribed),
        )
    ).all()
    return {row.id for row in rows}, sorted({row.channel_id for row in rows})


def _details(session: Session, actor: Actor, ids: Sequence[int]) -> dict[str, MessageDetails]:
    """Return the facts that a client needs to count unread messages that it has not loaded."""
    rows = session.execute(
        select(
            Message.id,
            Message.channel_id,
            Message.conversation_id,
            Message.topic,
            UserMessage.flags,
        )
        .join(UserMessage, UserMessage.message_id == Message.id)
        .where(UserMessage.user_id == actor.id, id_in(Message.id, ids))
        .order_by(Message.id)
    ).all()
    members = find_members(session, {row.conversation_id for row in rows} - {None})
    details: dict[str, MessageDetails] = {}
    for row in rows:
        detail: MessageDetails = {"type": "stream" if row.channel_id else "private"}
        if row.flags & ANY_MENTION:
            detail["mentioned"] = True
        if row.channel_id is not None:
            detail |= {"stream_id": row.channel_id, "topic": row.topic}
        else:
            everybody = members.get(row.conversation_id, [])
            detail["user_ids"] = [u for u in everybody if u != actor.id]
        details[str(row.id)] = detail
    return details
