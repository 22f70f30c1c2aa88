"""Everything that users can create without deleting is limited.

Derived from the document and the table.
"""

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import func, select

import settings
import specs
from models.chat.common import quotas
from models.chat.tables import Event
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.quotas import QUOTAS
from tests.support.contract import operations_of
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import PIXEL

MOST = 2


class Maker:
    """Creates the n-th object of a kind, as a user who may do so."""

    def __init__(self, client: ChatClient, cast: Cast, clock: FrozenClock, database: Database):
        self.member = client.acting_as(cast.hamlet)
        self.admin, self.owner = client.acting_as(cast.iago), client.acting_as(cast.cordelia)
        self.soon = int(clock.now().timestamp()) + 60
        self.channel = database.run(
            lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet])
        )
        self.hamlet = cast.hamlet.id
        self.others = [one.id for one in (cast.cordelia, cast.iago, cast.othello)]
        self.message: int | None = None
        self.named: list[int] = []

    def device(self, n: int) -> Any:
        return self.member.post("/register_client_device")

    def scheduled_message(self, n: int) -> Any:
        return self.member.post(
            "/scheduled_messages", type="direct", to=[self.hamlet], content=f"{n}",
            scheduled_delivery_timestamp=self.soon,
        )  # fmt: skip

    def reminder(self, n: int) -> Any:
        if self.message is None:
            said = {"type": "direct", "to": [self.hamlet], "content": "x"}
            self.message = self.member.post("/messages", **said)["id"]
        return self.member.post(
            "/reminders", message_id=self.message, scheduled_delivery_timestamp=self.soon
        )

    def submessage(self, n: int) -> Any:
        if self.message is None:
            poll = {"type": "direct", "to": [self.hamlet], "content": "/poll To be?"}
            sent = self.member.post("/messages", **poll)  # which creates the first option
            self.message = sent["id"]
            return sent
        option = {"type": "new_option", "idx": n, "option": "Yes"}
        form = {"message_id": self.message, "msg_type": "widget", "content": option}
        return self.member.post("/submessage", **form)

    def alert_word(self, n: int) -> Any:
        return self.member.post("/users/me/alert_words", alert_words=[f"w{n}"])

    def snippet(self, n: int) -> Any:
        return self.member.post("/saved_snippets", title=f"{n}", content="x")

    def attachment(self, n: int) -> Any:
        answer = self.member.post("/user_uploads", file=SentFile(f"{n}.txt"))
        return {name: answer[name] for name in answer if name not in ("uri", "url", "filename")}

    def bot(self, n: int) -> Any:
        return self.admin.post("/bots", full_name=f"Bot {n}", short_name=f"b{n}")

    def stored(self, n: int) -> Any:
        return self.member.put("/bot_storage", storage={f"k{n}": "x"})

    def navigation_view(self, n: int) -> Any:
        return self.member.post(
            "/navigation_views", fragment=f"narrow/topic/{n}", is_pinned=True, name=f"{n}"
        )

    def muted_user(self, n: int) -> Any:
        return self.member.post(f"/users/me/muted_users/{self.others[n]}")

    def draft(self, n: int) -> Any:
        draft = {"type": "", "to": [], "topic": "", "content": f"{n}"}
        return self.member.post("/drafts", drafts=[draft])

    def group(self, n: int) -> Any:
        return self.member.post(
            "/user_groups/create", name=f"g{n}", description="", members=[self.hamlet]
        )

    def invitation_link(self, n: int) -> Any:
        return self.admin.post("/invites/multiuse")

    def channels(self, n: int) -> Any:
        return self.member.post("/users/me/subscriptions", subscriptions=[{"name": f"c{n}"}])

    def channel_of_one(self, n: int) -> Any:
        return self.member.post("/channels/create", name=f"c{n}", subscribers=[self.hamlet])

    def channels_together(self, n: int) -> Any:
        return self.member.patch("/users/me/subscriptions", add=[{"name": f"c{n}"}])

    def topic_policy(self, n: int) -> Any:
        return self.member.post(
            "/user_topics", stream_id=self.channel, topic=f"t{n}", visibility_policy=1
        )

    def muted_topic(self, n: int) -> Any:
        return self.member.patch(
            "/users/me/subscriptions/muted_topics", stream_id=self.channel, topic=f"t{n}", op="add"
        )

    def edit(self, n: int) -> Any:
        if self.message is None:
            self.message = self.member.post(
                "/messages", type="direct", to=[self.hamlet], content="x"
            )["id"]
        return self.member.patch(f"/messages/{self.message}", content=f"{n}")

    def move(self, n: int) -> Any:
        """Move the first message, each time together with a message that selects the topic."""
        said = {"type": "channel", "to": "Denmark", "content": "x"}
        if not self.named:
            self.member.post("/messages", **said, topic="t0")
            sent = [self.member.post("/messages", **said, topic=f"t{place}") for place in range(3)]
            self.named = [each["id"] for each in sent]
        return self.member.patch(
            f"/messages/{self.named[n]}", topic=f"t{n + 1}", propagate_mode="change_all",
            send_notification_to_new_thread=False,
        )  # fmt: skip

    def reaction(self, n: int) -> Any:
        by = (self.member, self.admin, self.owner)[n]
        return self._react(by, "octopus")

    def reaction_emoji(self, n: int) -> Any:
        return self._react(self.member, ("octopus", "heart", "tada")[n])

    def _react(self, by: ChatClient, emoji: str) -> Any:
        if self.message is None:
            self.message = self.member.post(
                "/messages", type="channel", to="Denmark", topic="t", content="x"
            )["id"]
        return by.post(f"/messages/{self.message}/reactions", emoji_name=emoji)

    def linkifier(self, n: int) -> Any:
        return self.admin.post("/realm/filters", pattern=f"a{n}", url_template="https://x")

    def playground(self, n: int) -> Any:
        return self.admin.post(
            "/realm/playgrounds",
            name=f"p{n}", syntax_language="Python", url_template="https://x/{code}",
        )  # fmt: skip

    def profile_field(self, n: int) -> Any:
        return self.admin.post("/realm/profile_fields", name=f"f{n}", field_type=1)

    def custom_emoji(self, n: int) -> Any:
        picture = SentFile("skull.png", PIXEL, "image/png")
        return self.member.post(f"/realm/emoji/e{n}", file=picture)

    def domain(self, n: int) -> Any:
        return self.owner.post("/realm/domains", domain=f"d{n}.example", allow_subdomains=False)

    def folder(self, n: int) -> Any:
        return self.admin.post("/channel_folders/create", name=f"f{n}", description="")


CASES: dict[str, tuple[quotas.Quota, Callable[[Maker, int], Any]]] = {
    "add_reaction": (quotas.REACTIONS, Maker.reaction),
    "add_reaction, other emoji": (quotas.REACTION_EMOJI, Maker.reaction_emoji),
    "register_client_device": (quotas.DEVICES, Maker.device),
    "create_scheduled_message": (quotas.SCHEDULED_MESSAGES, Maker.scheduled_message),
    "create_reminder": (quotas.REMINDERS, Maker.reminder),
    "add_submessage": (quotas.SUBMESSAGES, Maker.submessage),
    "add_alert_words": (quotas.ALERT_WORDS, Maker.alert_word),
    "create_saved_snippet": (quotas.SAVED_SNIPPETS, Maker.snippet),
    "upload_file": (quotas.ATTACHMENTS, Maker.attachment),
    "create_bot": (quotas.BOTS, Maker.bot),
    "update_bot_storage": (quotas.STORED_KEYS, Maker.stored),
    "add_navigation_view": (quotas.NAVIGATION_VIEWS, Maker.navigation_view),
    "mute_user": (quotas.MUTED_USERS, Maker.muted_user),
    "create_drafts": (quotas.DRAFTS, Maker.draft),
    "create_user_group": (quotas.GROUPS, Maker.group),
    "subscribe": (quotas.CHANNELS, Maker.channels),
    "create_channel": (quotas.CHANNELS, Maker.channel_of_one),
    "update_subscriptions": (quotas.CHANNELS, Maker.channels_together),
    "set_user_topic": (quotas.TOPIC_POLICIES, Maker.topic_policy),
    "update_muted_topic": (quotas.TOPIC_POLICIES, Maker.muted_topic),
    "update_message": (quotas.MESSAGE_EDITS, Maker.edit),
    "update_message, topic": (quotas.MESSAGE_MOVES, Maker.move),
    "create_invitation_link": (quotas.INVITATIONS, Maker.invitation_link),
    "create_linkifier": (quotas.LINKIFIERS, Maker.linkifier),
    "create_playground": (quotas.PLAYGROUNDS, Maker.playground),
    "create_profile_field": (quotas.PROFILE_FIELDS, Maker.profile_field),
    "create_custom_emoji": (quotas.CUSTOM_EMOJI, Maker.custom_emoji),
    "create_domain": (quotas.DOMAINS, Maker.domain),
    "create_channel_folder": (quotas.CHANNEL_FOLDERS, Maker.folder),
}
"""Quota and maker of each operation; a second word distinguishes several makers."""

BOUNDED_OTHERWISE = {
    "add_default_channel": "one of the existing channels",
    "create_user": "only with permission by the operator",
    "create_export": "a number per week",
    "create_video_call": "kept by the vendor",
    "create_zoom_call": "kept by the vendor",
    "register_push_device": "one for each device",
    "register_queue": "it replaces the queue that was idle longest",
    "send_message": "a rate limit, because storing messages is the purpose",
}
MAKING = ("create_", "register_", "add_", "send_message", "subscribe", "update_subscriptions")


def test_every_creating_operation_is_limited() -> None:
    making = {name for name in operations_of(specs.load("chat")) if name.startswith(MAKING)}
    assert making <= set(CASES) | set(BOUNDED_OTHERWISE)
    assert {quota for quota, _ in CASES.values()} == set(QUOTAS)


def test_each_quota_has_a_setting() -> None:
    for quota in QUOTAS:
        assert settings.Settings().chat_quotas[quota.setting] >= 100


@pytest.fixture
def few(chat_app: ChatApp) -> Iterator[None]:
    """An application with very low quotas."""
    bounds = dict.fromkeys((quota.setting for quota in QUOTAS), MOST)
    with patch.dict(chat_app.settings.chat_quotas, bounds):
        yield


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("operation", CASES)
def test_excess_object_is_rejected(
    operation: str,
    as_nobody: ChatClient,
    cast: Cast,
    clock: FrozenClock,
    chat_database: Database,
) -> None:
    quota, make = CASES[operation]
    maker = Maker(as_nobody, cast, clock, chat_database)
    for n in range(MOST):
        assert make(maker, n)["result"] == "success"
    before = _events(chat_database)
    assert make(maker, MOST) == bad(f"Too many {quota.what} (limit: {MOST}).")
    assert _events(chat_database) == before, "no event was appended"


def give_bot_away(maker: Maker, made: Any, cast: Cast) -> Any:
    return maker.admin.patch(f"/bots/{made['user_id']}", bot_owner_id=cast.othello.id)


def end_bot(maker: Maker, made: Any, cast: Cast) -> Any:
    return maker.admin.delete(f"/bots/{made['user_id']}")


def give_bot_away_and_end_it(maker: Maker, made: Any, cast: Cast) -> Any:
    give_bot_away(maker, made, cast)
    return end_bot(maker, made, cast)


def end_group(maker: Maker, made: Any, cast: Cast) -> Any:
    return maker.member.post(f"/user_groups/{made['group_id']}/deactivate")


def archive_channels(maker: Maker, made: Any, cast: Cast) -> Any:
    channels = maker.member.get("/streams")["streams"]
    own_channels = [each["stream_id"] for each in channels if each["creator_id"] == maker.hamlet]
    return [maker.member.delete(f"/streams/{channel_id}") for channel_id in own_channels][-1]


def end_emoji(maker: Maker, made: Any, cast: Cast) -> Any:
    return maker.admin.delete(f"/realm/emoji/{made['n']}")


Evade = Callable[[Maker, Any, Cast], Any]
EVASIONS: dict[str, tuple[Evade, ...]] = {
    "create_bot": (give_bot_away, end_bot, give_bot_away_and_end_it),
    "create_user_group": (end_group,),
    "subscribe": (archive_channels,),
    "create_custom_emoji": (end_emoji,),
}
"""Objects that stay in the database when they end or change owner, with actions that could evade
the quota.
"""


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("operation", "evade"),
    [(operation, evade) for operation, evasions in EVASIONS.items() for evade in evasions],
)
def test_quota_counts_ended_and_given_away_objects(
    operation: str,
    evade: Evade,
    as_nobody: ChatClient,
    cast: Cast,
    clock: FrozenClock,
    chat_database: Database,
) -> None:
    quota, make = CASES[operation]
    maker = Maker(as_nobody, cast, clock, chat_database)
    for n in range(MOST):
        made = make(maker, n)
        assert evade(maker, {**made, "n": f"e{n}"}, cast)["result"] == "success"
    assert make(maker, MOST)["msg"] == f"Too many {quota.what} (limit: {MOST})."


@pytest.mark.usefixtures("few")
def test_ended_bots_count_for_a_day(
    as_nobody: ChatClient, cast: Cast, clock: FrozenClock, chat_database: Database
) -> None:
    maker = Maker(as_nobody, cast, clock, chat_database)
    for n in range(MOST):
        end_bot(maker, maker.bot(n), cast)
    clock.advance(seconds=86_399)
    assert maker.bot(MOST)["result"] == "error"
    clock.advance(seconds=2)
    assert maker.bot(MOST)["result"] == "success"


@pytest.mark.usefixtures("few")
def test_reactivated_bot_counts(
    as_nobody: ChatClient, cast: Cast, clock: FrozenClock, chat_database: Database
) -> None:
    maker = Maker(as_nobody, cast, clock, chat_database)
    bots = [maker.bot(n)["user_id"] for n in range(MOST)]
    maker.admin.delete(f"/bots/{bots[0]}")
    clock.advance(seconds=86_401)
    assert maker.bot(MOST)["result"] == "success"
    back = maker.admin.post(f"/users/{bots[0]}/reactivate")
    assert back["msg"] == f"Too many {quotas.BOTS.what} (limit: {MOST})."


@pytest.mark.usefixtures("few")
def test_edits_of_a_message_do_not_prevent_moving_its_topic(
    as_nobody: ChatClient, cast: Cast, clock: FrozenClock, chat_database: Database
) -> None:
    maker = Maker(as_nobody, cast, clock, chat_database)
    said = {"type": "channel", "to": "Denmark", "topic": "t", "content": "x"}
    message_id = maker.member.post("/messages", **said)["id"]
    for n in range(MOST):
        assert maker.member.patch(f"/messages/{message_id}", content=f"{n}")["result"] == "success"
    moved = maker.member.patch(f"/messages/{message_id}", topic="u", propagate_mode="change_all")
    assert moved["result"] == "success"


@pytest.mark.usefixtures("few")
def test_deleted_object_makes_room(
    as_nobody: ChatClient, cast: Cast, clock: FrozenClock, chat_database: Database
) -> None:
    maker = Maker(as_nobody, cast, clock, chat_database)
    for n in range(MOST + 1):
        maker.topic_policy(n)
    off = {"stream_id": maker.channel, "visibility_policy": 0}
    assert maker.member.post("/user_topics", topic="t0", **off) == DONE
    assert maker.topic_policy(MOST) == DONE


def _events(database: Database) -> int:
    with database.reading() as reader:
        return int(reader.execute(select(func.count()).select_from(Event)).scalar_one())
