"""The terms of a narrow that make one condition however many they are.

Each subquery of its own is one more table to join: PostgreSQL would plan a hundred of them for
longer than anybody waits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from sqlalchemy import Select, bindparam, exists, func, select

from models.chat.messages import search
from models.chat.messages.flags import MENTIONED
from models.chat.messages.words import Sought
from models.chat.reading.parts import Condition, Part
from models.chat.tables import ConversationMember, Message, UserMessage
from models.dialects import bound_in
from models.reader import Db

Value = Callable[[object], str]
"""Gives a value a name."""
SMALLEST_GROUP = 3


@dataclass(slots=True)
class CollectedTerms:
    """What was collected of all terms; its `parts` are then few.

    `included` and `grouped`: who must be in the conversation, and in one of three and more.
    """

    searched: list[Sought] = field(default_factory=list)
    excluded: list[Sought] = field(default_factory=list)
    included: set[int] = field(default_factory=set)
    grouped: set[int] = field(default_factory=set)
    mentioned: set[int] = field(default_factory=set)
    unmentioned: set[int] = field(default_factory=set)

    def parts(self, db: Db, value: Value) -> list[Part]:
        """Raises `BadNarrow` for more words than one narrow may look for."""
        search.check_size([*self.searched, *self.excluded])
        found: list[Part] = []
        if self.searched:
            found.append(_found(search.find_all(db, self.searched), value))
        if self.excluded:
            without = _found(search.find_any(db, self.excluded), value)
            found.append(replace(without, negated=True))
        for people, least in ((self.included, 1), (self.grouped, SMALLEST_GROUP)):
            if people:
                found.append(shared_with(value, people, least=least))
        if self.mentioned:
            asked = value(sorted(self.mentioned))
            count = (value(len(self.mentioned)),) if len(self.mentioned) > 1 else ()
            found.append(Part(_mentions_all if count else _mentions, (asked, *count)))
        if self.unmentioned:
            asked = value(sorted(self.unmentioned))
            found.append(Part(_mentions, (asked,), negated=True))
        return found


def _found(finds: search.Finds, value: Value) -> Part:
    return Part(_among, (finds.kind, value(finds.value)))


def _among(kind: str, name: str) -> Condition:
    return search.matches(kind, Message.id, name)


def shared_with(
    value: Value,
    people: Iterable[int],
    *,
    least: int,
    or_elsewhere: bool = False,
) -> Part:
    """The message is in one of the reader's conversations with all of these, of `least` and more.
    `or_elsewhere`: for a channel message that is false, and not unknown.
    """
    wanted = sorted(set(people))
    make = _in_any_shared if or_elsewhere else _in_shared
    count = value(len(wanted)) if len(wanted) > 1 else ""
    return Part(make, (value(wanted), count, value(least) if least > 1 else ""))


def _in_shared(people: str, count: str, least: str) -> Condition:
    return Message.conversation_id.in_(_shared(people, count, least))


def _in_any_shared(people: str, count: str, least: str) -> Condition:
    shared = _shared(people, count, least)
    return func.coalesce(Message.conversation_id, 0).in_(shared)


def _shared(people: str, count: str, least: str) -> Select[int]:
    """Select of the ids of the reader's conversations with all of these, where `count` says how
    many they are (else there is one), and of `least` and more (else of any size).
    """
    ids = select(ConversationMember.conversation_id).where(
        ConversationMember.user_id == bindparam("reader_id")
    )
    theirs = select(ConversationMember.conversation_id).where(
        bound_in(ConversationMember.user_id, people)
    )
    if count:
        together = func.count() == bindparam(count)
        theirs = theirs.group_by(ConversationMember.conversation_id).having(together)
    ids = ids.where(ConversationMember.conversation_id.in_(theirs))
    if least:
        large = (
            select(ConversationMember.conversation_id)
            .group_by(ConversationMember.conversation_id)
            .having(func.count() >= bindparam(least))
        )
        ids = ids.where(ConversationMember.conversation_id.in_(large))
    return ids


def _mentions(people: str) -> Condition:
    """The message mentions one of these."""
    theirs = UserMessage.__table__.alias()
    return exists().where(
        bound_in(theirs.c.user_id, people),
        theirs.c.message_id == Message.id,
        theirs.c.flags.op("&")(MENTIONED) != 0,
    )


def _mentions_all(people: str, how_many: str) -> Condition:
    theirs = UserMessage.__table__.alias()
    count = select(func.count()).where(
        bound_in(theirs.c.user_id, people),
        theirs.c.message_id == Message.id,
        theirs.c.flags.op("&")(MENTIONED) != 0,
    )
    return count.scalar_subquery() == bindparam(how_many)
