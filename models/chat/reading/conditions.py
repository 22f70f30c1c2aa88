"""The terms of a narrow as conditions on messages and on the reader's own copies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import (
    ColumnElement,
    SQLColumnExpression,
    TextClause,
    and_,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    text,
    true,
)

from models.chat.access.channels import ChannelView
from models.chat.identity.actors import Actor
from models.chat.messages.conversations import find_conversations
from models.chat.messages.errors import BadNarrow
from models.chat.reading.channels import NamedChannels
from models.chat.reading.people import NamedUsers
from models.chat.reading.terms import NAMES_PEOPLE, Operand, Term
from models.chat.reading.together import SMALLEST_GROUP, CollectedTerms, shared_conversations
from models.chat.tables import (
    Channel,
    Message,
    Reaction,
    Subscription,
    UserTopic,
)
from models.chat.topics.names import NO_TOPIC, RESOLVED, key_of
from models.chat.topics.visibility import VisibilityPolicy
from models.reader import INT_MAX, Db

Condition = ColumnElement[bool]

# Written out, not bound: the partial indexes are found by the same words. Each with its opposite.
_BY_FLAG: dict[str, tuple[str, str]] = {
    "unread": ("user_message.flags & 1 = 0", "user_message.flags & 1 <> 0"),
    "starred": ("user_message.flags & 2 <> 0", "user_message.flags & 2 = 0"),
    "mentioned": ("user_message.flags & 120 <> 0", "user_message.flags & 120 = 0"),
    "alerted": ("user_message.flags & 512 <> 0", "user_message.flags & 512 = 0"),
    "dm": ("user_message.flags & 2048 <> 0", "user_message.flags & 2048 = 0"),
    "private": ("user_message.flags & 2048 <> 0", "user_message.flags & 2048 = 0"),
}


@dataclass(slots=True)
class Narrow:
    """What a reader looks for.

    `messages`: conditions on `message`; `copies`: conditions on the reader's `user_message`.
    `with_history`: messages count that the reader has no copy of; the terms have then made sure
    that they may read them. `selective`: the conditions on messages find few, by an index.
    `by_copies`: those on copies do.
    """

    messages: list[Condition] = field(default_factory=list)
    copies: list[TextClause] = field(default_factory=list)
    with_history: bool = False
    selective: bool = False
    by_copies: bool = False
    searched: list[str] = field(default_factory=list)


def without_reads(narrow: Narrow) -> Narrow:
    """The same narrow, only of what is unread: where a reader left off."""
    return replace(
        narrow,
        copies=[*narrow.copies, text(_BY_FLAG["unread"][0])],
        with_history=False,
        by_copies=True,
    )


def message_id_of(operand: Operand, operator: str) -> int:
    """The id of a message that an operand names. Raises `BadNarrow`."""
    if isinstance(operand, str) and re.fullmatch(r"[0-9]{1,10}", operand):
        operand = int(operand)
    if not isinstance(operand, int) or not 0 <= operand <= INT_MAX:
        raise BadNarrow(desc=f"Invalid '{operator}' operator")
    return operand


class Builder:
    """Collects the conditions of one narrow. One method per operator."""

    def __init__(self, db: Db, actor: Actor, terms: Sequence[Term]) -> None:
        self.db = db
        self.actor = actor
        self.narrow = Narrow()
        self.channels: list[ChannelView] = []
        self.named_channels = NamedChannels(
            db, actor, [term.operand for term in terms if term.operator == "channel"]
        )
        self.people = NamedUsers(
            db, actor, [term.operand for term in terms if term.operator in NAMES_PEOPLE]
        )
        self.conversations = find_conversations(
            db,
            actor.realm_id,
            [
                {actor.id, *people}
                for term in terms
                if term.operator == "dm" and (people := self.people.find(term.operand))
            ],
        )
        self.together = CollectedTerms()

    def add(self, term: Term) -> None:
        method = "by_" + term.operator.replace("-", "_").lstrip("_")
        build: Callable[[Operand, bool], Condition | None] = getattr(self, method)
        condition = build(term.operand, term.negated)
        if condition is not None:
            self.narrow.messages.append(not_(condition) if term.negated else condition)

    def _selective(self, negated: bool) -> None:
        self.narrow.selective = self.narrow.selective or not negated

    # --- where it stands ----------------------------------------------------------------------

    def by_channel(self, operand: int | str, negated: bool) -> Condition:
        channel = self.named_channels.access(operand)
        self._selective(negated)
        if negated:
            return func.coalesce(Message.channel_id, 0) == channel.id
        self.channels.append(channel)
        return Message.channel_id == channel.id

    def by_channels(self, operand: str, negated: bool) -> Condition:
        which: SQLColumnExpression[bool]
        match operand:
            case "public":
                which = ~Channel.invite_only
            case "web-public":
                which = Channel.is_web_public
            case "archived":
                which = Channel.is_archived
            case _:
                raise BadNarrow(desc=f"unknown channels operand {operand}")
        ids = select(Channel.id).where(Channel.realm_id == self.actor.realm_id, which)
        return (
            func.coalesce(Message.channel_id, 0).in_(ids)
            if negated
            else (Message.channel_id.in_(ids))
        )

    def by_topic(self, operand: str, negated: bool) -> Condition:
        topic = operand.strip()
        empty = self.actor.realm.empty_topic_display_name
        if topic == NO_TOPIC or topic.casefold() == empty.casefold():
            topic = ""
        self._selective(negated)
        return and_(Message.topic_key == key_of(topic), Message.channel_id.is_not(None))

    def by_conversation(self, operand: int, negated: bool) -> Condition:
        self._selective(negated)
        return Message.conversation_id == operand

    def by_dm(self, operand: Operand, negated: bool) -> Condition:
        people = {self.actor.id, *self._people(operand)}
        found = self.conversations.get(frozenset(people))
        self._selective(negated)
        if negated:
            return func.coalesce(Message.conversation_id, 0) == (found or -1)
        return false() if found is None else Message.conversation_id == found

    def by_dm_including(self, operand: Operand, negated: bool) -> Condition | None:
        return self._among_conversations(operand, negated, self.together.included, least=1)

    def by_group_pm_with(self, operand: Operand, negated: bool) -> Condition | None:
        wanted = self.together.grouped
        return self._among_conversations(operand, negated, wanted, least=SMALLEST_GROUP)

    def _among_conversations(
        self, operand: Operand, negated: bool, wanted: set[int], *, least: int
    ) -> Condition | None:
        self._selective(negated)
        people = self._people(operand)
        if not negated:
            wanted.update(people)
            return None
        shared = shared_conversations(self.db, self.actor, people, least=least)
        return func.coalesce(Message.conversation_id, 0).in_(shared)

    # --- who ----------------------------------------------------------------------------------

    def by_sender(self, operand: Operand, negated: bool) -> Condition:
        self._selective(negated)
        return Message.sender_id == self._person(operand)

    def by_mentions(self, operand: Operand, negated: bool) -> None:
        together = self.together
        (together.unmentioned if negated else together.mentioned).add(self._person(operand))

    def _person(self, operand: Operand) -> int:
        if isinstance(operand, list):
            raise BadNarrow(desc=f"unknown user {operand}")
        found = self._people(operand)
        if len(found) != 1:
            raise BadNarrow(desc=f"unknown user {operand}")
        return found[0]

    def _people(self, operand: Operand) -> list[int]:
        return self.people.access(operand)

    # --- what it is ---------------------------------------------------------------------------

    def by_is(self, operand: str, negated: bool) -> Condition | None:
        if operand in _BY_FLAG:
            self.narrow.by_copies |= not negated
            self.narrow.copies.append(text(_BY_FLAG[operand][negated]))
            return None
        match operand:
            case "resolved":
                resolved = func.substr(Message.topic, 1, len(RESOLVED)) == RESOLVED
                return and_(Message.channel_id.is_not(None), resolved)
            case "followed":
                return self._with_policy(VisibilityPolicy.FOLLOWED)
            case "muted":
                return not_(self._home())
            case _:
                raise BadNarrow(desc=f"unknown 'is' operand {operand}")

    def by_has(self, operand: str, negated: bool) -> Condition:
        match operand:
            case "link":
                return Message.has_link.is_(true())
            case "image":
                return Message.has_image.is_(true())
            case "attachment":
                return Message.has_attachment.is_(true())
            case "reaction":
                return exists().where(Reaction.message_id == Message.id)
        raise BadNarrow(desc=f"unknown 'has' operand {operand}")

    def by_in(self, operand: str, negated: bool) -> Condition | None:
        match operand:
            case "home":
                return self._home()
            case "all":
                return None
        raise BadNarrow(desc=f"unknown 'in' operand {operand}")

    def _with_policy(self, *policies: VisibilityPolicy) -> Condition:
        return exists().where(
            UserTopic.user_id == self.actor.id,
            UserTopic.channel_id == Message.channel_id,
            UserTopic.topic_key == Message.topic_key,
            UserTopic.visibility_policy.in_(policies),
        )

    def _home(self) -> Condition:
        """Neither muted itself, nor in a muted channel without being unmuted or followed."""
        in_muted_channel = exists().where(
            Subscription.user_id == self.actor.id,
            Subscription.channel_id == Message.channel_id,
            Subscription.is_active,
            Subscription.is_muted,
        )
        return and_(
            not_(self._with_policy(VisibilityPolicy.MUTED)),
            or_(
                not_(in_muted_channel),
                self._with_policy(VisibilityPolicy.UNMUTED, VisibilityPolicy.FOLLOWED),
            ),
        )

    def by_id(self, operand: Operand, negated: bool) -> Condition:
        self._selective(negated)
        return Message.id == message_id_of(operand, "id")

    def by_near(self, operand: Operand, negated: bool) -> None:
        """Only a hint for where a client puts its anchor."""

    def by_search(self, operand: str, negated: bool) -> None:
        self._selective(negated)
        (self.together.excluded if negated else self.together.searched).append(operand)
