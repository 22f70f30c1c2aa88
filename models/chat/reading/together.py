"""The terms of a narrow that make one condition however many they are.

Each subquery of its own is one more table to join: PostgreSQL would plan a hundred of them for
longer than anybody waits.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Select, exists, func, not_, select

from models.chat.identity.actors import Actor
from models.chat.messages import search
from models.chat.messages.flags import MENTIONED
from models.chat.tables import ConversationMember, Message, UserMessage
from models.reader import Db, id_in

Condition = ColumnElement[bool]
SMALLEST_GROUP = 3


@dataclass(slots=True)
class CollectedTerms:
    """What was collected of all terms; `conditions` are then few.

    `included` and `grouped`: who must be in the conversation, and in one of three and more.
    """

    searched: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    included: set[int] = field(default_factory=set)
    grouped: set[int] = field(default_factory=set)
    mentioned: set[int] = field(default_factory=set)
    unmentioned: set[int] = field(default_factory=set)

    def conditions(self, db: Db, actor: Actor) -> list[Condition]:
        """Raises `BadNarrow` for more words than one narrow may look for."""
        search.check_size([*self.searched, *self.excluded])
        found: list[Condition] = []
        if self.searched:
            found.append(search.matches_all(db, self.searched, Message.id))
        if self.excluded:
            found.append(not_(search.matches_any(db, self.excluded, Message.id)))
        for people, least in ((self.included, 1), (self.grouped, SMALLEST_GROUP)):
            if people:
                shared = shared_conversations(db, actor, people, least=least)
                found.append(Message.conversation_id.in_(shared))
        if self.mentioned:
            found.append(_mentions_all(db, self.mentioned))
        if self.unmentioned:
            found.append(not_(_mentions(db, self.unmentioned)))
        return found


def shared_conversations(db: Db, actor: Actor, people: Iterable[int], *, least: int) -> Select[int]:
    """Select of the ids of the actor's conversations with all of these, of `least` and more."""
    people = set(people)
    ids = select(ConversationMember.conversation_id).where(ConversationMember.user_id == actor.id)
    theirs = select(ConversationMember.conversation_id).where(
        id_in(db, ConversationMember.user_id, people)
    )
    if len(people) > 1:
        together = func.count() == len(people)
        theirs = theirs.group_by(ConversationMember.conversation_id).having(together)
    ids = ids.where(ConversationMember.conversation_id.in_(theirs))
    if least > 1:
        large = (
            select(ConversationMember.conversation_id)
            .group_by(ConversationMember.conversation_id)
            .having(func.count() >= least)
        )
        ids = ids.where(ConversationMember.conversation_id.in_(large))
    return ids


def _mentions(db: Db, people: Iterable[int]) -> Condition:
    """The message mentions one of these."""
    theirs = UserMessage.__table__.alias()
    return exists().where(
        id_in(db, theirs.c.user_id, people),
        theirs.c.message_id == Message.id,
        theirs.c.flags.op("&")(MENTIONED) != 0,
    )


def _mentions_all(db: Db, people: set[int]) -> Condition:
    if len(people) == 1:
        return _mentions(db, people)
    theirs = UserMessage.__table__.alias()
    count = select(func.count()).where(
        id_in(db, theirs.c.user_id, people),
        theirs.c.message_id == Message.id,
        theirs.c.flags.op("&")(MENTIONED) != 0,
    )
    return count.scalar_subquery() == len(people)
