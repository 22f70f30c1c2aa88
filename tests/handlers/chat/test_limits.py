"""Limits that many operations share, each at its value and one above.

Limits of single operations are tested with them: `test_messages.py` has the lengths of contents and
reports, `test_message_flags.py` the size of ranges, flags and narrows, `test_subscriptions.py` the
names of channels and the properties, `test_topics.py` the policies.
"""

from typing import Any

import pytest

from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

INT_MAX = 2_147_483_647
INVALID = "Invalid message(s)"
NO_CHANNEL = "Invalid channel ID"
NO_USER = "No such user"
RANGE = {"anchor": "newest", "num_before": 0, "num_after": 0, "narrow": [], "op": "add"}
# Operation, path, parameters, and the error for the largest possible id.
BY_ID: list[tuple[str, str, dict[str, Any], str]] = [
    ("GET", "/messages/{}", {}, INVALID),
    ("PATCH", "/messages/{}", {"content": "x"}, INVALID),
    ("DELETE", "/messages/{}", {}, INVALID),
    ("GET", "/messages/{}/history", {}, INVALID),
    ("POST", "/messages/{}/report", {"report_type": "spam"}, "Message reporting is not enabled"
     " in this organization."),
    ("PATCH", "/users/me/subscriptions/{}", {"property": "is_muted", "value": True}, NO_CHANNEL),
    ("GET", "/users/me/{}/topics", {}, NO_CHANNEL),
    ("GET", "/users/{}", {}, NO_USER),
    ("GET", "/users/{}/status", {}, NO_USER),
    ("PATCH", "/scheduled_messages/{}", {"content": "x"}, "Scheduled message does not exist"),
    ("DELETE", "/scheduled_messages/{}", {}, "Scheduled message does not exist"),
]  # fmt: skip
# The same in a parameter: an id above the limit is reported as too large.
IN_PARAMETERS: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("POST", "/user_topics", "stream_id", {"topic": "x", "visibility_policy": 1}, NO_CHANNEL),
    ("POST", "/messages/flags", "messages", {"op": "add", "flag": "read"}, INVALID),
    ("POST", "/users/me/subscriptions", "principals", {"subscriptions": [{"name": "a"}]}, NO_USER),
]


@pytest.mark.parametrize("chat_filled", ["sqlite"], indirect=True)
class TestLimits:
    def test_ids_are_limited_to_integers_of_the_database(self, chat: ChatClient) -> None:
        for method, path, form, msg in BY_ID:
            case = f"{method} {path}"
            for missing in (0, INT_MAX):
                answer = chat.request(method, path.format(missing), form)
                assert answer.json()["msg"] == msg, case
                assert answer.status_code == (404 if "Scheduled" in msg else 400), case
                assert answer.json()["code"] == "BAD_REQUEST", case
            for no_id in (INT_MAX + 1, 10**30, -1, "1.5", "x"):
                if path == "/users/{}" and no_id in ("x", "1.5"):
                    continue  # an email address
                response = chat.request(method, path.format(no_id), form)
                assert response.status_code in (404, 405), f"{case} of {no_id}"
        for method, path, name, form, msg in IN_PARAMETERS:
            at = [INT_MAX] if name != "stream_id" else INT_MAX
            over = [INT_MAX + 1] if name != "stream_id" else INT_MAX + 1
            assert chat.call(method, path, {**form, name: at})["msg"] == msg, path
            told = chat.call(method, path, {**form, name: over})
            where = name if name == "stream_id" else f"{name}[0]"
            assert told["msg"] == f"{where} is too large", path

    def test_texts_are_limited_in_characters(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        channel = chat_database.run(
            lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet])
        )
        topic = {"stream_id": channel, "visibility_policy": 1}
        sent = {"type": "channel", "to": channel, "content": "x", "topic": "t"}
        message = chat.post("/messages", **sent)["id"]
        report = {"report_type": "other"}
        for path, name, limit, form, msg in (
            ("/user_topics", "topic", 60, topic, ""),
            ("/users/me/status", "status_text", 60, {}, ""),
            (f"/messages/{message}/report", "description", 1000, report,
             "Message reporting is not enabled in this organization."),
        ):  # fmt: skip
            assert chat.post(path, **form, **{name: "🙂" * limit})["msg"] == msg, path
            assert chat.post(path, **form, **{name: "🙂" * (limit + 1)}) == bad(
                f"{name} is too long (limit: {limit} characters)"
            )
        for length, stored in ((60, "🙂" * 60), (61, "🙂" * 57 + "...")):
            long = "🙂" * length
            answers = [
                chat.patch(f"/messages/{message}", topic=long),
                chat.post("/messages", **{**sent, "topic": long}),
            ]
            ids = [message, answers[1]["id"]]
            assert [chat.get(f"/messages/{i}")["message"]["subject"] for i in ids] == [stored] * 2

    def test_ranges_are_limited_to_five_thousand(self, chat: ChatClient) -> None:
        for before, after in ((5000, 0), (0, 5000), (2500, 2500)):
            wish = {"anchor": "0", "num_before": before, "num_after": after}
            assert chat.get("/messages", **wish)["result"] == "success"
        for before, after in ((5001, 0), (0, 5001), (2501, 2500)):
            wish = {"anchor": "0", "num_before": before, "num_after": after}
            told = chat.get("/messages", **wish)
            assert told["msg"] == "Too many messages requested (maximum 5000)."
            # For flags of a range the number is lowered without an error.
            done = chat.post("/messages/flags/narrow", **{**RANGE, **wish, "flag": "read"})
            assert done["result"] == "success"

    @pytest.mark.parametrize("how", ["sent", "edited", "scheduled"])
    def test_contents_are_cut_at_ten_thousand_characters(
        self, chat: ChatClient, cast: Cast, how: str
    ) -> None:
        cut = "🙂" * (10_000 - 20) + "\n[message truncated]"
        wish = {"type": "direct", "to": [cast.hamlet.id], "content": "x"}
        for length, stored in ((10_000, "🙂" * 10_000), (10_001, cut)):
            content = "🙂" * length
            if how == "scheduled":
                chat.post(
                    "/scheduled_messages",
                    **{**wish, "content": content, "scheduled_delivery_timestamp": 1_900_000_000},
                )
                found = chat.get("/scheduled_messages")["scheduled_messages"][-1]["content"]
            else:
                sent = content if how == "sent" else "x"
                path = f"/messages/{chat.post('/messages', **{**wish, 'content': sent})['id']}"
                if how == "edited":
                    assert chat.patch(path, content=content)["result"] == "success"
                found = chat.get(path)["raw_content"]
            assert found == stored
