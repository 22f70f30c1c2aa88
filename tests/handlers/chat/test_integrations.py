"""Incoming webhooks of other products: `receive_webhook`, and the messages created from payloads.

`webhooks/` contains payloads from the products' documentation, and `webhooks/texts.yaml` the
expected messages.
"""

import hmac
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

import specs
from models.chat.integrations.catalogue import INTEGRATIONS, find_posts
from models.chat.integrations.errors import MalformedPayload, MissingEventHeader
from models.chat.integrations.payloads import MAX_POSTS, NAMES, Asked
from models.chat.rendering import render
from models.chat.rendering.texts import CONTENT_MAX
from specd.db import Database
from tests.contract.inert_text.payloads import EVIL, LINES, PAYLOADS
from tests.contract.inert_text.reading import Reading
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.bots import make
from tests.support.chat.bots import post_webhook as post
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.marks import in_all

HERE = Path(__file__).parent / "webhooks"
TEXTS = yaml.safe_load((HERE / "texts.yaml").read_text())
CASES = {name: yaml.safe_load((HERE / f"{name}.yaml").read_text())["cases"] for name in TEXTS}
LEAST = 10
ADDRESSES = ("url", "link", "URL", "compare", "Url", "imageUrl")
MARKUP = ("body", "message")
PING = {"organization": {"login": "acme"}, "sender": {"login": "hamlet"}}
STARRED = next(case for case in CASES["github"] if case["event"] == "star")["payload"]
SECRET = "It's a secret"


@pytest.fixture
def key(chat: ChatClient) -> str:
    return str(make(chat, "Herald", bot_type=2)["api_key"])


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    people = [cast.hamlet, cast.othello]
    return chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=people))


def messages(client: ChatClient, channel: int) -> list[dict[str, Any]]:
    narrow = json.dumps([{"operator": "channel", "operand": channel}])
    query = {"anchor": "newest", "num_before": 1000, "num_after": 0, "apply_markdown": False}
    found: list[dict[str, Any]] = client.get("/messages", narrow=narrow, **query)["messages"]
    return found


class TestReceiveWebhook:
    def test_document_lists_all_integrations(self) -> None:
        operation = specs.load("chat")["paths"]["/external/{integration}"]["post"]
        assert operation["parameters"][0]["schema"]["enum"] == sorted(INTEGRATIONS)
        assert sorted(TEXTS) == sorted(INTEGRATIONS)

    @pytest.mark.parametrize("name", sorted(INTEGRATIONS))
    def test_documented_payloads(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int, name: str
    ) -> None:
        wanted = []
        for case in CASES[name]:
            headers = {"X-GitHub-Event": case["event"]} if "event" in case else {}
            query = {"api_key": key, "stream": "Denmark", **case.get("query", {})}
            assert post(as_nobody, name, case["payload"], headers, **query) == DONE, case["name"]
            wanted += [item for text in TEXTS[name][case["name"]] for item in text.items()]
        sent = messages(as_othello, denmark)
        assert len(CASES[name]) >= LEAST
        assert [each["content"] for each in sent] == [content for _, content in wanted]
        for each, (topic, _) in zip(sent, wanted, strict=True):
            topic = topic.replace("(no topic)", "general chat")
            assert each["subject"] == topic or each["subject"].endswith("...")
            assert each["client"] == INTEGRATIONS[name].client
            assert "mentioned" not in each["flags"]

    @pytest.mark.parametrize(
        "payload",
        [
            {},
            {"text": "  "},
            {"blocks": [{"type": "actions", "elements": []}], "text": ""},
            {"attachments": [{"color": "#ff0000"}]},
        ],
    )
    def test_payload_without_content_is_rejected(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int,
        payload: dict[str, Any],
    ) -> None:  # fmt: skip
        refused = post(as_nobody, "slack_incoming", payload, api_key=key, stream="Denmark")
        assert refused["result"] == "error"
        assert "has no text, blocks or attachments" in refused["msg"]
        assert messages(as_othello, denmark) == []

    def test_sends_to_the_owner(self, as_nobody: ChatClient, chat: ChatClient, key: str) -> None:
        assert post(as_nobody, "slack_incoming", {"text": "*Loud*"}, api_key=key) == DONE
        narrow = json.dumps([{"operator": "is", "operand": "dm"}])
        query = {"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow}
        assert chat.get("/messages", **query)["messages"][0]["content"] == (
            "<p><strong>Loud</strong></p>"
        )

    def test_topic_in_the_url(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int
    ) -> None:
        """The texts then contain the titles that are otherwise the topics."""
        case = next(case for case in CASES["github"] if case["name"] == "an opened issue")
        query = {"api_key": key, "stream": denmark, "topic": "news"}
        assert post(as_nobody, "github", case["payload"], {"X-GitHub-Event": "issues"}, **query)
        message = messages(as_othello, denmark)[-1]
        assert message["subject"] == "news"
        assert "issue &#35;1 Spelling error in the README file" in message["content"]

    def test_selected_events(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int
    ) -> None:
        sent = 0
        for number, query in (
            (1, {"only_events": '["st*"]'}),
            (0, {"only_events": '["push_commits"]'}),
            (0, {"only_events": "[]"}),
            (0, {"exclude_events": '["st*"]'}),
            (0, {"only_events": '["star"]', "exclude_events": '["star"]'}),
            (1, {"exclude_events": '["fork"]', "branches": "main"}),
            (1, {"ignore_private_repositories": "true"}),
        ):
            asked = {"api_key": key, "stream": denmark, **query}
            assert post(as_nobody, "github", STARRED, {"X-GitHub-Event": "star"}, **asked) == DONE
            sent += number
            assert len(messages(as_othello, denmark)) == sent, query
        private = {**STARRED, "repository": {**STARRED["repository"], "private": True}}
        asked = {"api_key": key, "stream": denmark, "ignore_private_repositories": "true"}
        assert post(as_nobody, "github", private, {"X-GitHub-Event": "star"}, **asked) == DONE
        push = {"ref": "refs/heads/main", "commits": [], "compare": "", **PING}
        push["repository"] = STARRED["repository"]
        for branches, number in (("main", 1), ("develop, release", 0), ("release,main", 1)):
            asked = {"api_key": key, "stream": denmark, "branches": branches}
            assert post(as_nobody, "github", push, {"X-GitHub-Event": "push"}, **asked) == DONE
            sent += number
            assert len(messages(as_othello, denmark)) == sent, branches

    def test_signatures(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int
    ) -> None:
        """If the URL contains a secret, the product's signature is required."""
        body = json.dumps(PING).encode()
        digest = hmac.new(SECRET.encode(), body, "sha256").hexdigest()
        query = {"api_key": key, "stream": denmark, "webhook_secret": SECRET}
        forged = bad("Webhook signature verification failed.")
        for signature, content, answer in (
            (f"sha256={digest}", body, DONE),
            (f"sha256={digest}", body + b" ", forged),
            (f"sha256={digest[:-1]}0x", body, forged),
            (digest, body, forged),
            (b"sha256=\xe9", body, forged),
            (None, body, forged),
        ):
            headers: dict[str, Any] = {"X-GitHub-Event": "ping"}
            if signature is not None:
                headers["X-Hub-Signature-256"] = signature
            assert post(as_nobody, "github", content, headers, **query) == answer, signature
        assert len(messages(as_othello, denmark)) == 1
        assert post(as_nobody, "grafana", {"alerts": []}, **query) == forged
        assert post(as_nobody, "grafana", {"alerts": []}, api_key=key) == DONE

    @pytest.mark.reaches("IDEMPOTENCY_KEY_REUSED")
    def test_repeated_delivery_is_ignored(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int
    ) -> None:
        headers = {"X-GitHub-Event": "ping", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab"}
        for _ in range(2):
            assert post(as_nobody, "github", PING, headers, api_key=key, stream=denmark) == DONE
        assert len(messages(as_othello, denmark)) == 1
        other = {**PING, "sender": {"login": "laertes"}}
        answer = post(as_nobody, "github", other, headers, api_key=key, stream=denmark)
        assert answer["code"] == "IDEMPOTENCY_KEY_REUSED"

    @pytest.mark.reaches("MISSING_HTTP_EVENT_HEADER")
    def test_rejects_invalid_requests(self, as_nobody: ChatClient, key: str) -> None:
        answer = post(as_nobody, "github", PING, api_key=key)
        assert answer == {
            **bad("Missing the HTTP event header 'X-GitHub-Event'", "MISSING_HTTP_EVENT_HEADER"),
            "header": "X-GitHub-Event",
        }
        answer = post(as_nobody, "grafana", {"state": "ok", "title": 7}, api_key=key)
        assert answer == bad("Malformed payload: payload.ruleName is missing")
        assert post(as_nobody, "jira", PING, api_key=key)["code"] == "NOT_FOUND"
        assert post(as_nobody, "grafana", [PING], api_key=key)["result"] == "error"
        assert post(as_nobody, "grafana", b"{", api_key=key)["result"] == "error"
        assert post(as_nobody, "grafana", {"alerts": []}, api_key="x" * 32)["msg"] == (
            "Invalid API key"
        )
        answer = post(as_nobody, "slack_incoming", {"text": "x"}, api_key=key, stream="Norway")
        assert answer["code"] == "STREAM_DOES_NOT_EXIST"

    def test_large_payloads_are_limited(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int
    ) -> None:
        """The number and length of messages are limited, and so is the time for a text."""
        alerts = [
            {"status": "firing", "labels": {"instance": str(n), "x": "y" * 900}} for n in range(900)
        ]
        query = {"api_key": key, "stream": denmark}
        assert post(as_nobody, "alertmanager", {"alerts": alerts}, **query) == DONE
        assert len(messages(as_othello, denmark)) == MAX_POSTS
        for text in ("*x " * 300_000, "<" * 900_000, "`" * 900_000, "_a" * 400_000, "\n" * 400_000):
            assert post(as_nobody, "slack_incoming", {"text": f"{text}x"}, **query) == DONE
            assert len(messages(as_othello, denmark)[-1]["content"]) <= CONTENT_MAX


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all scalar values in a payload."""
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, name))
    else:
        yield path


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def read(name: str, case: dict[str, Any], payload: Any, has_topic: bool = True) -> list[Any]:
    asked = Asked(event=case.get("event"), has_topic=has_topic)
    return find_posts(INTEGRATIONS[name], payload, asked, only=None, exclude=None)


class TestHostilePayloads:
    @pytest.mark.parametrize("part", [3, in_all(1)])
    @pytest.mark.parametrize("name", sorted(INTEGRATIONS))
    def test_no_text_mentions_or_is_markup(self, name: str, part: int) -> None:
        """Every value of every payload is replaced by each third of the hostile texts in turn, or
        by all of them.
        """
        tried = 0
        rendered = cache(lambda content: render(content, NAMES))  # most fields are not shown
        read_html = cache(Reading)
        texts = (*PAYLOADS, *LINES, "@*all*", "@*everyone*", "/poll x", "/me x")
        for case in CASES[name]:
            for number, path in enumerate(leaves(case["payload"])):
                for evil in texts[number % part :: part]:
                    try:
                        posts = read(name, case, replaced(case["payload"], path, evil))
                    except MalformedPayload:
                        continue
                    for each in posts:
                        found = rendered(each.content)
                        tried += 1
                        loud = [found.user_ids, found.group_ids, found.refused_group]
                        loud += [found.mentions_channel, found.mentions_topic]
                        assert not any(loud), (path, evil)
                        assert not each.content.startswith(("/poll", "/todo", "/me")), path
                        if name == "slack_incoming" or path[-1] in MARKUP:
                            continue
                        reading = read_html(found.html)
                        assert not reading.mentions, (path, evil)
                        is_address = any(word in str(path[-1]) for word in ADDRESSES)
                        if not is_address:
                            hosts = {urlsplit(each).hostname for each in reading.addresses}
                            assert EVIL not in hosts, (path, evil)
        assert tried * part > 2_000

    def test_slack_text_is_escaped_unless_slack_treats_it_as_markup(self) -> None:
        """Slack links URLs and has signs for bold text and quotes, but no other markup."""
        written = {"https://evil.example/login", "![x](https://evil.example/x.png)"}
        for evil in PAYLOADS:
            (each,) = read("slack_incoming", {}, {"text": f"Hear {evil} now"})
            reading = Reading(render(each.content, NAMES).html)
            assert not reading.mentions, evil
            assert reading.tags <= {
                "p",
                "strong",
                "em",
                "del",
                "code",
                "br",
                "a",
                "span",
                "div",
                "pre",
            }, evil
            if reading.addresses:
                assert evil in written or "https://" in evil or "<" in evil, evil

    @pytest.mark.parametrize("name", sorted(INTEGRATIONS))
    def test_values_of_other_types(self, name: str) -> None:
        """They are rejected or ignored, and raise no other error."""
        refused = 0
        for case in CASES[name]:
            paths = list(leaves(case["payload"]))
            for path in {full[:at] for full in paths for at in range(1, len(full) + 1)}:
                for other in (None, 7, -1.5, True, [], {}, [None], {"a": {}}, "", "x" * 100_000):
                    try:
                        read(name, case, replaced(case["payload"], path, other))
                    except (MalformedPayload, MissingEventHeader):
                        refused += 1
        assert refused > 100
