"""GET /messages/matches_narrow, of the tag messages."""

from typing import Any

import pytest

from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, unsubscribe
from tests.support.chat.people import Cast

PATH = "/messages/matches_narrow"


def matches(messages: dict[int, tuple[str, str]]) -> dict[str, Any]:
    shown = {
        str(id_): {"match_content": content, "match_subject": subject}
        for id_, (content, subject) in messages.items()
    }
    return {"result": "success", "msg": "", "messages": shown}


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


def write(client: ChatClient, topic: str, content: str) -> int:
    answer = client.post("/messages", type="channel", to="Denmark", topic=topic, content=content)
    return int(answer["id"])


class TestCheckMessagesMatchNarrow:
    def test_returns_matches_with_highlighted_words(
        self, chat: ChatClient, denmark: int, cast: Cast
    ) -> None:
        one = write(chat, "a < b", "Some *words* & more")
        two = write(chat, "castle", "Silence")
        direct = chat.post("/messages", type="direct", to=[cast.othello.id], content="words")["id"]
        ids = [direct, two, one, 2147483647, one]
        assert chat.get(PATH, msg_ids=ids, narrow=[]) == matches(
            {
                one: ("<p>Some <em>words</em> &amp; more</p>", "a &lt; b"),
                two: ("<p>Silence</p>", "castle"),
                direct: ("<p>words</p>", ""),
            }
        )
        topic = [{"operator": "topic", "operand": "castle"}]
        assert chat.get(PATH, msg_ids=ids, narrow=topic) == matches(
            {two: ("<p>Silence</p>", "castle")}
        )
        mark = '<span class="highlight">words</span>'
        search = [{"operator": "search", "operand": "word"}]
        assert chat.get(PATH, msg_ids=ids, narrow=search) == matches(
            {
                one: (f"<p>Some <em>{mark}</em> &amp; more</p>", "a &lt; b"),
                direct: (f"<p>{mark}</p>", ""),
            }
        )
        assert chat.get(PATH, msg_ids=[], narrow=search) == matches({})

    def test_empty_topic(self, chat: ChatClient, denmark: int) -> None:
        sent = write(chat, "", "Words")
        assert chat.get(PATH, msg_ids=[sent], narrow=[]) == matches(
            {sent: ("<p>Words</p>", "general chat")}
        )
        assert chat.get(PATH, msg_ids=[sent], narrow=[], allow_empty_topic_name=True) == matches(
            {sent: ("<p>Words</p>", "")}
        )

    def test_considers_only_received_and_readable_messages(
        self, chat: ChatClient, chat_database: Database, cast: Cast, denmark: int
    ) -> None:
        sent = write(chat, "castle", "Words")
        channel = [{"operator": "channel", "operand": denmark}]
        iago = chat.acting_as(cast.iago)
        for narrow in ([], channel):
            assert iago.get(PATH, msg_ids=[sent], narrow=narrow) == matches({})
        secret = chat_database.run(
            lambda s: make_channel(
                s, cast, "vault", subscribers=[cast.othello, cast.hamlet], invite_only=True
            )
        )
        answer = chat.acting_as(cast.othello).post(
            "/messages", type="channel", to=secret, topic="t", content="Words"
        )
        ids = [answer["id"]]
        assert chat.get(PATH, msg_ids=ids, narrow=[]) == matches({ids[0]: ("<p>Words</p>", "t")})
        chat_database.run(lambda s: unsubscribe(s, secret, cast.hamlet))
        assert chat.get(PATH, msg_ids=ids, narrow=[]) == matches({})

    def test_rejects_invalid_requests(self, chat: ChatClient) -> None:
        for parameters, var_name in (({"narrow": []}, "msg_ids"), ({"msg_ids": []}, "narrow")):
            assert chat.get(PATH, **parameters) == bad(
                f"Missing '{var_name}' argument", "REQUEST_VARIABLE_MISSING", var_name=var_name
            )
        unknown = [{"operator": "colour", "operand": "red"}]
        assert chat.get(PATH, msg_ids=[1], narrow=unknown)["code"] == "BAD_NARROW"
        assert chat.get(PATH, msg_ids=[1], narrow=["x"]) == bad(
            "Invalid narrow[0]: Value error, dict or list required"
        )
        assert chat.get(PATH, msg_ids=list(range(501)), narrow=[])["code"] == "BAD_REQUEST"

    def test_rejects_missing_credentials(self, chat: ChatClient) -> None:
        answer = chat.acting_as(None).request("GET", PATH, {"msg_ids": [], "narrow": []})
        assert answer.status_code == 401
