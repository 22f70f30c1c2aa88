"""Operations of the tag navigation_views."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.queues import Place, Queues

PATH = "/navigation_views"
ALERTED = {"fragment": "narrow/is/alerted", "is_pinned": True, "name": "Alert words"}
INBOX = {"fragment": "inbox", "is_pinned": False, "name": None}


ABSENT = bad("Navigation view does not exist.")
EXISTS = bad("Navigation view already exists.")
BUILT_IN = bad("Built-in views cannot have a custom name.")
NAMELESS = bad("Custom views must have a valid name.")


@pytest.fixture
def place(chat: ChatClient, queues: Queues) -> Place:
    """Hamlet's queue."""
    return queues.open(chat)


def one(fragment: str) -> str:
    return f"{PATH}/{quote(fragment, safe='')}"


def add(client: ChatClient, view: dict[str, Any]) -> None:
    form = {name: value for name, value in view.items() if value is not None}
    assert client.post(PATH, **form) == DONE


def listed(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get(PATH)
    assert answer == {**DONE, "navigation_views": answer["navigation_views"]}
    return list(answer["navigation_views"])


def event_payloads(place: Place) -> list[dict[str, Any]]:
    return [{key: event[key] for key in event if key != "id"} for event in place.read()]


class TestAddNavigationView:
    def test_adds_views(
        self, chat: ChatClient, as_othello: ChatClient, place: Place, queues: Queues
    ) -> None:
        other_queue = queues.open(as_othello)
        add(chat, {"fragment": " narrow/is/alerted ", "is_pinned": True, "name": " Alert words "})
        add(chat, INBOX)
        assert listed(chat) == [ALERTED, INBOX]
        event = {"type": "navigation_view", "op": "add"}
        assert event_payloads(place) == [
            event | {"navigation_view": each} for each in (ALERTED, INBOX)
        ]
        assert other_queue.read() == listed(as_othello) == []
        add(as_othello, ALERTED)

    def test_rejects_invalid_views(self, chat: ChatClient, as_nobody: ChatClient) -> None:
        add(chat, ALERTED)
        add(chat, INBOX)
        for fragment, name, answer in (
            ("narrow/is/alerted", "Other", EXISTS),
            ("narrow/is/followed", "Alert words", EXISTS),
            ("inbox", None, EXISTS),
            ("recent", "Mine", BUILT_IN),
            ("narrow/is/followed", None, NAMELESS),
            ("narrow/is/followed", " ", NAMELESS),
            (" ", "Other", bad("Fragment cannot be empty.")),
            ("a\nb", "Other", bad("fragment must be one line, without control characters")),
            ("a", "b\nc", bad("name must be one line, without control characters")),
            ("x" * 501, "Other", bad("fragment is too long (limit: 500 characters)")),
            ("x", "x" * 101, bad("name is too long (limit: 100 characters)")),
        ):
            form = {"fragment": fragment} | ({} if name is None else {"name": name})
            assert chat.post(PATH, is_pinned=True, **form) == answer
        assert chat.post(PATH, fragment="feed")["code"] == "REQUEST_VARIABLE_MISSING"
        assert listed(chat) == [ALERTED, INBOX]
        assert as_nobody.request("POST", PATH, {}).status_code == 401


class TestListNavigationViews:
    def test_lists_only_own_items(
        self, chat: ChatClient, as_nobody: ChatClient, as_polonius: ChatClient,
        as_reminder: ChatClient,
    ) -> None:  # fmt: skip
        """Guests and bots have views, too."""
        for client in (chat, as_polonius, as_reminder):
            add(client, ALERTED)
            known = client.post("/register", fetch_event_types=["navigation_views"])
            assert known["navigation_views"] == listed(client) == [ALERTED]
        assert as_nobody.request("GET", PATH).status_code == 401


class TestUpdateNavigationView:
    def test_changes_given_values(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, place: Place
    ) -> None:
        path, view = one(ALERTED["fragment"]), dict(ALERTED)
        add(chat, ALERTED)
        add(chat, INBOX)
        for change in ({"is_pinned": False}, {"name": "Words"}, {"is_pinned": True, "name": "A"}):
            place.read()
            assert chat.patch(path, **change) == DONE
            view |= change
            assert listed(chat) == [view, INBOX]
            event = {"type": "navigation_view", "op": "update", "fragment": view["fragment"]}
            assert event_payloads(place) == [event | {"data": change}]
        assert chat.patch(path) == chat.patch(path, **change) == DONE
        assert place.read() == [], "nothing has changed"
        add(chat, {"fragment": "narrow/is/followed", "is_pinned": True, "name": "B"})
        place.read()
        assert chat.patch(path, name="B") == EXISTS
        assert chat.patch(path, name=" ") == NAMELESS
        assert chat.patch(one("inbox"), name="Mine") == BUILT_IN
        for client, other in ((as_othello, path), (chat, one("narrow/nothing"))):
            response = client.request("PATCH", other, {"is_pinned": True})
            assert (response.status_code, response.json()) == (404, ABSENT)
        assert place.read() == []
        assert as_nobody.request("PATCH", path, {}).status_code == 401

    def test_unescaped_slashes_are_accepted(self, chat: ChatClient, place: Place) -> None:
        """Clients put the fragment into the URL unchanged."""
        add(chat, ALERTED)
        assert chat.patch(f"{PATH}/narrow/is/alerted", is_pinned=False) == DONE
        assert listed(chat) == [ALERTED | {"is_pinned": False}]
        assert chat.patch(f"{PATH}/narrow//is%2Falerted/", is_pinned=True)["msg"] == ABSENT["msg"]
        assert chat.delete(f"{PATH}/narrow/is/alerted") == DONE
        assert listed(chat) == []


class TestRemoveNavigationView:
    def test_removes_only_own_views(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, place: Place
    ) -> None:
        add(chat, ALERTED)
        add(chat, INBOX)
        place.read()
        path = one(ALERTED["fragment"])
        for client, other in ((as_othello, path), (chat, one("narrow/nothing"))):
            response = client.request("DELETE", other, {})
            assert (response.status_code, response.json()) == (404, ABSENT)
        assert chat.delete(path) == DONE
        assert chat.delete(path) == ABSENT
        assert event_payloads(place) == [
            {"type": "navigation_view", "op": "remove", "fragment": ALERTED["fragment"]}
        ]
        assert listed(chat) == [INBOX]
        assert as_nobody.request("DELETE", path, {}).status_code == 401
