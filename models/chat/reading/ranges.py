"""A range of messages around an anchor, within a narrow. Two indexed statements read only ids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Integer,
    Select,
    SQLColumnExpression,
    bindparam,
    exists,
    or_,
    select,
    text,
)

from models.chat.access.channels import readable_channels, reading_as
from models.chat.identity.actors import Actor
from models.chat.reading.errors import AnchorMustBeAtEnd, InvalidAnchor, TooManyMessagesRequested
from models.chat.reading.narrow import UNREAD, Narrow
from models.chat.reading.parts import LEADING, Part
from models.chat.tables import Message, StarredMessage, UserMessage
from models.dialects import ids_as_array, in_parameter
from models.ranges import without_index
from specd.db import Db, Query

OLDEST = 0
NEWEST = 10**16
MAX_MESSAGES = 5000


@dataclass(frozen=True, slots=True)
class Range:
    """Ids of messages, in ascending order, around the number `anchor`."""

    ids: list[int]
    anchor: int
    found_anchor: bool
    found_oldest: bool
    found_newest: bool


def parse_anchor(anchor: str) -> int | None:
    """Return the anchor as a number, or None for `first_unread`. Raise `InvalidAnchor`."""
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
    """Return the counts, reduced to the maximum that one request may change. Each may have at least
    half of the maximum.
    """
    num_before = min(num_before, max(MAX_MESSAGES - num_after, MAX_MESSAGES // 2))
    return num_before, min(num_after, MAX_MESSAGES - num_before)


def check_counts(num_before: int, num_after: int) -> None:
    """Raise `TooManyMessagesRequested` if the counts exceed the maximum."""
    if num_before + num_after > MAX_MESSAGES:
        raise TooManyMessagesRequested(most=MAX_MESSAGES)


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
    """Return up to `num_before` messages before the anchor, the anchor, and up to `num_after`
    messages after it.

    Raise `AnchorMustBeAtEnd`.
    """
    if not include_anchor and num_before > 0 and num_after > 0:
        raise AnchorMustBeAtEnd()
    if anchor is None:
        anchor = _find_first_unread(db, actor, narrow)
    at_left, at_right = anchor == OLDEST, anchor >= NEWEST
    ids = Ids(db, actor, narrow)
    before: Sequence[int] = ()
    at_and_after: Sequence[int] = ()
    if num_before > 0 and not at_left:
        before = ids.before(anchor - 1, num_before)
    if at_right:
        num_after = 0
    elif num_after > 0:
        at_and_after = ids.after(anchor, num_after + 1)
    elif include_anchor and not at_left:
        at_and_after = ids.at(anchor)
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


def _find_first_unread(db: Db, actor: Actor, narrow: Narrow) -> int:
    """Return the oldest unread message within the narrow, or `NEWEST` if all messages are read."""
    copies = [*narrow.copies, UNREAD]
    unread = replace(narrow, copies=copies, with_history=False, by_copies=True)
    ids = Ids(db, actor, unread).after(OLDEST, 1)
    return ids[0] if ids else NEWEST


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a narrow, without values, for which a statement is built."""

    is_guest: bool
    messages: tuple[Part, ...]
    copies: tuple[str, ...]
    with_history: bool
    walks_messages: bool
    walks_stars: bool
    step: str

    def select(self) -> Select[list[int]]:
        """Return the query for the ids of messages. Its values include the anchor and the limit.

        It scans messages, copies or stars, depending on which of them the narrow makes few, and
        checks the other conditions for each. Its plan thus does not depend on the size of the
        organization.
        """
        column: SQLColumnExpression[int] = Message.id
        conditions = [part.condition() for part in self.messages]
        mine = or_(
            Message.channel_id.is_(None),
            Message.channel_id.in_(readable_channels(self.is_guest)),
        )
        copies = [text(copy) for copy in self.copies]
        own = UserMessage.user_id == bindparam("reader_id")
        copy_exists = exists().where(own, UserMessage.message_id == Message.id, *copies)
        if self.with_history:
            leads = any(part.make in LEADING and not part.negated for part in self.messages)
            realm_id = without_index(Message.realm_id) if leads else Message.realm_id
            wanted = select(Message.id).where(realm_id == bindparam("reader_realm_id"), *conditions)
            if copies:
                wanted = wanted.where(copy_exists)
        elif self.walks_messages:
            wanted = select(Message.id).where(mine, *conditions, copy_exists)
        elif self.walks_stars:
            column = StarredMessage.message_id
            of_message = exists().where(Message.id == column, mine, *conditions)
            has_copy = exists().where(own, UserMessage.message_id == column, *copies)
            own_star = StarredMessage.user_id == bindparam("reader_id")
            wanted = select(column).where(own_star, of_message, has_copy)
        else:
            of_message = exists().where(Message.id == UserMessage.message_id, mine, *conditions)
            wanted = select(UserMessage.message_id).where(own, *copies, of_message)
            column = UserMessage.message_id
        return self._step(wanted, column)

    def _step(self, wanted: Select[int], column: SQLColumnExpression[int]) -> Select[list[int]]:
        anchor: BindParameter[int] = bindparam("anchor", type_=BigInteger)
        limit: BindParameter[int] = bindparam("most", type_=Integer)
        match self.step:
            case "before":
                query = wanted.where(column <= anchor).order_by(column.desc()).limit(limit)
            case "after":
                query = wanted.where(column >= anchor).order_by(column).limit(limit)
            case "at":
                query = wanted.where(column == anchor)
            case _:
                query = wanted.where(in_parameter(column, "among"))
        ids = query.subquery()
        return select(ids_as_array(ids.c[0]))


@lru_cache(maxsize=200)
def _query(form: Form) -> Query[list[int]]:
    return Query(form.select(), one_plan=False)


class Ids:
    """The ids of the messages that match a narrow for its reader."""

    def __init__(self, db: Db, actor: Actor, narrow: Narrow) -> None:
        self._db = db
        self._is_guest = actor.is_guest
        self._narrow = narrow
        reader = {"reader_id": actor.id, "reader_realm_id": actor.realm_id}
        if not narrow.with_history:
            reader = reading_as(db, actor)
        self._values = {**reader, **narrow.values}

    def _find(self, step: str, **more: object) -> list[int]:
        narrow = self._narrow
        form = Form(
            self._is_guest,
            tuple(narrow.messages),
            tuple(narrow.copies),
            narrow.with_history,
            narrow.selective and not narrow.by_copies,
            narrow.by_stars,
            step,
        )
        (ids,) = _query(form).one(self._db, {**self._values, **more})
        return ids

    def before(self, anchor: int, most: int) -> list[int]:
        """Return up to `most` ids up to the anchor, in ascending order."""
        return self._find("before", anchor=anchor, most=most)

    def after(self, anchor: int, most: int) -> list[int]:
        """Return up to `most` ids from the anchor on, in ascending order."""
        return self._find("after", anchor=anchor, most=most)

    def at(self, anchor: int) -> list[int]:
        return self._find("at", anchor=anchor)

    def among(self, message_ids: Sequence[int]) -> list[int]:
        """Return the ids that match, in ascending order."""
        return self._find("among", among=message_ids)
