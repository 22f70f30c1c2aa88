"""Operations of the tag incoming_webhooks."""

import json
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest

from models.chat.rendering.texts import CONTENT_MAX
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.bots import make, post_webhook
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

PATH = "/external/json"
FORM = "application/x-www-form-urlencoded"
PAYLOAD = {"event": "deployed", "to": ["a", {"b": None}], "text": "```\n@**Othello** é"}


def post(client: ChatClient, payload: Any = PAYLOAD, **query: Any) -> Any:
    return post_webhook(client, "json", payload, **query)


@pytest.fixture
def key(chat: ChatClient) -> str:
    """Return the key of Hamlet's incoming webhook."""
    return str(make(chat, "Herald", bot_type=2)["api_key"])


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    """A private channel of Hamlet and Othello."""
    people = [cast.hamlet, cast.othello]
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=people, invite_only=True)
    )


def newest(client: ChatClient) -> dict[str, Any]:
    query = {"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": False}
    message: dict[str, Any] = client.get("/messages", **query)["messages"][0]
    return message


class TestReceiveJson:
    def test_sends_to_a_channel(
        self, as_nobody: ChatClient, as_othello: ChatClient, key: str, denmark: int
    ) -> None:
        """The bot sends to its owner's channels by name or id, and quoted text mentions no one."""
        for stream in ("denmark", str(denmark)):
            assert post(as_nobody, api_key=key, stream=stream, topic="news") == DONE
            message = newest(as_othello)
            shown = json.dumps(PAYLOAD, indent=2, ensure_ascii=False)
            assert message["content"] == f"```json\n{shown}\n```"
            assert (message["sender_full_name"], message["client"]) == (
                "Herald",
                "ZulipJSONWebhook",
            )
            assert (message["stream_id"], message["subject"]) == (denmark, "news")
            assert "mentioned" not in message["flags"]
        assert post(as_nobody, api_key=key, stream="Denmark") == DONE
        assert newest(as_othello)["subject"] == "JSON"

    def test_sends_to_its_owner(self, as_nobody: ChatClient, chat: ChatClient, key: str) -> None:
        assert post(as_nobody, {}, api_key=key) == DONE
        message = newest(chat)
        assert (message["type"], message["content"]) == ("private", "```json\n{}\n```")

    def test_large_object_is_cut(self, as_nobody: ChatClient, chat: ChatClient, key: str) -> None:
        assert post(as_nobody, {"n": list(range(5000))}, api_key=key) == DONE
        content = newest(chat)["content"]
        assert len(content) == CONTENT_MAX
        assert content.endswith("\n[...]\n```")

    def test_accepts_keys_of_users_and_generic_bots(
        self, as_nobody: ChatClient, chat: ChatClient, cast: Cast
    ) -> None:
        for who in (cast.hamlet, cast.reminder):
            assert post(as_nobody, api_key=who.key) == DONE
            assert newest(chat)["sender_id"] == who.id

    def test_rejects_invalid_requests(
        self, as_nobody: ChatClient, as_hank: ChatClient, chat: ChatClient, key: str, cast: Cast
    ) -> None:
        def unauthorized(msg: str) -> dict[str, Any]:
            return bad(msg, "UNAUTHORIZED")

        assert post(as_nobody, api_key="x" * 32) == unauthorized("Invalid API key")
        assert post(as_nobody, api_key="x") == unauthorized("Malformed API key")
        elsewhere = "Account is not associated with this subdomain"
        assert post(as_nobody, api_key=cast.hank.key) == unauthorized(elsewhere)
        assert post(as_nobody, api_key=cast.ophelia.key) == unauthorized("Account is deactivated")
        assert post(as_nobody) == {
            **bad("Missing 'api_key' argument", "REQUEST_VARIABLE_MISSING"), "var_name": "api_key",
        }  # fmt: skip
        answer = post(as_nobody, api_key=key, stream="Norway")
        assert answer["code"] == "STREAM_DOES_NOT_EXIST"
        assert post(as_nobody, [1], api_key=key)["result"] == "error"
        chat.delete(f"/bots/{as_bot_id(chat)}")
        assert post(as_nobody, api_key=key) == unauthorized("Account is deactivated")


def as_bot_id(client: ChatClient) -> int:
    """Return the id of the client's newest bot."""
    return int(client.get("/bots")["bots"][-1]["user_id"])


class TestLimits:
    """Requests count for the owner of the key in the URL, whatever their address."""

    @pytest.fixture
    def limited(self, chat_app_with: Callable[..., ChatApp]) -> ChatClient:
        app = chat_app_with(
            rate_limits=True, chat_rate_limit_per_user=6, chat_rate_limit_per_address=3
        )
        return ChatClient(app, "acme.example")

    @pytest.fixture
    def bot_key(self, cast: Cast, chat_database: Database, chat: ChatClient) -> str:
        return str(make(chat, "Herald", bot_type=2)["api_key"])

    def test_bot_has_a_separate_limit(self, limited: ChatClient, bot_key: str) -> None:
        for _ in range(6):
            assert post(limited, api_key=bot_key) == DONE
        assert post(limited, api_key=bot_key)["code"] == "RATE_LIMIT_HIT"

    def test_invalid_keys_do_not_block_a_valid_one(self, limited: ChatClient, bot_key: str) -> None:
        for _ in range(3):
            assert post(limited, api_key="x" * 32)["code"] == "UNAUTHORIZED"
        assert post(limited, api_key="x" * 32)["code"] == "RATE_LIMIT_HIT"
        assert post(limited, api_key=bot_key) == DONE

    def test_messages_count(self, limited: ChatClient, bot_key: str) -> None:
        alert = {"status": "firing", "labels": {"alertname": "a"}, "annotations": {}}
        alerts = [
            {**alert, "labels": {"alertname": f"a{n}", "instance": f"i{n}"}} for n in range(4)
        ]
        payload = {"status": "firing", "alerts": alerts}
        assert post_webhook(limited, "alertmanager", payload, api_key=bot_key) == DONE
        assert (
            post_webhook(limited, "alertmanager", payload, api_key=bot_key)["code"]
            == "RATE_LIMIT_HIT"
        )

    def test_bots_of_an_owner_share_a_limit(self, limited: ChatClient, chat: ChatClient) -> None:
        keys = [str(make(chat, f"Herald{chr(65 + n)}", bot_type=2)["api_key"]) for n in range(6)]
        codes = [post(limited, api_key=key).get("code") for key in keys for _ in range(6)]
        assert codes == [None] * 30 + ["RATE_LIMIT_HIT"] * 6


class TestContentTypes:
    """Senders declare other content types than JSON for the JSON that they send."""

    TYPES = ("application/json", FORM, f"{FORM}; charset=utf-8", "")
    TEXT = '{"text": "100% & more=less + an é"}'
    REFUSED: ClassVar = {
        "a list": ("[1]", "object"),
        "no JSON": ("text=hello", "is not valid JSON"),
        "a slash command": ("command=%2Fjob&text=17", "is not valid JSON"),
        "a NUL": ('{"text": "\\u0000"}', "null bytes"),
    }

    @pytest.mark.parametrize("product", ["json", "slack_incoming"])
    @pytest.mark.parametrize("content_type", TYPES)
    def test_json_is_read(
        self, as_nobody: ChatClient, chat: ChatClient, key: str, product: str, content_type: str
    ) -> None:
        headers = {"Content-Type": content_type}
        assert post_webhook(as_nobody, product, self.TEXT.encode(), headers, api_key=key) == DONE
        assert "100% & more=less + an é" in newest(chat)["content"]

    @pytest.mark.parametrize("product", ["json", "slack_incoming"])
    def test_form_payload_is_read(
        self, as_nobody: ChatClient, chat: ChatClient, key: str, product: str
    ) -> None:
        content = urlencode({"payload": self.TEXT}).encode()
        headers = {"Content-Type": FORM}
        assert post_webhook(as_nobody, product, content, headers, api_key=key) == DONE
        assert "100% & more=less + an é" in newest(chat)["content"]

    @pytest.mark.parametrize("content_type", [FORM, ""])
    @pytest.mark.parametrize("name", REFUSED)
    def test_other_payload_is_rejected(
        self, as_nobody: ChatClient, key: str, name: str, content_type: str
    ) -> None:
        content, problem = self.REFUSED[name]
        headers = {"Content-Type": content_type}
        answer = post_webhook(as_nobody, "slack_incoming", content.encode(), headers, api_key=key)
        assert answer["result"] == "error"
        assert problem in answer["msg"]

    @pytest.mark.parametrize(
        ("payload", "problem"),
        [("[1]", "a dict"), ("text", "valid JSON"), ('{"a":1,"a":2}', "valid JSON")],
    )
    def test_payload_other_than_an_object_is_rejected(
        self, as_nobody: ChatClient, key: str, payload: str, problem: str
    ) -> None:
        content = urlencode({"payload": payload}).encode()
        headers = {"Content-Type": FORM}
        answer = post_webhook(as_nobody, "slack_incoming", content, headers, api_key=key)
        assert answer["msg"] == f"payload is not {problem}"

    def test_other_content_type_is_named_in_the_error(
        self, as_nobody: ChatClient, key: str
    ) -> None:
        headers = {"Content-Type": "image/png"}
        answer = post_webhook(as_nobody, "json", b"\x89PNG", headers, api_key=key)
        assert answer["msg"].startswith("Malformed request: must be application/json, ")
