"""Terms of a narrow that become one condition for any number of terms.

A subquery for each term would add a table to join, and PostgreSQL would need very long to plan a
hundred of them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlalchemy import bindparam, exists, func, select

from models.chat.messages import search
from models.chat.messages.flags import MENTIONED
from models.chat.messages.words import ParsedQuery
from models.chat.reading.parts import Condition, Part
from models.chat.tables import ConversationMember, Message, UserMessage
from models.dialects import in_parameter
from specd.db import Db

Value = Callable[[object], str]
"""A function that returns a name for a value."""
SMALLEST_GROUP = 3


@dataclass(slots=True)
class CollectedTerms:
    """The conditions of all terms together.

    `included` are users who must be in the conversation, and `grouped` users who must be in a
    conversation of three or more.
    """

    searched: list[ParsedQuery] = field(default_factory=list)
    excluded: list[ParsedQuery] = field(default_factory=list)
    included: set[int] = field(default_factory=set)
    grouped: set[int] = field(default_factory=set)
    mentioned: set[int] = field(default_factory=set)
    unmentioned: set[int] = field(default_factory=set)

    def parts(self, db: Db, value: Value) -> list[Part]:
        """Return the parts. Raise `BadNarrow` if there are too many search words for one narrow."""
        search.check_size([*self.searched, *self.excluded])
        parts: list[Part] = []
        if self.searched:
            finds = search.find_all(db, self.searched)
            parts.append(Part(_among, (finds.kind, value(finds.value))))
        if self.excluded:
            finds = search.find_any(db, self.excluded)
            parts.append(Part(_among, (finds.kind, value(finds.value)), negated=True))
        for people, least in ((self.included, 1), (self.grouped, SMALLEST_GROUP)):
            if people:
                parts.append(shared_with(value, people, least=least))
        if self.mentioned:
            user_ids = value(sorted(self.mentioned))
            count = (value(len(self.mentioned)),) if len(self.mentioned) > 1 else ()
            parts.append(Part(_mentions_all if count else _mentions, (user_ids, *count)))
        if self.unmentioned:
            parts.append(Part(_mentions, (value(sorted(self.unmentioned)),), negated=True))
        return parts


def _among(kind: str, name: str) -> Condition:
    return search.matches(kind, Message.id, name)


def shared_with(value: Value, people: Iterable[int], *, least: int) -> Part:
    """Return the condition that the message is in one of the reader's conversations with all of
    these users and with at least `least` members.
    """
    user_ids = sorted(set(people))
    count = value(len(user_ids)) if len(user_ids) > 1 else ""
    names = (value(user_ids), count, value(least) if least > 1 else "")
    return Part(_in_shared, names, is_nullable=True)


def _in_shared(people: str, count: str, least: str) -> Condition:
    """Return the condition. Without `count` there is one user, and without `least` any size
    matches.
    """
    ids = select(ConversationMember.conversation_id).where(
        ConversationMember.user_id == bindparam("reader_id")
    )
    theirs = select(ConversationMember.conversation_id).where(
        in_parameter(ConversationMember.user_id, people)
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
    return Message.conversation_id.in_(ids)


def _mentions(people: str) -> Condition:
    """Return whether the message mentions one of these users."""
    theirs = UserMessage.__table__.alias()
    return exists().where(
        in_parameter(theirs.c.user_id, people),
        theirs.c.message_id == Message.id,
        theirs.c.flags.op("&")(MENTIONED) != 0,
    )


def _mentions_all(people: str, how_many: str) -> Condition:
    theirs = UserMessage.__table__.alias()
    count = select(func.count()).where(
        in_parameter(theirs.c.user_id, people),
        theirs.c.message_id == Message.id,
        theirs.c.flags.op("&")(MENTIONED) != 0,
    )
    return count.scalar_subquery() == bindparam(how_many)
