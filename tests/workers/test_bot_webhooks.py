"""Outgoing webhooks: a bot with a URL is called once for each of its messages, and replies
there.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest
from sqlalchemy import func, select, update
from standardwebhooks.webhooks import Webhook

from adapters.webhooks.sender import Received
from models.chat.common.vault import Vault
from models.chat.outgoing_webhooks import queue
from models.chat.sending import bot_calls
from models.chat.tables import OutgoingDelivery, Realm
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, open_channel
from tests.support.chat.people import VAULT, Cast
from tests.support.frozen_clock import FrozenClock
from tests.support.receivers import Posted, ScriptedReceivers
from workers.bot_webhooks import BotWebhooks, Posting

URL = "https://bots.example/oracle"


def answer(body: Any = None, status: int | None = 200, failure: str | None = None) -> Received:
    text = body if isinstance(body, str) else "" if body is None else orjson.dumps(body).decode()
    return Received(status, failure, text, None, 5)


class Receivers(ScriptedReceivers):
    """`hanging`: URLs that never respond."""

    def __init__(self) -> None:
        super().__init__()
        self.hanging: set[str] = set()
        self.hung = 0

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        received = await super().post(url, headers, body)
        if url in self.hanging:
            self.hung += 1
            await asyncio.Event().wait()
        return received


class Stage:
    """Hamlet's Oracle, and the workers that call it."""

    def __init__(
        self, chat: ChatClient, database: Database, cast: Cast, clock: FrozenClock
    ) -> None:
        self.chat, self.database, self.cast, self.clock = chat, database, cast, clock
        self.receivers = Receivers()
        self.receivers.answer = answer({"content": "Beware."})
        self._postings: list[Posting] = []
        self.workers: list[BotWebhooks] = []
        self.oracle = self.bot("Oracle")
        self.worker()

    def bot(self, name: str, **more: Any) -> dict[str, Any]:
        form = {"full_name": name, "short_name": name.lower(), "bot_type": 3, "payload_url": URL}
        made = self.chat.post("/bots", **{**form, **more})
        assert made["result"] == "success", made
        return made

    def worker(self, vault: Vault = VAULT) -> BotWebhooks:
        posting = Posting(self.receivers, self.clock)
        self._postings.append(posting)
        self.workers.append(BotWebhooks(self.database, self.clock, vault, posting))
        return self.workers[-1]

    def settle(self, *workers: BotWebhooks, seconds: float = 20.0) -> None:
        """Run the workers in turn until there is nothing to do and no response is pending."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            worked = [worker.try_at_once() for worker in workers or self.workers]
            waiting = sum(posting.count for posting in self._postings) - self.receivers.hung
            if not any(worked) and waiting <= 0:
                return
            time.sleep(0.002)
        raise AssertionError("the workers never rest")

    @property
    def posted(self) -> list[Posted]:
        return self.receivers.posted

    def bodies(self) -> list[dict[str, Any]]:
        return [orjson.loads(each.body) for each in self.posted]

    def ask(self, client: ChatClient | None = None, **over: Any) -> int:
        """Send a message, by default directly to the Oracle, and return its id."""
        form: dict[str, Any] = {"type": "direct", "to": [self.oracle["user_id"]]}
        form["content"] = "*When?*"
        sent = (client or self.chat).post("/messages", **{**form, **over})
        assert sent["result"] == "success", sent
        return int(sent["id"])

    def newest(self, client: ChatClient | None = None, count: int = 1) -> list[dict[str, Any]]:
        query = {"anchor": "newest", "num_before": count, "num_after": 0, "apply_markdown": False}
        found = (client or self.chat).get("/messages", **query)["messages"]
        return list(found)

    def waiting(self) -> int:
        with self.database.reading() as reader:
            return int(reader.execute(select(func.count(OutgoingDelivery.id))).scalar_one())


@pytest.fixture
def stage(
    chat: ChatClient, chat_database: Database, cast: Cast, clock: FrozenClock
) -> Iterator[Stage]:
    made = Stage(chat, chat_database, cast, clock)
    yield made
    made.receivers.hanging.clear()
    for worker in made.workers:
        worker._posting.close()


def test_it_is_part_of_the_trace_of_the_message(stage: Stage) -> None:
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    form = {"type": "direct", "to": [stage.oracle["user_id"]], "content": "*When?*"}
    for headers in ({"traceparent": traceparent}, {"traceparent": traceparent[1:]}, {}):
        stage.chat.request("POST", "/messages", form, headers=headers)
    stage.settle()
    sent = [each.headers.get("traceparent") for each in stage.posted]
    assert sorted(sent, key=str) == [traceparent, None, None]


def test_a_direct_message(stage: Stage, cast: Cast) -> None:
    asked = stage.ask()
    stage.settle()
    [posted], [body] = stage.posted, stage.bodies()
    [service] = stage.oracle["services"]
    message = stage.chat.get(f"/messages/{asked}", apply_markdown=False)["message"]
    assert posted.url == service["base_url"] == URL
    assert {**body, "message": {}} == {
        "bot_email": "oracle-bot@acme.example",
        "bot_full_name": "Oracle",
        "data": "*When?*",
        "message": {},
        "token": service["token"],
        "trigger": "direct_message",
    }
    told = {name: value for name, value in message.items() if name != "flags"}
    assert body["message"].pop("rendered_content") == "<p><em>When?</em></p>"
    assert {**body["message"], "avatar_url": None} == {**told, "avatar_url": None}
    assert posted.headers["webhook-id"].startswith("msg_")
    verify(stage, posted, service["signing_secret"])
    [said] = stage.newest()
    assert (said["sender_id"], said["content"]) == (stage.oracle["user_id"], "Beware.")
    assert (said["type"], said["client"]) == ("private", "OutgoingWebhookResponse")
    assert stage.waiting() == 0


def verify(stage: Stage, posted: Posted, secret: str) -> None:
    """The library of the specification agrees, except for the time, which is frozen here."""
    sent_at = int(posted.headers["webhook-timestamp"])
    assert sent_at == int(stage.clock.now().timestamp())
    hook = Webhook(secret)
    expected = hook.sign(posted.headers["webhook-id"], stage.clock.now(), posted.body.decode())
    assert posted.headers["webhook-signature"] == expected


def test_who_is_called(
    stage: Stage, as_othello: ChatClient, as_reminder: ChatClient, cast: Cast,
    chat_database: Database,
) -> None:  # fmt: skip
    """Bots that are mentioned or in the conversation are called; in a private channel only
    subscribers, and never by a bot.
    """
    oracle, people = stage.oracle["user_id"], [cast.hamlet, cast.othello, cast.reminder]
    for name, is_private in (("Denmark", False), ("cellar", True)):
        chat_database.run(
            lambda s, name=name, is_private=is_private: make_channel(
                s, cast, name, subscribers=people, invite_only=is_private
            )
        )
    loud = {"type": "channel", "to": "Denmark", "topic": "fate", "content": "@**Oracle** when?"}
    for client, form in (
        (as_reminder, {}),
        (as_reminder, loud),
        (stage.chat, loud | {"content": "Oracle, when?"}),
        (stage.chat, loud | {"content": "@_**Oracle** when?"}),
        (stage.chat, loud | {"to": "cellar"}),
        (stage.chat, {"to": [cast.othello.id]}),
    ):
        stage.ask(client, **form)
    assert stage.waiting() == 0
    stage.ask(as_othello, **loud)
    stage.ask(as_othello, to=[oracle, cast.hamlet.id])
    stage.settle()
    assert [body["trigger"] for body in stage.bodies()] == ["mention", "direct_message"]
    direct, said = stage.newest(count=2)
    if direct["type"] == "stream":
        direct, said = said, direct
    assert (said["display_recipient"], said["subject"]) == ("Denmark", "fate")
    assert len(direct["display_recipient"]) == 3
    cellar = [{"name": "cellar"}]
    stage.chat.post("/users/me/subscriptions", subscriptions=cellar, principals=[oracle])
    stage.ask(**loud | {"to": "cellar"})
    stage.settle()
    assert len(stage.posted) == 3
    assert stage.newest()[0]["display_recipient"] == "cellar"


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ({"content": "a"}, "a"),
        ({"response_string": "b", "content": "a"}, "b"),
        ({"response_not_required": True, "content": "a"}, None),
        ({"content": " "}, None),
        ({}, None),
        ("", None),
        ('""', None),
    ],
)
def test_what_answers_say(stage: Stage, said: Any, content: str | None) -> None:
    stage.receivers.answer = answer(said)
    asked = stage.ask()
    stage.settle()
    [newest] = stage.newest()
    assert newest["content"] == content if content else newest["id"] == asked
    assert stage.waiting() == 0


def test_the_form_of_slack(stage: Stage) -> None:
    path = f"/bots/{stage.oracle['user_id']}"
    assert stage.chat.patch(path, service_interface=2)["service_interface"] == 2
    stage.receivers.answer = answer({"text": "Beware."})
    stage.ask()
    stage.settle()
    [posted] = stage.posted
    assert posted.headers["Content-Type"] == "application/x-www-form-urlencoded"
    form = {name: values[0] for name, values in parse_qs(posted.body.decode()).items()}
    [service] = stage.oracle["services"]
    assert form["token"] == service["token"]
    assert (form["text"], form["user_name"]) == ("*When?*", "Hamlet")
    verify(stage, posted, service["signing_secret"])
    assert stage.newest()[0]["content"] == "Beware."


@pytest.fixture
def slack(stage: Stage) -> Stage:
    """The Oracle uses Slack's format, and is subscribed to a channel."""
    path = f"/bots/{stage.oracle['user_id']}"
    assert stage.chat.patch(path, service_interface=2)["service_interface"] == 2
    open_channel(stage.chat, "stage")
    return stage


def form_of(posted: Posted) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(posted.body.decode()).items()}


@pytest.mark.parametrize(
    ("content", "command", "text"),
    [
        ("/deploy prod now", "/deploy", "prod now"),
        ("/Deploy-It\nprod\n\nnow", "/deploy-it", "prod\n\nnow"),
        ("@**Oracle** /deploy prod", "/deploy", "prod"),
        ("@**Iago** @**Oracle**: /deploy", "/deploy", None),
        ("@**Oracle** /poll Lunch?", "/poll", "Lunch?"),
        ("/me waves", None, "/me waves"),
        ("/usr/bin/env", None, "/usr/bin/env"),
        ("please /deploy", None, "please /deploy"),
        ("// deploy", None, "// deploy"),
    ],
)
def test_slash_command_is_apart_from_its_text(
    slack: Stage, content: str, command: str | None, text: str | None
) -> None:
    slack.ask(content=content)
    slack.settle()
    form = form_of(slack.posted[0])
    assert (form.get("command"), form.get("text")) == (command, text)
    assert ("trigger_word" in form) is (command is None)


@pytest.mark.parametrize(
    ("said", "content", "is_private"),
    [
        ({"text": "*Done*, <@U1>"}, "**Done**, @U1", True),
        ({"response_type": "ephemeral", "text": "Done"}, "Done", True),
        ({"response_type": "in_channel", "text": "*Done*"}, "**Done**", False),
        ("Done & *dusted*\n", "Done & **dusted**", True),
        (
            {
                "response_type": "in_channel",
                "text": "fallback",
                "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "_It is_"}}],
            },
            "*It is*",
            False,
        ),
    ],
)
def test_answer_to_a_slash_command_is_in_slacks_markup(
    slack: Stage, said: Any, content: str, is_private: bool
) -> None:
    """Slack shows a response only to the caller unless it is `in_channel`."""
    slack.receivers.answer = answer(said)
    asked = slack.ask(type="channel", to="stage", topic="t", content="@**Oracle** /deploy prod")
    slack.settle()
    newest = slack.newest(count=2)
    assert (newest[-2]["id"], newest[-1]["content"]) == (asked, content)
    assert newest[-1]["sender_full_name"] == "Oracle"
    assert newest[-1]["type"] == ("private" if is_private else "stream")
    assert slack.waiting() == 0


def test_answer_with_attachments_is_in_slacks_markup(slack: Stage) -> None:
    slack.receivers.answer = answer({"text": "See", "attachments": [{"text": "*here*"}]})
    slack.ask()
    slack.settle()
    assert slack.newest()[0]["content"] == "See\n\n**here**"


@pytest.mark.parametrize("said", ["", "  ", '""', {}, {"response_type": "in_channel", "text": ""}])
def test_slash_command_may_have_no_answer(slack: Stage, said: Any) -> None:
    slack.receivers.answer = answer(said)
    asked = slack.ask(content="/deploy")
    slack.settle()
    assert slack.newest()[0]["id"] == asked
    assert slack.waiting() == 0


@pytest.mark.parametrize(
    "said",
    [[1], {"text": 1}, {"blocks": 1}, {"blocks": [{}]}, '{"blocks":' + "[" * 900 + "]" * 900 + "}"],
)
def test_answer_that_slack_would_not_read_is_told_to_the_owner(slack: Stage, said: Any) -> None:
    slack.receivers.answer = answer(said)
    slack.ask(content="/deploy")
    slack.settle()
    [newest] = slack.newest()
    assert newest["sender_full_name"] == "Notification Bot"
    assert slack.waiting() == 0


@pytest.mark.parametrize(
    ("came", "told"),
    [
        (answer(status=404), "The address answered with the status 404."),
        (answer("{"), "The answer is no JSON."),
        (answer([1]), "The answer is no JSON object."),
        (answer({"content": 1}), "The content of the answer is no text."),
        (answer({"content": "@**all**"}), None),
    ],
)
def test_answers_that_are_none(stage: Stage, came: Received, told: str | None) -> None:
    """The owner is notified immediately, without the text of the message."""
    stage.receivers.answer = came
    asked = stage.ask()
    stage.settle()
    [newest] = stage.newest()
    assert stage.waiting() == 0
    if told is None:
        assert newest["content"] == "@**all**"
        return
    assert newest["sender_full_name"] == "Notification Bot"
    assert newest["content"] == (
        f"Your bot Oracle was called by message {asked} and gave no answer:\n\n> {told}"
    )


def test_it_is_tried_again(stage: Stage) -> None:
    """As the same message, and not forever."""
    stage.receivers.answer = answer(status=503)
    stage.ask()
    stage.settle()
    for attempts, pause in enumerate(queue.QUEUE.pauses, start=1):
        assert len(stage.posted) == attempts
        stage.clock.advance(seconds=pause.total_seconds() - 1)
        stage.settle()
        assert len(stage.posted) == attempts
        stage.clock.advance(seconds=pause.total_seconds() * queue.QUEUE.jitter + 1)
        stage.settle()
    assert len({posted.headers["webhook-id"] for posted in stage.posted}) == 1
    assert stage.waiting() == 0
    assert "status 503" in stage.newest()[0]["content"]
    stage.receivers.answer = answer(status=None, failure="timeout")
    stage.ask()
    stage.settle()
    stage.receivers.answer = answer({"content": "Late."})
    stage.clock.advance(seconds=7)
    stage.settle()
    assert stage.newest()[0]["content"] == "Late."


def test_a_worker_that_dies(stage: Stage) -> None:
    """The claim of a stopped worker is taken over when its lease ends, and its later result is
    ignored.
    """
    stage.receivers.hanging.add(URL)
    stage.ask()
    stage.settle()
    assert len(stage.posted) == 1
    stage.receivers.hanging.clear()
    other = stage.worker()
    stage.clock.advance(seconds=queue.LEASE.total_seconds() - 1)
    assert not other.try_at_once()
    stage.clock.advance(seconds=2)
    stage.settle(other)
    assert len(stage.posted) == 2
    assert [message["content"] for message in stage.newest(count=2)] == ["*When?*", "Beware."]


def test_two_workers_answer_once(stage: Stage) -> None:
    stage.worker()
    for _ in range(5):
        stage.ask()
    stage.settle()
    assert len(stage.posted) == 5
    assert [message["content"] for message in stage.newest(count=5)] == ["Beware."] * 5


def test_one_that_hangs_holds_up_no_other(stage: Stage) -> None:
    slow = stage.bot("Sphinx", payload_url="https://slow.example/")
    stage.receivers.hanging.add("https://slow.example/")
    for _ in range(40):
        stage.ask(to=[slow["user_id"]])
    stage.settle()
    stage.ask()
    stage.settle()
    assert stage.newest()[0]["content"] == "Beware."
    assert len([posted for posted in stage.posted if posted.url != URL]) <= 8


@pytest.mark.parametrize("what", ["bot", "message", "realm"])
def test_what_is_gone_is_not_posted(stage: Stage, cast: Cast, what: str) -> None:
    asked = stage.ask()
    if what == "bot":
        stage.chat.delete(f"/bots/{stage.oracle['user_id']}")
    elif what == "message":
        assert stage.chat.delete(f"/messages/{asked}")["result"] == "success"
    else:
        gone = update(Realm).where(Realm.id == cast.realm_id).values(is_deactivated=True)
        stage.database.run(lambda s: s.execute(gone))
    stage.settle()
    assert stage.posted == []
    assert stage.waiting() == 0


def test_a_bot_that_is_away_is_called_so_often(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_calls, "MAX_WAITING", 2)
    for _ in range(4):
        stage.ask()
    assert stage.waiting() == 2
    stage.settle()
    stage.ask()
    assert stage.waiting() == 1
    assert timedelta(seconds=20) < queue.LEASE


def test_a_worker_that_cannot_sign_gives_the_message_back(stage: Stage) -> None:
    stranger = stage.worker(Vault(b"the secret of another machine, 32 bytes or more"))
    stage.ask()
    stage.settle(stranger)
    assert (stage.posted, stage.waiting()) == ([], 1)
    with stage.database.reading() as reader:
        assert reader.execute(select(OutgoingDelivery.attempts)).scalars().all() == [0]
    stage.settle(stage.workers[0])
    assert (len(stage.posted), stage.waiting()) == (1, 0)
