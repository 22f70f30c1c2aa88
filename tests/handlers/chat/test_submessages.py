"""Operations of the tag submessages, and messages that are polls or to-do lists."""

from typing import Any

import orjson
import pytest

from models.chat.messages.widgets import describe_widget
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, unsubscribe
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues

PATH = "/submessage"
VOTE = {"type": "vote", "key": "canned,0", "vote": 1}
POLL = "/poll To be?\n- Yes\n\n* No\n  Perhaps: later "


UNREADABLE = bad("Invalid message(s)")


@pytest.fixture
def channel(chat_database: Database, cast: Cast) -> int:
    """A private channel of Hamlet and Othello."""
    people = (cast.hamlet, cast.othello)
    return chat_database.run(
        lambda s: make_channel(s, cast, "stage", subscribers=people, invite_only=True)
    )


@pytest.fixture
def place(as_othello: ChatClient, queues: Queues) -> Place:
    """Othello's queue."""
    return queues.open(as_othello)


def say(client: ChatClient, channel: int, content: str) -> int:
    made = client.post("/messages", type="channel", to=channel, topic="t", content=content)
    return int(made["id"])


def submessages(client: ChatClient, message_id: int) -> list[dict[str, Any]]:
    return list(client.get(f"/messages/{message_id}")["message"]["submessages"])


def act(client: ChatClient, message_id: int, content: Any) -> Any:
    return client.post(PATH, message_id=message_id, msg_type="widget", content=content)


@pytest.mark.parametrize(
    ("content", "widget"),
    [
        (POLL, ("poll", {"question": "To be?", "options": ["Yes", "No", "Perhaps: later"]})),
        ("/poll", ("poll", {"question": "", "options": []})),
        ("/poll\nYes", ("poll", {"question": "", "options": ["Yes"]})),
        ("/todo", ("todo", {"task_list_title": "", "tasks": []})),
        (
            "/todo Play\n- learn: all: lines\nrest",
            ("todo", {
                "task_list_title": "Play",
                "tasks": [{"task": "learn", "desc": "all: lines"}, {"task": "rest", "desc": ""}],
            }),
        ),
        ("/polls A", None),
        (" /poll A", None),
        ("/Poll A", None),
        ("To /poll A", None),
    ],
)  # fmt: skip
def test_content_of_widgets(content: str, widget: tuple[str, Any] | None) -> None:
    expected = None if widget is None else {"widget_type": widget[0], "extra_data": widget[1]}
    assert describe_widget(content) == expected


class TestWidgets:
    def test_first_submessage_describes_the_widget(
        self, chat: ChatClient, as_othello: ChatClient, channel: int, place: Place, cast: Cast
    ) -> None:
        poll, plain = say(chat, channel, POLL), say(chat, channel, "Words")
        [first] = submessages(chat, poll)
        content = first.pop("content")
        assert first == {
            "id": first["id"], "message_id": poll, "sender_id": cast.hamlet.id,
            "msg_type": "widget",
        }  # fmt: skip
        assert orjson.loads(content) == describe_widget(POLL)
        events = [event for event in place.read() if event["type"] == "message"]
        told = [event["message"]["submessages"] for event in events]
        assert told == [[{**first, "content": content}], []]
        narrow = {"anchor": "newest", "num_before": 9, "num_after": 0}
        listed = as_othello.get("/messages", **narrow)["messages"]
        assert [each["submessages"] for each in listed] == told
        assert submessages(chat, plain) == []

    def test_content_cannot_change(self, chat: ChatClient, channel: int) -> None:
        poll, plain = say(chat, channel, POLL), say(chat, channel, "Words")
        edited = bad("Widgets cannot be edited.")
        assert chat.patch(f"/messages/{poll}", content="x") == edited
        assert chat.patch(f"/messages/{poll}", topic="elsewhere")["result"] == "success"
        for content in ("/poll A?\nYes", "Words again"):
            assert chat.patch(f"/messages/{plain}", content=content)["result"] == "success"
            assert submessages(chat, plain) == [], "an edit creates no widget"
            refused = act(chat, plain, VOTE)
            assert refused == bad("You cannot attach a submessage to this message.")


class TestAddSubmessage:
    def test_all_readers_of_the_message_are_notified(
        self, chat: ChatClient, as_othello: ChatClient, channel: int, place: Place, cast: Cast,
        queues: Queues, as_iago: ChatClient, chat_database: Database,
    ) -> None:  # fmt: skip
        poll, outside = say(chat, channel, POLL), queues.open(as_iago)
        place.read()
        option = {"type": "new_option", "idx": 1, "option": "Who knows"}
        for client, who, change in (
            (chat, cast.hamlet, VOTE), (as_othello, cast.othello, option),
            (chat, cast.hamlet, {"type": "question", "question": "Not to be?"}),
        ):  # fmt: skip
            assert act(client, poll, change) == DONE
            last = submessages(chat, poll)[-1]
            assert orjson.loads(last["content"]) == change
            assert (last["sender_id"], last["message_id"]) == (who.id, poll)
            [event] = place.read()
            assert event == {
                "id": event["id"], "type": "submessage", "msg_type": "widget",
                "message_id": poll, "submessage_id": last["id"], "sender_id": who.id,
                "content": last["content"],
            }  # fmt: skip
        assert len(submessages(as_othello, poll)) == 4
        chat_database.run(lambda s: unsubscribe(s, channel, cast.othello))
        assert act(chat, poll, VOTE) == DONE
        assert place.read() == outside.read() == []

    def test_vote_replaces_the_previous_one(
        self, chat: ChatClient, as_othello: ChatClient, channel: int
    ) -> None:
        poll = say(chat, channel, POLL)
        other = {**VOTE, "key": "canned,1"}
        for client, change in (
            (chat, VOTE), (as_othello, VOTE), (chat, other), (chat, {**VOTE, "vote": -1}),
        ):  # fmt: skip
            assert act(client, poll, change) == DONE
        kept = [orjson.loads(each["content"]) for each in submessages(chat, poll)[1:]]
        assert kept == [VOTE, other, {**VOTE, "vote": -1}]

    def test_to_do_lists(self, chat: ChatClient, as_othello: ChatClient, channel: int) -> None:
        todo = say(chat, channel, "/todo Play\nlearn")
        title = {"type": "new_task_list_title", "title": "Comedy"}
        task = {"type": "new_task", "key": 2, "task": "rest", "desc": "", "completed": False}
        for change in (task, {"type": "strike", "key": "0,canned"}):
            assert act(as_othello, todo, change) == DONE
        assert act(chat, todo, title) == DONE
        refused = "You can't edit the task list title unless you are the author."
        assert act(as_othello, todo, title) == bad(refused)
        assert act(chat, todo, VOTE) == bad("Unknown type for todo data: vote")
        assert len(submessages(chat, todo)) == 4

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient,
        as_nobody: ChatClient, channel: int, place: Place,
    ) -> None:  # fmt: skip
        poll, plain = say(chat, channel, POLL), say(chat, channel, "/pollen")
        place.read()
        strike = {"type": "strike", "key": "0,canned"}
        question = {"type": "question", "question": "x"}
        for client, message, change, msg in (
            (as_cordelia, poll, VOTE, "Invalid message(s)"),
            (chat, 999_999, VOTE, "Invalid message(s)"),
            (chat, plain, VOTE, "You cannot attach a submessage to this message."),
            (chat, poll, strike, "Unknown type for poll data: strike"),
            (as_othello, poll, question, "You can't edit a question unless you are the author."),
        ):
            assert act(client, message, change) == bad(msg)
        for change in (
            "yes", 7, {}, {"type": "vote"}, {**VOTE, "vote": 2}, {**VOTE, "by": 1},
            {**VOTE, "type": "veto"}, {**VOTE, "key": "x" * 51},
            {"type": "new_option", "idx": -1, "option": "x"},
            {"type": "new_option", "idx": 1, "option": "x" * 1001},
        ):  # fmt: skip
            answer = act(chat, poll, change)
            assert (answer["result"], answer["code"]) == ("error", "BAD_REQUEST"), change
        odd = {"message_id": poll, "msg_type": "whatever", "content": VOTE}
        assert chat.post(PATH, **odd)["result"] == "error"
        sent = {"message_id": poll, "msg_type": "widget", "content": VOTE}
        assert as_nobody.request("POST", PATH, sent).status_code == 401
        assert len(submessages(chat, poll)) == 1
        assert place.read() == []

    def test_deleted_with_the_message(self, chat: ChatClient, channel: int) -> None:
        poll = say(chat, channel, POLL)
        act(chat, poll, VOTE)
        assert chat.delete(f"/messages/{poll}") == DONE
        assert act(chat, poll, VOTE) == UNREADABLE
