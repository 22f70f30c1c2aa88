"""The terms of a narrow as conditions on messages and on the reader's own copies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from models.chat.access.channels import ChannelView
from models.chat.identity.actors import Actor
from models.chat.messages.conversations import find_conversations
from models.chat.messages.errors import BadNarrow
from models.chat.messages.words import Sought, parse_query
from models.chat.reading import parts
from models.chat.reading.channels import NamedChannels
from models.chat.reading.parts import Part
from models.chat.reading.people import NamedUsers
from models.chat.reading.terms import NAMES_PEOPLE, Operand, Term
from models.chat.reading.together import SMALLEST_GROUP, CollectedTerms, shared_with
from models.chat.topics.names import NO_TOPIC, key_of
from models.reader import INT_MAX, Db

# Written out, not bound: the partial indexes are found by the same words. Each with its opposite.
_STARRED = (
    "EXISTS (SELECT 1 FROM starred_message AS star"
    " WHERE star.user_id = user_message.user_id AND star.message_id = user_message.message_id)"
)
_BY_FLAG: dict[str, tuple[str, str]] = {
    "unread": ("user_message.flags & 1 = 0", "user_message.flags & 1 <> 0"),
    "starred": (_STARRED, f"NOT {_STARRED}"),
    "mentioned": ("user_message.flags & 120 <> 0", "user_message.flags & 120 = 0"),
    "alerted": ("user_message.flags & 512 <> 0", "user_message.flags & 512 = 0"),
    "dm": ("user_message.flags & 2048 <> 0", "user_message.flags & 2048 = 0"),
    "private": ("user_message.flags & 2048 <> 0", "user_message.flags & 2048 = 0"),
}


@dataclass(slots=True)
class Narrow:
    """What a reader looks for.

    `messages`: conditions on `message`; `copies`: those on the reader's `user_message`, as SQL;
    `values`: by the names that the conditions give them, besides who reads (`reading_as`).
    `with_history`: messages count that the reader has no copy of; the terms have then made sure
    that they may read them. `selective`: the conditions on messages find few, by an index.
    `by_copies`: those on copies do; `by_stars`: the reader has starred what is looked for.
    """

    messages: list[Part] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)
    with_history: bool = False
    selective: bool = False
    by_copies: bool = False
    by_stars: bool = False
    searched: list[Sought] = field(default_factory=list)

    def value(self, value: object) -> str:
        """A name for a value of a condition."""
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return name


def without_reads(narrow: Narrow) -> Narrow:
    """The same narrow, only of what is unread: where a reader left off."""
    return replace(
        narrow,
        copies=[*narrow.copies, _BY_FLAG["unread"][0]],
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
        build: Callable[[Operand, bool], Part | None] = getattr(self, method)
        part = build(term.operand, term.negated)
        if part is not None:
            self.narrow.messages.append(replace(part, negated=term.negated))

    def _of(self, value: object) -> tuple[str]:
        return (self.narrow.value(value),)

    def _selective(self, negated: bool) -> None:
        self.narrow.selective = self.narrow.selective or not negated

    # --- where it stands ----------------------------------------------------------------------

    def by_channel(self, operand: int | str, negated: bool) -> Part:
        channel = self.named_channels.access(operand)
        self._selective(negated)
        if not negated:
            self.channels.append(channel)
        return Part(parts.in_any_channel if negated else parts.in_channel, self._of(channel.id))

    def by_channels(self, operand: str, negated: bool) -> Part:
        if operand not in parts.CHANNELS:
            raise BadNarrow(desc=f"unknown channels operand {operand}")
        return Part(parts.in_some_channels if negated else parts.in_channels, (operand,))

    def by_topic(self, operand: str, negated: bool) -> Part:
        topic = operand.strip()
        empty = self.actor.realm.empty_topic_display_name
        if topic == NO_TOPIC or topic.casefold() == empty.casefold():
            topic = ""
        self._selective(negated)
        return Part(parts.in_topic, self._of(key_of(topic)))

    def by_conversation(self, operand: int, negated: bool) -> Part:
        self._selective(negated)
        return Part(parts.in_conversation, self._of(operand))

    def by_dm(self, operand: Operand, negated: bool) -> Part:
        people = {self.actor.id, *self._people(operand)}
        found = self.conversations.get(frozenset(people))
        self._selective(negated)
        # No conversation has the id -1: nobody ever wrote there.
        make = parts.in_any_conversation if negated else parts.in_conversation
        return Part(make, self._of(found or -1))

    def by_dm_including(self, operand: Operand, negated: bool) -> Part | None:
        return self._among_conversations(operand, negated, self.together.included, least=1)

    def by_group_pm_with(self, operand: Operand, negated: bool) -> Part | None:
        wanted = self.together.grouped
        return self._among_conversations(operand, negated, wanted, least=SMALLEST_GROUP)

    def _among_conversations(
        self, operand: Operand, negated: bool, wanted: set[int], *, least: int
    ) -> Part | None:
        self._selective(negated)
        people = self._people(operand)
        if not negated:
            wanted.update(people)
            return None
        value = self.narrow.value
        return shared_with(value, people, least=least, or_elsewhere=True)

    # --- who ----------------------------------------------------------------------------------

    def by_sender(self, operand: Operand, negated: bool) -> Part:
        self._selective(negated)
        return Part(parts.from_sender, self._of(self._person(operand)))

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
        """Only a hint for where a client puts its anchor."""

    def by_search(self, operand: str, negated: bool) -> None:
        self._selective(negated)
        queries = self.together.excluded if negated else self.together.searched
        queries.append(parse_query(operand))
