"""Text of users is inert in messages of system bots."""

import ast
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from models.chat.channels.notices import CHANNEL_EVENTS, NEW_CHANNELS
from models.chat.common.webhook_secrets import open_secret
from models.chat.identity.actors import find_actor
from models.chat.incoming_mail import Mail, deliver_letter, open_mailbox, prepare_letter
from models.chat.messages import flags
from models.chat.outgoing_webhooks import answers, queue
from models.chat.outgoing_webhooks.requests import find_request
from models.chat.rendering.syntax import channel_slug
from models.chat.rendering.texts import prepare_text
from models.chat.tables import Channel, Message, User, UserGroup, UserMessage
from specd.db import Database
from tests.contract.inert_text.payloads import EVIL, LINES, PAYLOADS
from tests.contract.inert_text.reading import Reading
from tests.support.chat.answers import DONE
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.mail import token_of
from tests.support.chat.people import KEYS, VAULT, Cast
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from workers.scheduled_delivery import ScheduledDelivery

ROOT = Path(__file__).parents[3]
WHOSE = {
    "models.chat.channels.notices": ("change", "creation", "subscription"),
    "models.chat.scheduling.delivery": ("delivery",),
    "models.chat.scheduling.reminders": ("reminder",),
    "models.chat.exports.runs": (),
    "models.chat.editing.moving": ("move",),
    "models.chat.incoming_mail": ("mail",),
    "models.chat.accounts.new_users": ("welcome",),
    "models.chat.sending.reports": ("report",),
    "models.chat.invitations.joining": ("invitation",),
    "models.chat.user_groups.members": ("membership",),
    "models.chat.outgoing_webhooks.answers": ("answer",),
}
"""Module -> the kinds of messages that system bots send from it. `()` means without quotations."""


def test_every_notice_is_listed() -> None:
    """A new notice needs a test of its quotations."""
    speakers = set()
    for path in (ROOT / "models" / "chat").rglob("*.py"):
        called = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if called & {"try_send_notice", "send_direct_notices", "find_notification_bot_id"}:
            speakers.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert speakers - {"models.chat.sending.notices"} == set(WHOSE)
    assert {action for actions in WHOSE.values() for action in actions} == set(ACTIONS)


class Stage:
    """Denmark (a public channel), secret (a private channel without Hamlet), mods, a message of
    Othello's, and a group that cannot be mentioned.
    """

    def __init__(
        self, database: Database, clock: FrozenClock, cast: Cast, client: ChatClient
    ) -> None:
        self.database, self.clock, self.cast, self.client = database, clock, cast, client
        self.newcomers: set[str] = set()
        self.mods = self.make("mods")
        self.secret = self.make("secret", (cast.iago,), invite_only=True)
        boss = client.acting_as(cast.cordelia)
        answer = boss.patch(
            "/realm",
            moderation_request_channel_id=self.mods,
            new_stream_announcements_stream_id=self.mods,
        )
        assert answer["result"] == "success"
        answer = boss.post(
            "/user_groups/create",
            name="shield", description="", members=[cast.cordelia.id],
            can_mention_group={"direct_members": [cast.cordelia.id], "direct_subgroups": []},
        )  # fmt: skip
        assert answer["result"] == "success"
        self.begin()

    def make(self, name: str, subscribers: Any = None, **over: Any) -> int:
        members = (self.cast.hamlet, self.cast.othello) if subscribers is None else subscribers
        return self.database.run(
            lambda s: make_channel(s, self.cast, name, subscribers=members, **over)
        )

    def begin(self, *, reuse: bool = False) -> None:
        """Restore all names, and create a message and, unless they are reused, new channels."""

        def clear(session: Any) -> int:
            for row in session.scalars(select(Channel).where(Channel.id > self.secret)):
                name = self.names[row.id] if reuse and row.id in self.names else f"old {row.id}"
                row.name, row.name_key = name, name.casefold()
                row.is_archived = row.is_archived and not reuse
            for member in (self.cast.hamlet, self.cast.othello):
                session.get(User, member.id).full_name = member.name
            return int(session.scalar(select(func.max(Message.id))) or 0)

        self.since = self.database.run(clear)
        if not reuse:
            self.denmark, self.norway = self.make("Denmark"), self.make("Norway")
            self.names = {self.denmark: "Denmark", self.norway: "Norway"}
        self.message = self.say(self.denmark)

    def say(self, channel: int, topic: str = "castle") -> int:
        said = self.client.acting_as(self.cast.othello).post(
            "/messages", type="channel", to=channel, topic=topic, content="Hi"
        )
        assert said["result"] == "success"
        return int(said["id"])

    def store(self, table: Any, row_id: int, **values: Any) -> None:
        change = update(table).where(table.id == row_id).values(**values)
        self.database.run(lambda session: session.execute(change))

    def rename(self, channel: int, name: str) -> None:
        """Rename a channel in the database, without checks of names."""
        self.store(Channel, channel, name=name, name_key=name.casefold())

    def notices(self) -> list[Any]:
        with self.database.reading() as reader:
            return list(
                reader.execute(
                    select(
                        Message.id, Message.topic, Message.content, Message.rendered_content,
                        Message.has_link, Message.has_image,
                    )
                    .where(
                        Message.sender_id == self.cast.notification_bot_id, Message.id > self.since
                    )
                    .order_by(Message.id)
                )
            )  # fmt: skip

    def check(self, count: int, *, own: str) -> list[Any]:
        """Check the number of written notices and that they contain nothing active except the bot's
        own words (`own` is a regular expression of its permitted tags) and links to the involved
        channels and users.
        """
        notices = self.notices()
        assert len(notices) == count, [notice.content for notice in notices]
        with self.database.reading() as reader:
            slugs = {
                f"/#narrow/channel/{channel_slug(row.id, row.name)}"
                for row in reader.execute(
                    select(Channel.id, Channel.name).where(Channel.id != self.secret)
                )
            }
            owner = find_actor(reader, self.cast.cordelia.id)
            guest = find_actor(reader, self.cast.polonius.id)
            assert owner is not None
            assert guest is not None
            for notice in notices:
                pings = reader.execute(
                    select(UserMessage.user_id).where(
                        UserMessage.message_id == notice.id,
                        UserMessage.flags.bitwise_and(flags.ANY_MENTION) != 0,
                    )
                )
                assert pings.all() == []
                self._check_markup(notice.rendered_content, own, slugs, whole=True)
                # A client that renders Markdown itself, with all permissions or with none.
                for actor in (owner, guest):
                    again = prepare_text(reader, actor, notice.content).rendered
                    assert not again.mentions_channel
                    assert not again.mentions_topic
                    assert not again.group_ids
                    assert again.refused_group is None
                    assert again.user_ids <= {self.cast.hamlet.id}  # who subscribed
                    self._check_markup(again.html, own, slugs, whole=actor is owner)
        return notices

    def check_quote(self) -> str:
        """Check that the only notice quotes active content without notifications. Return the HTML
        before the quote.
        """
        [notice] = self.notices()
        before, _, quote = notice.rendered_content.partition("<blockquote>")
        assert quote.endswith("</blockquote>"), notice.rendered_content
        assert quote.count("<blockquote>") + 1 == quote.count("</blockquote>")
        assert all("silent" in classes for classes, _ in Reading(quote).mentions)
        return str(before)

    def _check_markup(self, markup: str, own: str, slugs: set[str], *, whole: bool) -> None:
        read = Reading(markup)
        allowed = own if whole else own + "|strong"  # a channel that the guest does not know
        odd = [tag for tag in read.tags if not re.fullmatch(f"(?:{allowed}|a|p|br|span)", tag)]
        assert odd == [], markup
        people = {str(self.cast.hamlet.id), str(self.cast.othello.id), str(self.cast.cordelia.id)}
        people |= self.newcomers
        for classes, user_id in read.mentions:
            if classes == "user-group-mention silent":
                continue
            assert user_id in people, markup
            assert classes in ("user-mention silent", "user-mention"), markup
        for address in read.addresses:
            assert EVIL not in address.split("/topic/")[0], markup
            whom = re.match(r"(/#narrow/channel/[^/]*)|/#narrow/dm/|#scheduled\Z", address)
            assert whom is not None, markup
            assert whom[1] is None or whom[1] in slugs, markup


def report(stage: Stage, text: str) -> None:
    lines = text in LINES
    name = "Othello" if lines else text
    stage.store(User, stage.cast.othello.id, full_name=name)
    stage.store(User, stage.cast.hamlet.id, full_name=name)
    stage.store(Message, stage.message, content=text)
    if not lines:
        stage.store(Message, stage.message, topic=text, topic_key=text.casefold())
        stage.rename(stage.denmark, text)
    direct = stage.client.acting_as(stage.cast.othello).post(
        "/messages", type="direct", to=[stage.cast.hamlet.id], content="Hi"
    )["id"]
    stage.store(Message, direct, content=text)
    for message in (stage.message, direct):
        answer = stage.client.post(
            f"/messages/{message}/report", report_type="other", description=f"x {text}"
        )
        assert answer == DONE
    for notice in stage.check(2, own="ul|li|strong|blockquote|div|pre|code|time"):
        shown = Reading(notice.rendered_content)
        assert shown.tags >= {"blockquote", "time"}
        said = "".join(shown.text.split())
        assert said.count("".join(text[:480].split())) >= 2, "all of it is shown"


def move(stage: Stage, text: str) -> None:
    stage.rename(stage.norway, text)
    stage.store(User, stage.cast.hamlet.id, full_name=text)
    stage.store(Message, stage.message, topic=text, topic_key=text.casefold())
    answer = stage.client.acting_as(stage.cast.cordelia).patch(
        f"/messages/{stage.message}",
        stream_id=stage.norway,
        topic=f"{text}."[-60:],
        send_notification_to_old_thread=True,
        send_notification_to_new_thread=True,
    )
    assert answer["result"] == "success", answer
    for notice in stage.check(2, own=""):
        assert "moved" in notice.content


def subscription(stage: Stage, text: str) -> None:
    stage.store(User, stage.cast.hamlet.id, full_name=text)
    stage.rename(stage.denmark, text)
    stage.rename(stage.norway, f"{text} II")
    for names in ([text], [text, f"{text} II"]):
        answer = stage.client.post(
            "/users/me/subscriptions",
            subscriptions=[{"name": name} for name in names],
            principals=[stage.cast.prospero.id, stage.cast.polonius.id][-len(names) :],
        )
        assert answer["result"] == "success", answer
    stage.check(3, own="ul|li")


def creation(stage: Stage, text: str) -> None:
    stage.store(User, stage.cast.hamlet.id, full_name=text)
    one_line = " ".join(text.splitlines())
    names = ["board"] if text in LINES else [text, f"{text} II"]
    for name in names:
        answer = stage.client.post(
            "/users/me/subscriptions",
            subscriptions=[{"name": name, "description": text}],
            announce=True,
        )
        assert answer["result"] == "success", answer
    notices = stage.check(2 * len(names), own="strong|blockquote|pre|code|div")
    assert [notice.topic for notice in notices] == [NEW_CHANNELS, CHANNEL_EVENTS] * len(names)
    assert one_line.split()[-1] in Reading(notices[1].rendered_content).text


def change(stage: Stage, text: str) -> None:
    boss, path = stage.client.acting_as(stage.cast.cordelia), f"/streams/{stage.denmark}"
    stage.store(User, stage.cast.cordelia.id, full_name=text)
    for form in ({"description": text}, {"new_name": text}):
        answer = boss.patch(path, **form)
        assert answer["result"] == "success", answer
    assert boss.delete(path)["result"] == "success"
    notices = stage.check(3, own="strong|em|blockquote|pre|code|div|ul|li")
    assert {notice.topic for notice in notices} == {CHANNEL_EVENTS}
    assert text.split()[-1] in Reading(notices[0].rendered_content).text


def delivery(stage: Stage, text: str) -> None:
    answer = stage.client.post(
        "/scheduled_messages", type="channel", to=stage.denmark, topic="t", content="x",
        scheduled_delivery_timestamp=int(stage.clock.now().timestamp()) + 60,
    )  # fmt: skip
    assert answer["result"] == "success", answer
    stage.rename(stage.denmark, text)
    stage.store(Channel, stage.denmark, is_archived=True)
    stage.clock.advance(seconds=90)
    worker = ScheduledDelivery(
        stage.database, stage.clock,
        late_window=timedelta(seconds=600),
    )  # fmt: skip
    assert worker.try_deliver_one()
    stage.check(1, own="blockquote|time|code")


def membership(stage: Stage, text: str) -> None:
    stage.store(User, stage.cast.hamlet.id, full_name=text)
    made = stage.client.post("/user_groups/create", name="choir", description="", members=[])
    stage.store(UserGroup, made["group_id"], name=text, name_key=text.casefold())
    members = f"/user_groups/{made['group_id']}/members"
    for op in ("add", "delete"):
        answer = stage.client.post(members, **{op: [stage.cast.othello.id]})
        assert answer["result"] == "success", answer
    told = [Reading(notice.rendered_content).text for notice in stage.check(2, own="code")]
    assert ["added" in told[0], "removed" in told[1]] == [True, True]
    key = str(made["group_id"])
    stage.store(UserGroup, made["group_id"], name=key, name_key=key)


def welcome(stage: Stage, text: str) -> None:
    """The organization's text is active, and stays inside its quote."""
    answer = stage.client.acting_as(stage.cast.cordelia).post(
        "/realm/test_welcome_bot_custom_message", welcome_message_custom_text=f"x {text}"
    )
    assert answer["result"] == "success", answer
    before = stage.check_quote()
    assert before == "<p>The administrators of this organization say:</p>\n"


def mail(stage: Stage, text: str) -> None:
    """The name of the sender is inert. The text is active, and stays inside its quote."""
    address = stage.client.get(f"/streams/{stage.denmark}/email_address")["email"]
    with stage.database.reading() as reader:
        mailbox = open_mailbox(reader, KEYS, address)
        letter = prepare_letter(reader, mailbox, Mail(text, "t", f"x {text}"))
    stage.database.run(lambda s: deliver_letter(s, mailbox, letter, now=stage.clock.now()))
    before = Reading(stage.check_quote())
    assert before.tags <= {"p", "code", "br"}
    assert before.text.startswith("Mail from ")


def answer(stage: Stage, text: str) -> None:
    """The reason for a missing reply names the bot and the channel, and quotes nothing from the
    bot.
    """
    name, now = f"Oracle {stage.since}", stage.clock.now()
    form = {"short_name": f"o{stage.since}", "bot_type": 3, "payload_url": f"https://{EVIL}/"}
    bot = stage.client.post("/bots", full_name=name, **form)
    question = {"to": stage.denmark, "topic": "fate", "content": f"@**{name}**"}
    asked = stage.client.post("/messages", type="channel", **question)
    assert [bot["result"], asked["result"]] == ["success", "success"]
    [taken] = stage.database.run(lambda s: queue.claim_due(s, excluded=(), limit=2, now=now))
    with stage.database.reading() as reader:
        secret = open_secret(VAULT, taken.bot_id, taken.sealed_secret)
        assert secret is not None
        request = find_request(reader, secret, taken)
    assert request is not None
    stage.store(User, bot["user_id"], full_name=text)
    stage.rename(stage.denmark, text)
    stage.store(Channel, stage.denmark, is_archived=True)
    outcome = answers.Outcome(taken, request.message, 200, answer='{"content": "said"}')
    with stage.database.reading() as reader:
        said = answers.prepare(reader, outcome)
    stage.database.run(lambda s: answers.settle(s, outcome, said, now=now))
    [notice] = stage.check(1, own="blockquote|code")
    shown = Reading(notice.rendered_content).text
    assert "Not authorized to send to channel" in shown
    assert "said" not in shown


def reminder(stage: Stage, text: str) -> None:
    lines = text in LINES
    direct = stage.client.acting_as(stage.cast.othello).post(
        "/messages", type="direct", to=[stage.cast.hamlet.id], content="Hi"
    )["id"]
    for message in (stage.message, direct):
        answer = stage.client.post(
            "/reminders", message_id=message, note=text[:500],
            scheduled_delivery_timestamp=int(stage.clock.now().timestamp()) + 60,
        )  # fmt: skip
        assert answer["result"] == "success", answer
        stage.store(Message, message, content=text)
    if not lines:
        stage.store(User, stage.cast.othello.id, full_name=text)
        stage.store(Message, stage.message, topic=text, topic_key=text.casefold())
        stage.rename(stage.denmark, text)
    stage.clock.advance(seconds=90)
    worker = ScheduledDelivery(stage.database, stage.clock, late_window=timedelta(seconds=600))
    assert worker.try_deliver_one()
    assert worker.try_deliver_one()
    for notice in stage.check(2, own="blockquote|div|pre|code"):
        shown = Reading(notice.rendered_content)
        said = "".join(shown.text.split())
        assert said.count("".join(text[:480].split())) >= 2, "must contain the note and the message"


def invitation(stage: Stage, text: str) -> None:
    """The name of a new user is checked before it is quoted."""
    friend = f"friend{stage.since}@acme.example"
    answer = stage.client.post("/invites", invitee_emails=friend, stream_ids=[])
    assert answer["result"] == "success", answer
    path = f"/accounts/join/{token_of(stage.database)}"
    form = {"full_name": f"_Rosencrantz_ {stage.since}", "password": "the rest is silence"}
    answer = stage.client.acting_as(None).post(path, **form)
    assert answer["result"] == "success", answer
    with stage.database.reading() as reader:
        newcomer = select(func.max(User.id))
        stage.newcomers.add(str(reader.execute(newcomer).scalar_one()))
    stage.check(2, own="")


ACTIONS: dict[str, Callable[[Stage, str], None]] = {
    "report": report,
    "move": move,
    "subscription": subscription,
    "change": change,
    "creation": creation,
    "delivery": delivery,
    "invitation": invitation,
    "membership": membership,
    "welcome": welcome,
    "mail": mail,
    "answer": answer,
    "reminder": reminder,
}
CHANGES_CHANNELS = ("subscription", "change")
"""The actions that need new channels for each text."""


@pytest.fixture
def stage(chat_database: Database, clock: FrozenClock, cast: Cast, chat: ChatClient) -> Stage:
    return Stage(chat_database, clock, cast, chat)


@pytest.mark.parametrize("chat_filled", ["sqlite", in_all("postgresql")], indirect=True)
@pytest.mark.parametrize("action", ACTIONS)
def test_text_of_users_is_inert(action: str, stage: Stage) -> None:
    texts = PAYLOADS + (LINES if action in ("report", "creation", "reminder") else [])
    for text in texts[:: 3 if stage.database.dialect == "sqlite" else 9]:
        stage.begin(reuse=action not in CHANGES_CHANNELS)
        try:
            ACTIONS[action](stage, text)
        except AssertionError as problem:
            raise AssertionError(f"{action} of {text!r}: {problem}") from problem
