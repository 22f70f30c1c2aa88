"""A range of messages around an anchor, within a narrow: ids only, by two indexed statements."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Exists, Select, SQLColumnExpression, exists, or_, select

from models.chat.access.channels import readable_channel_ids
from models.chat.identity.actors import Actor
from models.chat.reading.conditions import Narrow, without_reads
from models.chat.reading.errors import AnchorMustBeAtEnd, InvalidAnchor, TooManyMessagesRequested
from models.chat.tables import Message, UserMessage
from models.reader import Db

OLDEST = 0
NEWEST = 10**16
MOST_MESSAGES = 5000


@dataclass(frozen=True, slots=True)
class Range:
    """What was found, ids ascending. `anchor` is the number it was looked for at."""

    ids: list[int]
    anchor: int
    found_anchor: bool
    found_oldest: bool
    found_newest: bool


def parse_anchor(anchor: str) -> int | None:
    """The anchor as a number; None for `first_unread`. Raises `InvalidAnchor`."""
    match anchor:
        case "oldest":
            return OLDEST
        case "newest":
            return NEWEST
        case "first_unread":
            return None
    if re.fullmatch(r"-?[0-9]{1,400}", anchor) is None:
        raise InvalidAnchor()
    return min(max(int(anchor), OLDEST), NEWEST)


def clamp_counts(num_before: int, num_after: int) -> tuple[int, int]:
    """As many as one request may change, the wish for both sides kept as far as it goes."""
    num_before = min(num_before, max(MOST_MESSAGES - num_after, MOST_MESSAGES // 2))
    return num_before, min(num_after, MOST_MESSAGES - num_before)


def check_counts(num_before: int, num_after: int) -> None:
    """Raises `TooManyMessagesRequested`."""
    if num_before + num_after > MOST_MESSAGES:
        raise TooManyMessagesRequested(most=MOST_MESSAGES)


def find_range(
    db: Db,
    actor: Actor,
    narrow: Narrow,
    *,
    anchor: int | None,
    include_anchor: bool,
    num_before: int,
    num_after: int,
) -> Range:
    """Up to `num_before` messages before the anchor, itself, and `num_after` after it.

    Raises `AnchorMustBeAtEnd`.
    """
    if not include_anchor and num_before > 0 and num_after > 0:
        raise AnchorMustBeAtEnd()
    if anchor is None:
        anchor = find_first_unread(db, actor, narrow)
    at_left, at_right = anchor == OLDEST, anchor >= NEWEST
    ids = id_select(db, actor, narrow)
    before: Sequence[int] = ()
    at_and_after: Sequence[int] = ()
    if num_before > 0 and not at_left:
        before = _read(db, ids.before(anchor - 1), num_before)[::-1]
    if at_right:
        num_after = 0
    elif num_after > 0:
        at_and_after = _read(db, ids.after(anchor), num_after + 1)
    elif include_anchor and not at_left:
        at_and_after = _read(db, ids.at(anchor), 1)
    has_anchor = bool(at_and_after) and at_and_after[0] == anchor
    after = list(at_and_after[1:] if has_anchor else at_and_after)[:num_after]
    shown = [anchor] if has_anchor and include_anchor else []
    return Range(
        ids=[*before, *shown, *after],
        anchor=anchor,
        found_anchor=bool(shown),
        found_oldest=at_left or len(before) < num_before,
        found_newest=at_right or len(after) < num_after,
    )


def find_first_unread(db: Db, actor: Actor, narrow: Narrow) -> int:
    """The oldest unread message within the narrow; `NEWEST` when everything is read."""
    ids = id_select(db, actor, without_reads(narrow))
    found = _read(db, ids.after(OLDEST), 1)
    return found[0] if found else NEWEST


def _read(db: Db, wanted: Select[Any], limit: int) -> list[int]:
    return list(db.execute(wanted.limit(limit)).scalars().all())  # iterating fetches one by one


@dataclass(frozen=True, slots=True)
class IdSelect:
    """The select of a narrow's message ids, and the id column that orders it."""

    select: Select[Any]
    column: SQLColumnExpression[int]

    def before(self, anchor: int) -> Select[Any]:
        return self.select.where(self.column <= anchor).order_by(self.column.desc())

    def after(self, anchor: int) -> Select[Any]:
        return self.select.where(self.column >= anchor).order_by(self.column)

    def at(self, anchor: int) -> Select[Any]:
        return self.select.where(self.column == anchor)


def id_select(db: Db, actor: Actor, narrow: Narrow) -> IdSelect:
    """Walks messages or own copies, whichever the narrow makes few, and asks the other side of
    each: a plan that the size of the organization does not change.
    """
    if narrow.with_history:
        wanted = select(Message.id).where(Message.realm_id == actor.realm_id, *narrow.messages)
        if narrow.copies:
            wanted = wanted.where(_copy_exists(actor, narrow))
        return IdSelect(wanted, Message.id)
    mine = or_(
        Message.channel_id.is_(None),
        Message.channel_id.in_(readable_channel_ids(db, actor)),
    )
    if narrow.selective and not narrow.by_copies:
        wanted = select(Message.id).where(mine, *narrow.messages, _copy_exists(actor, narrow))
        return IdSelect(wanted, Message.id)
    of_message = exists().where(Message.id == UserMessage.message_id, mine, *narrow.messages)
    wanted = select(UserMessage.message_id).where(
        UserMessage.user_id == actor.id, *narrow.copies, of_message
    )
    return IdSelect(wanted, UserMessage.message_id)


def _copy_exists(actor: Actor, narrow: Narrow) -> Exists:
    return exists().where(
        UserMessage.user_id == actor.id, UserMessage.message_id == Message.id, *narrow.copies
    )
