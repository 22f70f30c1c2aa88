"""Narrows: a client's filter as conditions on messages and on the reader's copies.

`models.chat.reading.ranges` reads the messages for the result of `build_narrow`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from models.chat.access.channels import ChannelView, has_content_access
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.messages.access import access_message
from models.chat.messages.conversations import find_conversations
from models.chat.messages.errors import BadNarrow, InvalidMessage
from models.chat.messages.words import ParsedQuery, parse_query
from models.chat.reading import parts
from models.chat.reading.operands import NamedChannels, NamedUsers
from models.chat.reading.parts import Part
from models.chat.reading.terms import NAMES_PEOPLE, Operand, Term, parse_terms
from models.chat.reading.together import SMALLEST_GROUP, CollectedTerms, shared_with
from models.chat.topics.names import NO_TOPIC
from models.dialects import INT_MAX
from models.json import Json
from specd.db import Db

# These are literal texts, because partial indexes are matched by text. Each has its negation.
_STARRED = (
    "EXISTS (SELECT 1 FROM starred_message AS star"
    " WHERE star.user_id = user_message.user_id AND star.message_id = user_message.message_id)"
)
UNREAD = "user_message.flags & 1 = 0"
_BY_FLAG: dict[str, tuple[str, str]] = {
    "unread": (UNREAD, "user_message.flags & 1 <> 0"),
    "starred": (_STARRED, f"NOT {_STARRED}"),
    "mentioned": ("user_message.flags & 120 <> 0", "user_message.flags & 120 = 0"),
    "alerted": ("user_message.flags & 512 <> 0", "user_message.flags & 512 = 0"),
    "dm": ("user_message.flags & 2048 <> 0", "user_message.flags & 2048 = 0"),
    "private": ("user_message.flags & 2048 <> 0", "user_message.flags & 2048 = 0"),
}


@dataclass(slots=True)
class Narrow:
    """The conditions of a narrow.

    `messages` are conditions on `message`, and `copies` conditions on the reader's `user_message`,
    as SQL. `values` are the values by their names in the conditions, except those of the reader
    (`reading_as`). `with_history` includes messages without a copy, because the terms allow only
    channels that the reader may read. `selective` means that an index finds few messages by the
    conditions on messages, and `by_copies` the same for conditions on copies. `by_stars` means that
    only starred messages match.
    """

    messages: list[Part] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)
    with_history: bool = False
    selective: bool = False
    by_copies: bool = False
    by_stars: bool = False
    searched: list[ParsedQuery] = field(default_factory=list)

    def value(self, value: object) -> str:
        """Store a value of a condition, and return its name."""
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return name


def message_id_of(operand: Operand, operator: str) -> int:
    """Return the id of a message in an operand. Raise `BadNarrow`."""
    if isinstance(operand, str) and re.fullmatch(r"[0-9]{1,10}", operand):
        operand = int(operand)
    if not isinstance(operand, int) or not 0 <= operand <= INT_MAX:
        raise BadNarrow(desc=f"Invalid '{operator}' operator")
    return operand


class Builder:
    """Collects the conditions of a narrow, with one method per operator."""

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
        build: Callable[[Operand, bool], Part | None] = getattr(self, method)
        part = build(term.operand, term.negated)
        if part is not None:
            self.narrow.messages.append(replace(part, negated=term.negated))

    def _of(self, value: object) -> tuple[str]:
        return (self.narrow.value(value),)

    def _selective(self, negated: bool) -> None:
        self.narrow.selective = self.narrow.selective or not negated

    # --- place --------------------------------------------------------------------------------

    def by_channel(self, operand: int | str, negated: bool) -> Part:
        channel = self.named_channels.access(operand)
        self._selective(negated)
        if not negated:
            self.channels.append(channel)
        return Part(parts.in_channel, self._of(channel.id), is_nullable=True)

    def by_channels(self, operand: str, negated: bool) -> Part:
        if operand not in parts.CHANNELS:
            raise BadNarrow(desc=f"unknown channels operand {operand}")
        return Part(parts.in_channels, (operand,), is_nullable=True)

    def by_topic(self, operand: str, negated: bool) -> Part:
        topic = operand.strip()
        empty = self.actor.realm.empty_topic_display_name
        if topic == NO_TOPIC or key_of(topic) == key_of(empty):
            topic = ""
        self._selective(negated)
        return Part(parts.in_topic, self._of(key_of(topic)))

    def by_conversation(self, operand: int, negated: bool) -> Part:
        self._selective(negated)
        return Part(parts.in_conversation, self._of(operand))

    def by_dm(self, operand: Operand, negated: bool) -> Part:
        people = {self.actor.id, *self.people.access(operand)}
        conversation_id = self.conversations.get(frozenset(people), -1)  # -1 if there is none
        self._selective(negated)
        return Part(parts.in_conversation, self._of(conversation_id), is_nullable=True)

    def by_dm_including(self, operand: Operand, negated: bool) -> Part | None:
        return self._among_conversations(operand, negated, self.together.included, least=1)

    def by_group_pm_with(self, operand: Operand, negated: bool) -> Part | None:
        wanted = self.together.grouped
        return self._among_conversations(operand, negated, wanted, least=SMALLEST_GROUP)

    def _among_conversations(
        self, operand: Operand, negated: bool, wanted: set[int], *, least: int
    ) -> Part | None:
        self._selective(negated)
        people = self.people.access(operand)
        if not negated:
            wanted.update(people)
            return None
        return shared_with(self.narrow.value, people, least=least)

    # --- people -------------------------------------------------------------------------------

    def by_sender(self, operand: Operand, negated: bool) -> Part:
        self._selective(negated)
        return Part(parts.from_sender, self._of(self._person(operand)))

    def by_mentions(self, operand: Operand, negated: bool) -> None:
        together = self.together
        (together.unmentioned if negated else together.mentioned).add(self._person(operand))

    def _person(self, operand: Operand) -> int:
        user_ids = [] if isinstance(operand, list) else self.people.access(operand)
        if len(user_ids) != 1:
            raise BadNarrow(desc=f"unknown user {operand}")
        return user_ids[0]

    # --- content and flags --------------------------------------------------------------------

    def by_is(self, operand: str, negated: bool) -> Part | None:
        if operand in _BY_FLAG:
            self.narrow.by_copies |= not negated
            self.narrow.by_stars |= operand == "starred" and not negated
            self.narrow.copies.append(_BY_FLAG[operand][negated])
            return None
        if operand not in parts.KINDS:
            raise BadNarrow(desc=f"unknown 'is' operand {operand}")
        return Part(parts.KINDS[operand])

    def by_has(self, operand: str, negated: bool) -> Part:
        if operand not in parts.CONTENTS:
            raise BadNarrow(desc=f"unknown 'has' operand {operand}")
        return Part(parts.CONTENTS[operand])

    def by_in(self, operand: str, negated: bool) -> Part | None:
        match operand:
            case "home":
                return Part(parts.at_home)
            case "all":
                return None
        raise BadNarrow(desc=f"unknown 'in' operand {operand}")

    def by_id(self, operand: Operand, negated: bool) -> Part:
        self._selective(negated)
        return Part(parts.with_id, self._of(message_id_of(operand, "id")))

    def by_near(self, operand: Operand, negated: bool) -> None:
        """Add no condition, because the term is only a hint for the client's anchor."""

    def by_search(self, operand: str, negated: bool) -> None:
        self._selective(negated)
        queries = self.together.excluded if negated else self.together.searched
        queries.append(parse_query(operand))


def build_narrow(db: Db, actor: Actor, narrow: Sequence[Json]) -> Narrow:
    """Return the conditions of a narrow in wire form. Raise `BadNarrow`, `InvalidNarrow`.

    For any number of terms, one statement each reads users, channels and conversations, two run
    searches, and the result has few subqueries.
    """
    terms = _resolve_with(db, actor, parse_terms(list(narrow)))
    builder = Builder(db, actor, terms)
    for term in terms:
        builder.add(term)
    builder.narrow.messages += builder.together.parts(db, builder.narrow.value)
    builder.narrow.searched = builder.together.searched
    builder.narrow.with_history = _includes_history(builder, actor, terms)
    return builder.narrow


def _includes_history(builder: Builder, actor: Actor, terms: Sequence[Term]) -> bool:
    """Return whether the terms select channels whose history the reader may read, and no term
    depends on copies.
    """
    if any(
        term.operator == "is" and term.operand not in ("resolved", "followed", "muted")
        for term in terms
    ):
        return False
    if any(
        term.operator == "channels"
        and not term.negated
        and term.operand in ("public", "web-public")
        for term in terms
    ):
        return not actor.is_guest
    return bool(builder.channels) and all(
        not channel.has_protected_history and has_content_access(builder.db, actor, channel)
        for channel in builder.channels
    )


def _resolve_with(db: Db, actor: Actor, terms: list[Term]) -> list[Term]:
    """Replace `with`, which contains a message id, and terms of a place by terms of the message's
    place.
    """
    named = [term for term in terms if term.operator == "with"]
    if not named:
        return terms
    if len(named) > 1 or named[0].negated:
        raise BadNarrow(desc="Duplicate 'with' operators.")
    rest = [term for term in terms if term.operator != "with"]
    message_id = message_id_of(named[0].operand, "with")
    try:
        message = access_message(db, actor, message_id)
    except InvalidMessage:
        if any(term.is_channel or term.is_direct for term in rest):
            return rest
        raise BadNarrow(desc="Invalid 'with' operator") from None
    rest = [
        term
        for term in rest
        if term.negated or not (term.operator in ("channel", "topic") or term.is_direct)
    ]
    if message.channel_id is not None:
        return [*rest, Term("channel", message.channel_id), Term("topic", message.topic)]
    assert message.conversation_id is not None
    return [*rest, Term("_conversation", message.conversation_id)]
