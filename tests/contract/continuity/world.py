"""The objects of a random history: the present organization, its users, and a random generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy import text

from specd.db import Database
from tests.support.chat.people import Cast, Member
from tests.support.frozen_clock import FrozenClock

NAMES = ("Elsinore", "Wittenberg", "Norway", "ramparts", "chapel", "ENGLAND")
TOPICS = ("ghost", "Ghost", "players", "swords", "")
WORDS = ("Words, words.", "To be", "Who's there?", "The rest is silence.", "Remember me.")


class Nothing(Exception):
    """There is no object to act on at present."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request of a user. `after` updates the world after a success."""

    by: Member
    method: str
    path: str
    form: Mapping[str, Any]
    after: Callable[[dict[str, Any]], None] | None = None


class World:
    """The organization. `members` are by name, and `rng` makes all random choices."""

    def __init__(self, database: Database, cast: Cast, clock: FrozenClock, rng: Random) -> None:
        self.database, self.cast, self.clock, self.rng = database, cast, clock, rng
        self.members = {member.name.lower(): member for member in cast.acme}
        self.made = 0

    # --- who --------------------------------------------------------------------------------------

    def member_among(self, *names: str) -> Member:
        return self.members[self.rng.choice(names)]

    def random_member(self) -> Member:
        """Return a user who stays in the organization."""
        return self.member_among(
            "cordelia", "iago", "prospero", "hamlet", "othello", "polonius", "reminder"
        )

    def person(self) -> Member:
        return self.member_among("cordelia", "iago", "prospero", "hamlet", "othello", "polonius")

    def administrator(self) -> Member:
        return self.member_among("cordelia", "cordelia", "iago")

    # --- what -------------------------------------------------------------------------------------

    def rows(self, sql: str, **values: Any) -> list[Any]:
        """Return rows of the organization `:realm`, in a fixed order."""
        with self.database.reading() as reader:
            values = {"realm": self.cast.realm_id, **values}
            return list(reader.execute(text(sql), values).all())

    def row(self, sql: str, **values: Any) -> Any:
        """Return a random row. Raises `Nothing` if there are none."""
        found = self.rows(sql, **values)
        if not found:
            raise Nothing
        return self.rng.choice(found)

    def channel(self) -> Any:
        return self.row("SELECT id, name FROM channel WHERE realm_id = :realm ORDER BY id")

    def user_id(self) -> int:
        """Return the id of any user, active or not, except the organization's bot."""
        return int(
            self.row(
                'SELECT id FROM "user" WHERE realm_id = :realm AND id <> :bot ORDER BY id',
                bot=self.cast.notification_bot_id,
            ).id
        )

    def message(self) -> Any:
        """Return one of the newest thirty messages."""
        return self.row(
            "SELECT id, sender_id, channel_id, topic FROM message"
            " WHERE realm_id = :realm ORDER BY id DESC LIMIT 30"
        )

    def message_of(self, member: Member) -> Any:
        """Return a message of which the user has a copy."""
        return self.row(
            "SELECT m.id, m.channel_id, m.topic FROM message m JOIN user_message c"
            " ON c.message_id = m.id WHERE c.user_id = :member ORDER BY m.id DESC LIMIT 30",
            member=member.id,
        )

    def author_of(self, message: Any) -> Member:
        """Return the sender if they can call, or a random user."""
        try:
            return self.member(message.sender_id)
        except Nothing:
            return self.random_member()

    def member(self, user_id: int) -> Member:
        """Return the user with the id. Raises `Nothing` if that user cannot call."""
        for member in self.members.values():
            if member.id == user_id:
                return member
        raise Nothing

    # --- chance -----------------------------------------------------------------------------------

    def number(self) -> int:
        """Return a new number each time."""
        self.made += 1
        return self.made

    def flip(self, likelihood: float = 0.5) -> bool:
        return self.rng.random() < likelihood

    def pick(self, *values: Any) -> Any:
        return self.rng.choice(values)

    def words(self) -> str:
        """Return a text, often with a mention of a user or a wildcard."""
        name = self.random_member().name
        groups = self.rows(
            "SELECT name FROM user_group WHERE realm_id = :realm AND kind = 'named' ORDER BY id"
        )
        if groups and self.flip(0.2):
            return f"{self.pick(*WORDS)} {self.number()} @*{self.pick(*groups).name}*"
        tail = self.pick("", "", f" @**{name}**", " @**all**", " @**topic**", f" @_**{name}**")
        return f"{self.pick(*WORDS)} {self.number()}{tail}"

    def topic(self) -> str:
        return str(self.pick(*TOPICS))

    def group(self) -> Any:
        """Return a value of a setting that contains a group: usually a system group, or users."""
        if self.flip(0.3):
            return {"direct_members": [self.user_id()], "direct_subgroups": []}
        return self.row(
            "SELECT id FROM user_group WHERE realm_id = :realm AND kind = 'system'"
            " AND name <> 'role:internet' ORDER BY id"
        ).id


def call(by: Member, method: str, path: str, /, **form: Any) -> Call:
    return Call(by=by, method=method, path=path, form=form)
