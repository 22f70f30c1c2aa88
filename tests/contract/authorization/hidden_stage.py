"""The stage of "hidden equals absent", with additional objects that some actors must not know.

Hidden objects have ids and names that occur nowhere else, so that they can be replaced in a
response by those of the absent object.
"""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.identity.actors import find_realm
from models.chat.identity.roles import EmailVisibility, Role
from models.chat.people.users import create_user
from models.chat.tables import Channel, ChannelFolder, ProfileValue, RealmEmoji
from specd.db import Clock, Database
from tests.contract.authorization.chat_stage import HOST, ChatStage, members
from tests.support.chat.app import ChatClient, SentFile
from tests.support.chat.channels import make_channel, subscribe
from tests.support.chat.people import KEYS, Cast, Member
from tests.support.chat.queues import open_queue_of

FIRST, STEP, BEYOND, AFTER = 7_000_000, 10_000, 1_000_000, 9_500_000
"""Ids of hidden objects begin at FIRST, with a STEP between tables. Absent ids are at the distance
BEYOND, and new objects of requests come AFTER."""

INSIDE = ("guest", "restricted guest", "member", "moderator", "administrator", "owner", "bot")
ALL_ACTORS = (*INSIDE, "elsewhere", "nobody")
NO_GUESTS = ("guest", "restricted guest", "elsewhere", "nobody")
OUTSIDERS = (*NO_GUESTS, "member", "moderator", "bot")
"""The actors that must not know a private channel. Administrators may."""
STRANGERS = ("restricted guest", "elsewhere", "nobody")
"""The actors that must not know a user with whom they share no conversation."""
ELSEWHERE = ("elsewhere", "nobody")


@dataclass(frozen=True)
class Hidden:
    """A hidden object, an absent one of the same kind, and the actors that must not know the first.

    `thing` and `absent` have the same length.
    """

    kind: str
    label: str
    thing: Any
    absent: Any
    unknown_to: tuple[str, ...]

    def as_absent(self, text: str) -> str:
        """Return a text in which the hidden object is replaced by the absent one, in the sent
        notation and in that of keys.
        """
        hidden, absent = str(self.thing), str(self.absent)
        return text.replace(hidden, absent).replace(hidden.casefold(), absent.casefold())


@dataclass(frozen=True)
class HiddenStage:
    """`open`: guests know all users. `restricted`: guests know only users with whom they share a
    conversation.
    """

    open: ChatStage
    restricted: ChatStage
    hidden: tuple[Hidden, ...]

    def of(self, actor: str) -> tuple[ChatStage, str]:
        """Return the stage of an actor, and the actor's name on it."""
        if actor == "restricted guest":
            return self.restricted, "guest"
        return self.open, actor

    def forget(self) -> None:
        self.open.forget()
        self.restricted.forget()


def prepare(stage: ChatStage, directory: Path) -> HiddenStage:
    file = Path(shutil.copy(stage.file, directory / "hidden.db"))
    _count_from(file, FIRST, STEP)
    database = Database(f"sqlite:///{file}")
    stage.app.play(database, stage.clock)
    maker = _Maker(stage, database)
    hidden = tuple(maker.make())
    database.dispose()
    _count_from(file, AFTER, 0)
    restricted = Path(shutil.copy(file, directory / "restricted.db"))
    connection = sqlite3.connect(restricted)
    connection.execute("UPDATE realm SET can_access_all_users_group = members_group_id")
    connection.commit()
    connection.close()
    things = {**stage.things, **maker.things}
    return HiddenStage(
        replace(stage, file=file, things=things, _databases={}, _clean=set()),
        replace(stage, file=restricted, things=things, _databases={}, _clean=set()),
        hidden,
    )


def _count_from(file: Path, first: int, step: int) -> None:
    """Set the ids of all tables to continue from other numbers."""
    connection = sqlite3.connect(file)
    made = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'")
    numbers = [(name, first + at * step) for at, (name,) in enumerate(made.fetchall())]
    connection.execute("DELETE FROM sqlite_sequence")
    connection.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", numbers)
    connection.commit()
    connection.close()


class _Maker:
    """Creates the hidden objects. `things` contains additional objects for requests."""

    def __init__(self, stage: ChatStage, database: Database) -> None:
        self.app, self.cast, self.clock = stage.app, stage.cast, stage.clock
        self.database = database
        self.tomorrow = stage.things["tomorrow"]
        self.things: dict[str, Any] = {}

    def ask(self, who: Member, method: str, path: str, **parameters: Any) -> dict[str, Any]:
        answer = ChatClient(self.app, HOST, who).call(method, path, parameters)
        assert answer["result"] == "success", answer
        return answer

    def make(self) -> Iterator[Hidden]:
        people = self.database.run(lambda s: _make_people(s, self.cast, self.clock))
        yorick = people[0]
        for who, is_veiled in zip(people, (False, False, True), strict=True):
            yield from _names_of(who, is_veiled)
        channels = self.database.run(lambda s: _make_channels(s, self.cast, yorick))
        yield from self._messages(yorick, channels)
        for name, channel_id in channels.items():
            if name != "vault":
                unknown_to = NO_GUESTS if name == "Zq Yards Gone" else OUTSIDERS
                yield Hidden("channel id", name, channel_id, channel_id + BEYOND, unknown_to)
                for spelled in (name, name.upper()):
                    absent = spelled.replace("Gone", "None").replace("GONE", "NONE")
                    yield Hidden("channel name", spelled, spelled, absent, unknown_to)
        vault = channels["vault"]
        actors = [who for name, who in members(self.cast).items() if name != "deactivated"]
        self.database.run(lambda s: subscribe(s, vault, *actors))
        self.database.run(lambda s: _archive(s, channels["Zq Crypt Gone"]))
        attic = channels["Zq Attic Gone"]
        holder = self.database.run(lambda s: s.get_one(Channel, attic).can_administer_channel_group)
        self.things |= {"vault": vault}
        yield _number("group id", "with a setting", holder, ALL_ACTORS)
        # A bot may know everything that its owner, who has sent messages there, may know.
        others = tuple(actor for actor in ALL_ACTORS if actor != "bot")
        yield Hidden("topic", "before the actor joined", "zq skull gone", "zq skull none", others)
        yield from self._own_things(yorick)
        yield from self._things_of_all()
        self._things_of_yorick(yorick)

    def _messages(self, yorick: Member, channels: dict[str, int]) -> Iterator[Hidden]:
        def say(**to: Any) -> int:
            who = self.cast.hamlet if to["to"] == channels["vault"] else yorick
            sent = self.ask(who, "POST", "/messages", content="Zq alas", **to)
            return int(sent["id"])

        topic = "zq skull gone"
        for label, to, unknown_to in (
            ("in a private channel", channels["Zq Attic Gone"], ALL_ACTORS),
            ("in an archived channel", channels["Zq Crypt Gone"], ALL_ACTORS),
            ("in a public channel", channels["Zq Yards Gone"], NO_GUESTS),
            ("before the actor joined", channels["vault"], ALL_ACTORS),
        ):
            yield _number("message", label, say(type="channel", to=to, topic=topic), unknown_to)
        direct = say(type="direct", to=[yorick.id])
        yield _number("message", "between others", direct, ALL_ACTORS)

    def _own_things(self, yorick: Member) -> Iterator[Hidden]:
        later = self.ask(
            yorick, "POST", "/scheduled_messages", type="direct", to=[yorick.id], content="Later",
            scheduled_delivery_timestamp=self.tomorrow,
        )  # fmt: skip
        yield _number("scheduled message", "", later["scheduled_message_id"], ALL_ACTORS)
        form = {"type": "direct", "to": [yorick.id], "content": "Words"}
        remind = {"message_id": self.ask(yorick, "POST", "/messages", **form)["id"]}
        remind["scheduled_delivery_timestamp"] = self.tomorrow
        reminder = self.ask(yorick, "POST", "/reminders", **remind)["reminder_id"]
        yield _number("reminder", "", reminder, ALL_ACTORS)
        unsent = {"type": "", "to": [], "topic": "", "content": "Zq"}
        [draft] = self.ask(yorick, "POST", "/drafts", drafts=[unsent])["ids"]
        yield _number("draft", "", draft, ALL_ACTORS)
        snippet = self.ask(yorick, "POST", "/saved_snippets", title="Zq", content="Zq")
        yield _number("saved snippet", "", snippet["saved_snippet_id"], ALL_ACTORS)
        url = self.ask(yorick, "POST", "/user_uploads", file=SentFile("zq.txt"))["url"]
        [file] = self.ask(yorick, "GET", "/attachments")["attachments"]
        yield _number("attachment", "", file["id"], ALL_ACTORS)
        filename = url.rpartition("/")[2]
        yield Hidden("file", "", filename, "0" * 32 + filename[32:], ALL_ACTORS)
        view = {"fragment": "narrow/topic/zq-gone", "is_pinned": True, "name": "Zq"}
        self.ask(yorick, "POST", "/navigation_views", **view)
        other = "narrow/topic/zq-none"
        yield Hidden("navigation view", "", view["fragment"], other, ALL_ACTORS)
        friend = {"invitee_emails": "zq.friend@acme.example", "stream_ids": []}
        self.ask(yorick, "POST", "/invites", **friend)
        [invitation] = self.ask(yorick, "GET", "/invites")["invites"]
        yield _number("invitation", "", invitation["id"], OUTSIDERS)
        device = self.ask(yorick, "POST", "/register_client_device")["device_id"]
        yield _number("device", "", device, ALL_ACTORS)
        kept = self.ask(yorick, "POST", "/users/me/sessions")["session"]["id"]
        yield _number("session", "", kept, ALL_ACTORS)
        queue = self.database.run(lambda s: open_queue_of(s, yorick, self.clock.now()))
        yield Hidden("queue", "", queue, str(uuid.UUID(int=0)), ALL_ACTORS)
        key = "zq-key-gone"
        form = {"type": "direct", "to": [yorick.id], "content": "Once"}
        client = ChatClient(self.app, HOST, yorick)
        client.request("POST", "/messages", form, headers={"Idempotency-Key": key})
        yield Hidden("idempotency key", "", key, "zq-key-none", ALL_ACTORS)

    def _things_of_yorick(self, yorick: Member) -> None:
        own = {"direct_members": [yorick.id], "direct_subgroups": []}
        self.ask(
            yorick, "POST", "/user_groups/create", name="Jesters", description="",
            members=[yorick.id, self.cast.hamlet.id], can_manage_group=own,
        )  # fmt: skip
        self.ask(yorick, "POST", "/users/me/presence", status="active")
        field = self.things["users_field"]
        self.database.run(lambda s: _leave_traces(s, self.cast, self.clock, yorick, field))

    def _things_of_all(self) -> Iterator[Hidden]:
        """Yield objects known to all users of the organization only."""
        owner = self.cast.cordelia
        group = self.ask(
            owner, "POST", "/user_groups/create", name="Zq Choir Gone", description="", members=[]
        )
        yield _number("group id", "", group["group_id"], ELSEWHERE)
        yield Hidden("group name", "", "Zq Choir Gone", "Zq Choir None", ELSEWHERE)
        folder = self.ask(owner, "POST", "/channel_folders/create", name="Zq", description="")
        folder_id = folder["channel_folder_id"]
        self.database.run(lambda s: _renumber(s, folder_id, folder_id + FIRST))
        yield _number("folder", "", folder_id + FIRST, ELSEWHERE)
        field = self.ask(owner, "POST", "/realm/profile_fields", name="Zq", field_type=6)
        self.things["users_field"] = field["id"]
        yield _number("profile field", "", field["id"], ELSEWHERE)
        linked = {"pattern": "Zq(?P<id>[0-9]+)", "url_template": "https://zq.example/{id}"}
        linkifier = self.ask(owner, "POST", "/realm/filters", **linked)
        yield _number("linkifier", "", linkifier["id"], ELSEWHERE)
        play = {"syntax_language": "Zq", "url_template": "https://zq.example/{code}"}
        playground = self.ask(owner, "POST", "/realm/playgrounds", name="Zq", **play)
        yield _number("playground", "", playground["id"], ELSEWHERE)
        domain = {"domain": "zq-gone.example", "allow_subdomains": False}
        self.ask(owner, "POST", "/realm/domains", **domain)
        yield Hidden("domain", "", "zq-gone.example", "zq-none.example", ELSEWHERE)
        export = self.ask(owner, "POST", "/export/realm")["id"]
        yield _number("export", "", export, ELSEWHERE)
        emoji = self.database.run(lambda s: _make_emoji(s, self.cast.realm_id))
        yield _number("emoji code", "", str(emoji), ELSEWHERE)
        yield Hidden("emoji name", "", "zq_gone", "zq_none", ELSEWHERE)


def _leave_traces(session: Session, cast: Cast, clock: Clock, yorick: Member, field: int) -> None:
    """Connect objects that the guest may read with a user that the guest must not know."""
    realm = find_realm(session, cast.realm_id)
    assert realm is not None
    held = {"direct_members": [yorick.id], "direct_subgroups": []}
    parlour = make_channel(
        session, cast, "parlour", subscribers=[cast.polonius, cast.othello],
        can_add_subscribers_group=held,
    )  # fmt: skip
    session.get_one(Channel, parlour).creator_id = yorick.id
    for folder in session.scalars(select(ChannelFolder)):
        folder.creator_id = yorick.id
    create_user(
        session, KEYS, realm=realm, email=f"skull-bot@{HOST}", full_name="Skull", now=clock.now(),
        role=Role.MEMBER, bot_type=1, bot_owner_id=yorick.id,
    )  # fmt: skip
    for who, value in (
        (cast.polonius, f"[{yorick.id}]"),
        (cast.othello, f"[{yorick.id}]"),
        (cast.hamlet, f"[{cast.hamlet.id},{yorick.id}]"),
    ):
        session.add(ProfileValue(user_id=who.id, field_id=field, value=value))


def _renumber(session: Session, folder_id: int, number: int) -> None:
    """Change a folder's id, so that later folders have greater ids."""
    session.get_one(ChannelFolder, folder_id).id = number


def _number(kind: str, label: str, thing: int | str, unknown_to: tuple[str, ...]) -> Hidden:
    assert int(thing) > FIRST, "these digits must be unique in responses"
    return Hidden(kind, label, thing, type(thing)(int(thing) + BEYOND), unknown_to)


def _names_of(who: Member, is_veiled: bool) -> Iterator[Hidden]:
    absent = who.id + BEYOND
    yield Hidden("user id", who.name, who.id, absent, STRANGERS)
    dummy = f"user{who.id}@{HOST}", f"user{absent}@{HOST}"
    yield Hidden("user email", f"{who.name}, dummy", *dummy, STRANGERS)
    yield Hidden("user name", who.name, who.name, who.name.replace("Gone", "None"), STRANGERS)
    real = who.email, who.email.replace("gone", "none")
    yield Hidden("user email", who.name, *real, ALL_ACTORS if is_veiled else STRANGERS)


def _make_people(session: Session, cast: Cast, clock: Clock) -> list[Member]:
    """Create a user, a deactivated user, and a user with a hidden address."""
    realm = find_realm(session, cast.realm_id)
    assert realm is not None
    made = []
    for name, visibility, is_active in (
        ("Zq Yorick Gone", EmailVisibility.EVERYONE, True),
        ("Zq Buried Gone", EmailVisibility.EVERYONE, False),
        ("Zq Veiled Gone", EmailVisibility.NOBODY, True),
    ):
        email = f"{name.lower().replace(' ', '.')}@{HOST}"
        user, key = create_user(
            session, KEYS, realm=realm, email=email, full_name=name, role=Role.MEMBER,
            now=clock.now(),
        )  # fmt: skip
        user.email_address_visibility, user.is_active = visibility, is_active
        made.append(Member(user.id, email, name, user.role, key, HOST))
    return made


def _make_channels(session: Session, cast: Cast, yorick: Member) -> dict[str, int]:
    """Create two private channels, a public one, and one with a history hidden from later
    subscribers.
    """
    own = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
    more: dict[str, dict[str, Any]] = {
        "Zq Attic Gone": {"invite_only": True},
        "Zq Crypt Gone": {"invite_only": True},
        "Zq Yards Gone": {},
        "vault": {
            "invite_only": True,
            "history_public_to_subscribers": False,
            "can_create_topic_group": own,
        },
    }
    return {
        name: make_channel(
            session, cast, name, subscribers=[cast.hamlet if name == "vault" else yorick], **over
        )
        for name, over in more.items()
    }


def _archive(session: Session, channel_id: int) -> None:
    session.get_one(Channel, channel_id).is_archived = True


def _make_emoji(session: Session, realm_id: int) -> int:
    made = RealmEmoji(realm_id=realm_id, name="zq_gone", source_url="/zq.png")
    session.add(made)
    session.flush()
    return made.id
