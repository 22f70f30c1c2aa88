"""Quotas hold in long random histories of creating, deleting, giving away, deactivating,
reactivating, archiving and changing roles.

After every step the stored rows are counted independently of the table of quotas.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import Select, func, literal, select, union_all, update
from sqlalchemy.orm import Session

from models.chat import tables
from models.chat.accounts.key_renewal import renew_key
from models.chat.common import quotas
from models.chat.common.quotas import Quota
from models.chat.identity.roles import Role
from models.chat.organization.realms import access_realm_by_id
from models.chat.tables import Realm, User
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.channels import make_channel
from tests.support.chat.people import KEYS, Cast, Member
from tests.support.chat.quotas import QUOTAS
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import PIXEL

MOST = 2
STEPS = 200
MESSAGES = 2
DAY = timedelta(days=1)
_SCHEDULED = tables.ScheduledMessage
STORED: dict[Quota, Select[*tuple[Any, ...]]] = {
    quotas.DEVICES: select(tables.ClientDevice.user_id),
    quotas.STORED_KEYS: select(tables.BotStorage.user_id),
    quotas.SCHEDULED_MESSAGES: select(_SCHEDULED.sender_id).where(
        _SCHEDULED.target_message_id.is_(None)
    ),
    quotas.REMINDERS: select(_SCHEDULED.sender_id).where(_SCHEDULED.target_message_id.is_not(None)),
    quotas.DRAFTS: select(tables.StoredDraft.user_id),
    quotas.SAVED_SNIPPETS: select(tables.SavedSnippet.user_id),
    quotas.ATTACHMENTS: select(tables.Attachment.owner_id).where(
        tables.Attachment.deleted_at.is_(None)
    ),
    quotas.NAVIGATION_VIEWS: select(tables.NavigationView.user_id),
    quotas.ALERT_WORDS: select(tables.AlertWord.user_id),
    quotas.MUTED_USERS: select(tables.MutedUser.user_id),
    quotas.GROUPS: select(tables.UserGroup.creator_id).where(tables.UserGroup.kind == "named"),
    quotas.INVITATIONS: select(tables.Invitation.inviter_id),
    quotas.CHANNELS: select(tables.Channel.creator_id),
    quotas.TOPIC_POLICIES: select(tables.UserTopic.user_id),
    quotas.MESSAGE_EDITS: select(tables.MessageEdit.message_id).where(
        tables.MessageEdit.prev_content.is_not(None)
    ),
    quotas.MESSAGE_MOVES: select(tables.MessageEdit.message_id).where(
        tables.MessageEdit.prev_content.is_(None)
    ),
    quotas.SUBMESSAGES: select(tables.Submessage.message_id),
    quotas.REACTIONS: select(tables.Reaction.message_id),
    quotas.REACTION_EMOJI: select(
        tables.Reaction.message_id, tables.Reaction.reaction_type, tables.Reaction.emoji_code
    ).distinct(),
    quotas.LINKIFIERS: select(tables.Linkifier.realm_id),
    quotas.PLAYGROUNDS: select(tables.Playground.realm_id),
    quotas.PROFILE_FIELDS: select(tables.ProfileField.realm_id),
    quotas.CUSTOM_EMOJI: select(tables.RealmEmoji.realm_id),
    quotas.DOMAINS: select(tables.RealmDomain.realm_id),
    quotas.CHANNEL_FOLDERS: select(tables.ChannelFolder.realm_id),
    quotas.BOTS: select(User.bot_owner_id).where(User.is_active, User.bot_type.is_not(None)),
}
"""The owner of each stored object, including ended ones."""


def _counted(quota: Quota) -> Select[str, int]:
    things = STORED[quota].subquery()
    owner = things.c[0]
    return select(literal(quota.what), func.count()).where(owner.is_not(None)).group_by(owner)


_ALL = union_all(*(_counted(quota) for quota in STORED))
"""The number of objects of each kind and owner."""


class Office:
    """Four users with random actions."""

    def __init__(
        self, nobody: ChatClient, cast: Cast, clock: FrozenClock, database: Database, seed: int
    ) -> None:
        self._chance = random.Random(seed)
        self.cast, self.clock, self._database = cast, clock, database
        self._nobody = nobody
        self._names = self._sent = 0
        self._people: list[Member] = [cast.hamlet, cast.othello, cast.iago, cast.cordelia]
        self._made: list[tuple[int, datetime]] = []
        """Owner and time of each created bot."""
        self.most: dict[str, int] = {quota.what: 0 for quota in QUOTAS}
        """The maximum number of objects of one owner, by kind."""
        all_people = [*self._people, cast.reminder]
        database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=all_people))
        # Topics followed automatically come with a message, which has no quota.
        never = dict.fromkeys(
            (
                "automatically_follow_topics_policy",
                "automatically_unmute_topics_in_muted_streams_policy",
            ),
            4,
        )
        database.run(lambda s: s.execute(update(User).values(never)))
        limits = ("message_content_edit_limit_seconds", "move_messages_within_stream_limit_seconds")
        free = update(Realm).values(dict.fromkeys(limits))
        database.run(lambda s: s.execute(free))

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.clock.advance(seconds=self._chance.choice((1, 1, 1, 60, 40_000)))
            step = self._chance.choice(self.choose(MAKES, MAKES, ENDS))
            step(self, self._nobody.acting_as(self._chance.choice(self._people)))
            self._count()

    def fill(self) -> None:
        """Let the owner create as many objects of every kind as possible."""
        for make in MAKES * (3 * MOST):
            make(self, self._nobody.acting_as(self.cast.cordelia))
        self._count()

    def _count(self) -> None:
        with self._database.reading() as reader:
            for what, count in reader.execute(_ALL):
                self.most[what] = max(self.most[what], count)
        recently = self.clock.now() - DAY
        made = Counter(maker for maker, at in self._made if at > recently)
        self.most[quotas.BOTS.what] = max(self.most[quotas.BOTS.what], *made.values(), 0)

    # --- random choices --------------------------------------------------------------------------

    def name(self) -> str:
        """Return an unused name."""
        self._names += 1
        return f"n{self._names}"

    def choose(self, *things: Any) -> Any:
        return self._chance.choice(things)

    def some(self, column: Any, *conditions: Any) -> Any:
        """Return a value that is stored in the column, or 0 if there is none."""
        with self._database.reading() as reader:
            found = sorted(reader.execute(select(column).where(*conditions)).scalars())
        return self._chance.choice(found) if found else 0

    def someone(self) -> int:
        return int(self._chance.choice(self._people).id)

    def channel(self) -> int:
        """Return a channel that a user created."""
        return int(self.some(tables.Channel.id, tables.Channel.name != "Denmark"))

    def message(self) -> int:
        """Return a message of a user."""
        by = [member.id for member in self._people]
        return int(self.some(tables.Message.id, tables.Message.sender_id.in_(by)))

    def emoji(self) -> str:
        return str(self.choose("octopus", "heart", "tada", "car", "smile", "tree"))

    def soon(self) -> int:
        return int(self.clock.now().timestamp()) + 10**7

    # --- actions of several requests -------------------------------------------------------------

    def make_bot(self, who: ChatClient) -> None:
        made = who.post("/bots", full_name=self.name(), short_name=self.name())
        if made["result"] == "success":
            assert who.member is not None
            self._made.append((who.member.id, self.clock.now()))

    def reactivate(self, who: ChatClient) -> None:
        """Reactivate a user or bot. A user signs in again, with a new key."""
        user_id = self.some(User.id, ~User.is_active, User.id != self.cast.ophelia.id)
        if who.post(f"/users/{user_id}/reactivate")["result"] == "error":
            return
        for place, member in enumerate(self._people):
            if member.id == user_id:
                self._people[place] = self._database.run(partial(_sign_in, member, self))

    def change_role(self, who: ChatClient) -> None:
        role = self.choose(Role.GUEST, Role.MEMBER, Role.MODERATOR, Role.ADMINISTRATOR)
        who.patch(f"/users/{self.cast.othello.id}", role=int(role))

    def send(self, who: ChatClient) -> None:
        if self._sent == MESSAGES:  # so few that each fits into its quotas
            return
        self._sent += 1
        content = "words" if self._sent % 2 else "/poll To be?"
        who.post("/messages", type="channel", to="Denmark", topic=self.topic(), content=content)

    def edit(self, who: ChatClient) -> None:
        message_id = self.message()
        with self._database.reading() as reader:
            sender = select(tables.Message.sender_id).where(tables.Message.id == message_id)
            sender_id = reader.execute(sender).scalar_one_or_none()
        for member in self._people:
            if member.id == sender_id:
                who.acting_as(member).patch(f"/messages/{message_id}", content=self.name())

    def topic(self) -> str:
        return str(self.choose("a", "b", "c", "d"))


def _sign_in(member: Member, office: Office, session: Session) -> Member:
    realm = access_realm_by_id(session, office.cast.realm_id)
    now = office.clock.now()
    key = renew_key(session, KEYS, realm, member.id, actor_id=None, now=now)
    return replace(member, key=key)


Action = Callable[[Office, ChatClient], Any]
MAKES: tuple[Action, ...] = (
    Office.make_bot,
    Office.reactivate,
    Office.send,
    lambda o, who: who.patch(
        f"/bots/{o.some(User.id, User.bot_type.is_not(None))}", bot_owner_id=o.someone()
    ),
    lambda o, who: who.post("/register_client_device"),
    lambda o, who: who.put("/bot_storage", storage={o.name(): "x", o.choose("a", "b"): "y"}),
    lambda o, who: who.post(
        "/scheduled_messages",
        **o.choose(
            {"type": "direct", "to": [o.someone()]},
            {"type": "channel", "to": o.channel(), "topic": o.topic()},
        ),
        content="x",
        scheduled_delivery_timestamp=o.soon(),
    ),
    lambda o, who: who.post(
        "/reminders", message_id=o.message(), scheduled_delivery_timestamp=o.soon()
    ),
    lambda o, who: who.post(
        "/drafts", drafts=[{"type": "", "to": [], "topic": "", "content": "x"}] * o.choose(1, 2)
    ),
    lambda o, who: who.post("/saved_snippets", title=o.name(), content="x"),
    lambda o, who: who.post("/user_uploads", file=SentFile(f"{o.name()}.txt")),
    lambda o, who: who.post(
        "/navigation_views", fragment=f"narrow/topic/{o.name()}", is_pinned=True, name=o.name()
    ),
    lambda o, who: who.post("/users/me/alert_words", alert_words=[o.name(), o.choose("a", "b")]),
    lambda o, who: who.post(
        f"/users/me/muted_users/{o.choose(*(each.id for each in o.cast.acme))}"
    ),
    lambda o, who: who.post(
        "/user_groups/create", name=o.name(), description="", members=[o.someone()]
    ),
    lambda o, who: who.post("/invites/multiuse"),
    lambda o, who: who.post(
        "/invites",
        invitee_emails=",".join(f"{o.name()}@d.example" for _ in range(o.choose(1, 2))),
        stream_ids=[],
    ),
    lambda o, who: who.post(
        "/users/me/subscriptions",
        subscriptions=[{"name": o.name()} for _ in range(o.choose(1, 2))],
    ),
    lambda o, who: who.post(
        "/user_topics", stream_id=o.channel(), topic=o.name(), visibility_policy=o.choose(1, 3)
    ),
    lambda o, who: who.patch(
        "/users/me/subscriptions/muted_topics", stream_id=o.channel(), topic=o.name(), op="add"
    ),
    Office.edit,
    Office.edit,
    lambda o, who: who.patch(
        f"/messages/{o.message()}",
        topic=o.topic(),
        propagate_mode=o.choose("change_one", "change_later", "change_all"),
    ),
    lambda o, who: who.post(
        "/submessage",
        message_id=o.some(tables.Submessage.message_id),
        msg_type="widget",
        content={"type": "new_option", "idx": o.choose(*range(9)), "option": "Yes"},
    ),
    lambda o, who: who.post(f"/messages/{o.message()}/reactions", emoji_name=o.emoji()),
    lambda o, who: who.post("/realm/filters", pattern=o.name(), url_template="https://x"),
    lambda o, who: who.post(
        "/realm/playgrounds", name=o.name(), syntax_language="Go", url_template="https://x/{code}"
    ),
    lambda o, who: who.post("/realm/profile_fields", name=o.name(), field_type=1),
    lambda o, who: who.post(
        f"/realm/emoji/{o.name()}", file=SentFile("skull.png", PIXEL, "image/png")
    ),
    lambda o, who: who.post("/realm/domains", domain=f"{o.name()}.example", allow_subdomains=False),
    lambda o, who: who.post("/channel_folders/create", name=o.name(), description=""),
)
ENDS: tuple[Action, ...] = (
    Office.change_role,
    lambda o, who: who.delete(f"/bots/{o.some(User.id, User.bot_type.is_not(None))}"),
    lambda o, who: who.delete(f"/users/{o.choose(o.cast.hamlet.id, o.cast.othello.id)}"),
    lambda o, who: who.post("/remove_client_device", device_id=o.some(tables.ClientDevice.id)),
    lambda o, who: who.delete("/bot_storage", keys=[o.some(tables.BotStorage.key) or "a"]),
    lambda o, who: who.delete(f"/scheduled_messages/{o.some(_SCHEDULED.id)}"),
    lambda o, who: who.delete(f"/reminders/{o.some(_SCHEDULED.id)}"),
    lambda o, who: who.delete(f"/drafts/{o.some(tables.StoredDraft.id)}"),
    lambda o, who: who.delete(f"/saved_snippets/{o.some(tables.SavedSnippet.id)}"),
    lambda o, who: who.delete(f"/attachments/{o.some(tables.Attachment.id)}"),
    lambda o, who: who.delete(
        f"/navigation_views/{o.some(tables.NavigationView.fragment) or 'none'}"
    ),
    lambda o, who: who.delete(
        "/users/me/alert_words", alert_words=[o.some(tables.AlertWord.word) or "a"]
    ),
    lambda o, who: who.delete(f"/users/me/muted_users/{o.some(tables.MutedUser.muted_user_id)}"),
    lambda o, who: who.post(f"/user_groups/{o.some(tables.UserGroup.id)}/deactivate"),
    lambda o, who: who.patch(f"/user_groups/{o.some(tables.UserGroup.id)}", deactivated=False),
    lambda o, who: who.delete(
        o.choose("/invites/", "/invites/multiuse/") + f"{o.some(tables.Invitation.id)}"
    ),
    lambda o, who: who.delete(f"/streams/{o.channel()}"),
    lambda o, who: who.patch(f"/streams/{o.channel()}", is_archived=False),
    lambda o, who: who.post(
        "/user_topics",
        stream_id=o.channel(),
        topic=o.some(tables.UserTopic.topic) or "a",
        visibility_policy=0,
    ),
    lambda o, who: who.delete(f"/messages/{o.message()}/reactions", emoji_name=o.emoji()),
    lambda o, who: who.delete(f"/realm/filters/{o.some(tables.Linkifier.id)}"),
    lambda o, who: who.delete(f"/realm/playgrounds/{o.some(tables.Playground.id)}"),
    lambda o, who: who.delete(f"/realm/profile_fields/{o.some(tables.ProfileField.id)}"),
    lambda o, who: who.delete(f"/realm/emoji/{o.some(tables.RealmEmoji.name) or 'none'}"),
    lambda o, who: who.delete(f"/realm/domains/{o.some(tables.RealmDomain.domain) or 'none'}"),
    lambda o, who: who.patch(
        f"/channel_folders/{o.some(tables.ChannelFolder.id)}", is_archived=o.choose(True, False)
    ),
)


def test_every_quota_is_counted() -> None:
    assert set(STORED) == set(QUOTAS)


@pytest.mark.parametrize("seed", [1])
def test_quotas_hold_in_every_history(
    seed: int,
    chat_app: ChatApp,
    as_nobody: ChatClient,
    cast: Cast,
    clock: FrozenClock,
    chat_database: Database,
) -> None:
    office = Office(as_nobody, cast, clock, chat_database, seed)
    bounds = dict.fromkeys((quota.setting for quota in QUOTAS), MOST)
    with patch.dict(chat_app.settings.chat_quotas, bounds):
        office.play(STEPS)
        office.fill()
    assert office.most == {quota.what: MOST for quota in QUOTAS}, (
        "each was reached, and none exceeded"
    )
