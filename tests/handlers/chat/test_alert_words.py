"""Operations of the tag alert_words, and the flag of messages that contain one."""

from typing import Any

import pytest

from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues

PATH = "/users/me/alert_words"
FLAG = "has_alert_word"


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(
            s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello, cast.iago]
        )
    )


@pytest.fixture
def place(chat: ChatClient, queues: Queues) -> Place:
    """Hamlet's queue."""
    return queues.open(chat)


def flags(client: ChatClient, message_id: int) -> set[str]:
    return set(client.get(f"/messages/{message_id}")["message"]["flags"])


class TestListAlertWords:
    def test_lists_only_own_items(self, chat: ChatClient, as_othello: ChatClient) -> None:
        assert chat.get(PATH) == {**DONE, "alert_words": []}
        as_othello.post(PATH, alert_words=["handkerchief"])
        chat.post(PATH, alert_words=["prison", "castle"])
        listed = {**DONE, "alert_words": ["prison", "castle"]}
        assert chat.get(PATH) == listed
        told = chat.post("/register", fetch_event_types=["alert_words"])
        assert told["alert_words"] == ["prison", "castle"]

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", PATH).status_code == 401


class TestAddAlertWords:
    def test_word_is_added_once_in_any_case(
        self, chat: ChatClient, as_othello: ChatClient, place: Place, queues: Queues
    ) -> None:
        other_queue = queues.open(as_othello)
        sent = [" Castle ", "castle", "to be", "", "  ", "Straße", "C++"]
        words = ["Castle", "to be", "Straße", "C++"]
        assert chat.post(PATH, alert_words=sent) == {**DONE, "alert_words": words}
        [event] = place.read()
        assert event == {"id": event["id"], "type": "alert_words", "alert_words": words}
        again = chat.post(PATH, alert_words=["CASTLE", "strasse", ""])
        assert again == {**DONE, "alert_words": words}
        assert place.read() == other_queue.read() == []

    def test_rejects_invalid_words(self, chat: ChatClient) -> None:
        for wrong, msg in (
            (["x" * 101], "alert_words[0] is too long (limit: 100 characters)"),
            (["a\nb"], "alert_words must be one line, without control characters"),
            (["a\0b"], "alert_words[0] must not contain null bytes"),
            ([7], "alert_words[0] is not a string"),
            ("castle", "alert_words is not valid JSON"),
        ):
            answer = chat.post(PATH, alert_words=wrong)
            assert answer == bad(msg)
        assert chat.post(PATH)["code"] == "REQUEST_VARIABLE_MISSING"
        assert chat.get(PATH)["alert_words"] == []

    def test_guests_and_bots_are_allowed(
        self, as_nobody: ChatClient, as_polonius: ChatClient, as_reminder: ChatClient
    ) -> None:
        for client in (as_polonius, as_reminder):
            added = client.post(PATH, alert_words=["castle"])
            assert added == {**DONE, "alert_words": ["castle"]}
        assert as_nobody.request("POST", PATH, {}).status_code == 401


class TestRemoveAlertWords:
    def test_word_is_removed_in_any_case(
        self, chat: ChatClient, as_othello: ChatClient, place: Place
    ) -> None:
        as_othello.post(PATH, alert_words=["castle"])
        chat.post(PATH, alert_words=["Castle", "prison", "ghost"])
        place.read()
        removed = chat.delete(PATH, alert_words=[" CASTLE", "ghost", "nobody's"])
        assert removed == {**DONE, "alert_words": ["prison"]}
        [event] = place.read()
        assert event == {"id": event["id"], "type": "alert_words", "alert_words": ["prison"]}
        assert chat.delete(PATH, alert_words=["castle"]) == removed
        assert place.read() == []
        assert as_othello.get(PATH)["alert_words"] == ["castle"]

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("DELETE", PATH, {}).status_code == 401


class TestMessages:
    def test_word_between_separators_sets_the_flag(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int
    ) -> None:
        chat.post(PATH, alert_words=["castle", "to be", "C++", ":)", "Straße", "don't"])
        for content, has_word in (
            ("The castle.", True),
            ("forecastle, CASTLE!", True),
            ("**castle**", True),
            ("one\ncastle\ntwo", True),
            ("To be, or not", True),
            ("I like c++", True),
            ("hi :)", True),
            ("STRASSE", True),
            ("(don't)", True),
            ("castles", False),
            ("my-castle castle-like", False),
            ("to  be", False),
            ("c", False),
            ("words", False),
        ):
            sent = as_othello.post(
                "/messages", type="channel", to=denmark, topic="t", content=content
            )
            assert (FLAG in flags(chat, sent["id"])) == has_word, content

    def test_flag_is_set_only_for_users_with_the_word(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast,
        denmark: int, place: Place,
    ) -> None:  # fmt: skip
        chat.post(PATH, alert_words=["castle"])
        as_iago.post(PATH, alert_words=["prison"])
        place.read()
        for to in ({"type": "channel", "to": denmark, "topic": "t"},
                   {"type": "direct", "to": [cast.hamlet.id, cast.iago.id]}):  # fmt: skip
            sent = as_othello.post("/messages", content="A castle, @**Hamlet**", **to)["id"]
            assert flags(chat, sent) == {FLAG, "mentioned"}
            assert flags(as_iago, sent) == set()
            assert FLAG not in flags(as_othello, sent)
            [event] = [each for each in place.read() if each["type"] == "message"]
            assert set(event["flags"]) == {FLAG, "mentioned"}
        narrow = [{"operator": "is", "operand": "alerted"}]
        asked = {"anchor": "newest", "num_before": 5, "num_after": 0, "narrow": narrow}
        assert len(chat.get("/messages", **asked)["messages"]) == 2
        assert as_iago.get("/messages", **asked)["messages"] == []

    def test_edits_add_and_remove_the_flag(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, denmark: int,
        place: Place,
    ) -> None:  # fmt: skip
        chat.post(PATH, alert_words=["castle"])
        as_iago.post(PATH, alert_words=["prison"])
        sent = as_othello.post(
            "/messages", type="channel", to=denmark, topic="t", content="A castle"
        )["id"]
        chat.post("/messages/flags", messages=[sent], op="add", flag="starred")
        assert flags(chat, sent) == {FLAG, "starred"}
        place.read()
        assert as_othello.patch(f"/messages/{sent}", content="A prison")["result"] == "success"
        assert (flags(chat, sent), flags(as_iago, sent)) == ({"starred"}, {FLAG})
        [event] = place.read()
        assert (event["type"], event["flags"]) == ("update_message", ["starred"])
        assert as_othello.patch(f"/messages/{sent}", content="Castle!")["result"] == "success"
        assert (flags(chat, sent), flags(as_iago, sent)) == ({"starred", FLAG}, set())

    def test_removed_word_keeps_the_flag(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int
    ) -> None:
        to: dict[str, Any] = {"type": "channel", "to": denmark, "topic": "t"}
        before = as_othello.post("/messages", content="castle", **to)["id"]
        chat.post(PATH, alert_words=["castle"])
        between = as_othello.post("/messages", content="castle", **to)["id"]
        chat.delete(PATH, alert_words=["castle"])
        after = as_othello.post("/messages", content="castle", **to)["id"]
        has_flag = [FLAG in flags(chat, message) for message in (before, between, after)]
        assert has_flag == [False, True, False]
