"""Operations of the tag saved_snippets."""

from typing import Any

import pytest

from tests.support.chat import flutter
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.decoding import check
from tests.support.chat.queues import Place, Queues
from tests.support.frozen_clock import FrozenClock

PATH = "/saved_snippets"


ABSENT = bad("Saved snippet does not exist.")
NO_TITLE, NO_CONTENT = bad("Title cannot be empty."), bad("Content cannot be empty.")


@pytest.fixture
def place(chat: ChatClient, queues: Queues) -> Place:
    """Hamlet's queue."""
    return queues.open(chat)


def save(client: ChatClient, title: str = "Greeting", content: str = "Words") -> int:
    return int(client.post(PATH, title=title, content=content)["saved_snippet_id"])


def listed(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get(PATH)
    assert answer == {**DONE, "saved_snippets": answer["saved_snippets"]}
    return list(answer["saved_snippets"])


class TestCreateSavedSnippet:
    def test_creates_a_snippet(
        self, chat: ChatClient, as_othello: ChatClient, place: Place, queues: Queues,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        other_queue = queues.open(as_othello)
        made = chat.post(PATH, title=" Greeting ", content="\nGood *day*.\n")
        assert made == {**DONE, "saved_snippet_id": made["saved_snippet_id"]}
        snippet = {
            "id": made["saved_snippet_id"],
            "title": "Greeting",
            "content": "Good *day*.",
            "date_created": int(clock.now().timestamp()),
        }
        check(snippet, flutter.SNIPPET)
        assert listed(chat) == [snippet]
        [event] = place.read()
        assert event == {
            "id": event["id"], "type": "saved_snippets", "op": "add", "saved_snippet": snippet,
        }  # fmt: skip
        assert other_queue.read() == listed(as_othello) == []
        again = save(chat)
        assert [each["id"] for each in listed(chat)] == [snippet["id"], again]

    def test_rejects_invalid_requests(self, chat: ChatClient, as_nobody: ChatClient) -> None:
        for title, content, answer in (
            ("", "x", NO_TITLE),
            (" ", "x", NO_TITLE),
            ("a\nb", "x", bad("title must be one line, without control characters")),
            ("x", "", NO_CONTENT),
            ("x", "\n ", NO_CONTENT),
            ("x" * 61, "x", bad("title is too long (limit: 60 characters)")),
            ("x", "x" * 10_001, bad("content is too long (limit: 10000 characters)")),
        ):
            assert chat.post(PATH, title=title, content=content) == answer
        assert chat.post(PATH, title="x")["code"] == "REQUEST_VARIABLE_MISSING"
        assert listed(chat) == []
        assert as_nobody.request("POST", PATH, {}).status_code == 401


class TestListSavedSnippets:
    def test_lists_only_own_items(
        self, chat: ChatClient, as_nobody: ChatClient, as_polonius: ChatClient,
        as_reminder: ChatClient,
    ) -> None:  # fmt: skip
        """Guests and bots have snippets, too."""
        for client in (chat, as_polonius, as_reminder):
            snippet_id = save(client)
            told = client.post("/register", fetch_event_types=["saved_snippets"])
            assert told["saved_snippets"] == listed(client)
            assert [each["id"] for each in listed(client)] == [snippet_id]
        assert as_nobody.request("GET", PATH).status_code == 401


class TestUpdateSavedSnippet:
    def test_changes_given_values(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, place: Place
    ) -> None:
        path = f"{PATH}/{save(chat)}"
        [snippet] = listed(chat)
        for change in ({"title": "Farewell"}, {"content": "Adieu"}, {"title": "A", "content": "B"}):
            place.read()
            assert chat.patch(path, **change) == DONE
            snippet |= change
            assert listed(chat) == [snippet]
            [event] = place.read()
            assert event == {
                "id": event["id"], "type": "saved_snippets", "op": "update",
                "saved_snippet": snippet,
            }  # fmt: skip
        assert chat.patch(path) == bad("No new data is supplied")
        assert chat.patch(path, title=" ") == NO_TITLE
        assert chat.patch(path, content=" ") == NO_CONTENT
        for client, other in ((as_othello, path), (chat, f"{PATH}/999999")):
            response = client.request("PATCH", other, {"title": "x"})
            assert (response.status_code, response.json()) == (404, ABSENT)
        assert listed(chat) == [snippet]
        assert place.read() == []
        assert as_nobody.request("PATCH", path, {}).status_code == 401


class TestDeleteSavedSnippet:
    def test_deletes_only_own_snippets(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, place: Place
    ) -> None:
        first, second = save(chat), save(chat)
        place.read()
        for client, path in ((as_othello, f"{PATH}/{first}"), (chat, f"{PATH}/999999")):
            response = client.request("DELETE", path, {})
            assert (response.status_code, response.json()) == (404, ABSENT)
        assert chat.delete(f"{PATH}/{first}") == DONE
        assert chat.delete(f"{PATH}/{first}") == ABSENT
        [event] = place.read()
        assert event == {
            "id": event["id"], "type": "saved_snippets", "op": "remove", "saved_snippet_id": first,
        }  # fmt: skip
        assert [each["id"] for each in listed(chat)] == [second]
        assert as_nobody.request("DELETE", f"{PATH}/{second}").status_code == 401
