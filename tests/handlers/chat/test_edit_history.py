"""`edit_history` of message objects: the visible part of the newest edits."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import event, insert, update

from models.chat.messages.edit_history import MAX_EDITS, MAX_TEXT
from models.chat.tables import Message, MessageEdit, Realm
from specd.db import Database
from tests.support.chat import flutter
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.decoding import check
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


def say(client: ChatClient, to: object = "Denmark", **over: Any) -> int:
    wish = {"type": "channel", "to": to, "topic": "castle", "content": "Words", **over}
    message_id: int = client.post("/messages", **wish)["id"]
    return message_id


def edit(client: ChatClient, message_id: int, **change: Any) -> None:
    answer = client.patch(f"/messages/{message_id}", **change)
    assert answer["result"] == "success", answer


def history(client: ChatClient, message_id: int, **options: Any) -> Any:
    """Return the history, which is equal for one message and in a list, or None if it is absent."""
    message = client.get(f"/messages/{message_id}", **options)["message"]
    (listed,) = client.get("/messages", message_ids=[message_id], **options)["messages"]
    assert listed.get("edit_history") == message.get("edit_history")
    for entry in message.get("edit_history", ()):
        check(entry, flutter.EDIT)
    return message.get("edit_history")


def set_policy(database: Database, cast: Cast, policy: str) -> None:
    change = update(Realm).where(Realm.id == cast.realm_id)
    values = {"message_edit_history_visibility_policy": policy}
    database.run(lambda s: s.execute(change.values(**values)))


def test_lists_edits_and_moves_newest_first(
    chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient, denmark: int, cast: Cast,
    clock: FrozenClock, chat_database: Database,
) -> None:  # fmt: skip
    norway = chat_database.run(
        lambda s: make_channel(s, cast, "Norway", subscribers=[cast.hamlet, cast.othello])
    )
    message = say(chat)
    assert history(as_othello, message) is None
    at = int(clock.now().timestamp())
    edit(chat, message, content="More words")
    clock.advance(seconds=60)
    edit(as_cordelia, message, topic="court")
    clock.advance(seconds=60)
    edit(as_cordelia, message, stream_id=norway, topic="camp")
    clock.advance(seconds=60)
    edit(chat, message, content="*Last* words", topic="plain")
    expected = [
        {
            "user_id": cast.hamlet.id,
            "timestamp": at + 180,
            "prev_content": "More words",
            "prev_rendered_content": "<p>More words</p>",
            "prev_topic": "camp",
            "topic": "plain",
        },
        {
            "user_id": cast.cordelia.id,
            "timestamp": at + 120,
            "prev_topic": "court",
            "topic": "camp",
            "prev_stream": denmark,
            "stream": norway,
        },
        {
            "user_id": cast.cordelia.id,
            "timestamp": at + 60,
            "prev_topic": "castle",
            "topic": "court",
        },
        {
            "user_id": cast.hamlet.id,
            "timestamp": at,
            "prev_content": "Words",
            "prev_rendered_content": "<p>Words</p>",
        },
    ]
    assert history(as_othello, message) == expected
    assert history(as_othello, message, apply_markdown=False) == expected


def test_realm_setting_limits_the_history(
    chat: ChatClient, denmark: int, cast: Cast, chat_database: Database
) -> None:
    both, edited = say(chat), say(chat)
    edit(chat, both, content="x", topic="court")
    edit(chat, both, content="y")
    edit(chat, edited, content="x")
    assert [entry.keys() for entry in history(chat, both)] == [
        {"user_id", "timestamp", "prev_content", "prev_rendered_content"},
        {"user_id", "timestamp", "prev_content", "prev_rendered_content", "prev_topic", "topic"},
    ]
    set_policy(chat_database, cast, "moves")
    (entry,) = history(chat, both)
    assert entry.keys() == {"user_id", "timestamp", "prev_topic", "topic"}
    assert history(chat, edited) is None
    set_policy(chat_database, cast, "none")
    assert history(chat, both) is None


def test_edits_in_a_private_channel_stay_hidden_after_a_move(
    chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast, chat_database: Database
) -> None:
    private = chat_database.run(
        lambda s: make_channel(s, cast, "Norway", subscribers=[cast.hamlet], invite_only=True)
    )
    message = say(chat, private, topic="layoff list", content="fire Yorick")
    for change in (
        {"content": "lunch at noon"},
        {"topic": "lunch"},
        {"stream_id": denmark, "topic": "today"},
        {"content": "lunch at one"},
    ):
        edit(chat, message, **change)
    full = history(chat, message)
    assert [entry.get("prev_content") for entry in full] == [
        "lunch at noon", None, None, "fire Yorick",
    ]  # fmt: skip
    assert full[1]["prev_stream"] == private
    assert history(as_othello, message) == full[:1]
    set_policy(chat_database, cast, "moves")
    assert history(as_othello, message) is None
    assert len(history(chat, message)) == 2


def test_edits_in_protected_history_stay_hidden_after_a_move(
    chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast, chat_database: Database
) -> None:
    protected = chat_database.run(
        lambda s: make_channel(
            s, cast, "vault", subscribers=[cast.hamlet, cast.othello], invite_only=True,
            history_public_to_subscribers=False,
        )
    )  # fmt: skip
    message = say(chat, protected, topic="gold")
    edit(chat, message, content="x")
    assert len(history(as_othello, message)) == 1, "its readers see it while it is in that channel"
    edit(chat, message, stream_id=denmark)
    assert history(as_othello, message) is None
    assert history(chat, message) is None


def test_empty_topic_has_the_name_for_the_client(chat: ChatClient, denmark: int) -> None:
    message = say(chat, topic="")
    edit(chat, message, topic="court")
    assert history(chat, message)[0]["prev_topic"] == "general chat"
    assert history(chat, message, allow_empty_topic_name=True)[0]["prev_topic"] == ""


def test_direct_messages_have_a_history(chat: ChatClient, cast: Cast) -> None:
    sent = chat.post("/messages", type="direct", to=[cast.othello.id], content="Words")
    edit(chat, sent["id"], content="More")
    (entry,) = history(chat, sent["id"])
    assert entry["prev_content"] == "Words"


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ([1] * (MAX_EDITS + 5), MAX_EDITS),
        ([MAX_TEXT // 2, MAX_TEXT // 2, 1], 2),
        ([MAX_TEXT // 2, MAX_TEXT // 2 + 1, 1], 1),
        ([MAX_TEXT + 1, 1], 1),
    ],
)
def test_size_is_limited(
    chat: ChatClient, denmark: int, cast: Cast, clock: FrozenClock, chat_database: Database,
    sizes: Sequence[int], shown: int,
) -> None:  # fmt: skip
    message = say(chat)
    rows = [
        {
            "message_id": message,
            "editor_id": cast.hamlet.id,
            "edited_at": clock.now(),
            "prev_content": "ä" * size,
            "prev_rendered_content": "",
        }
        for size in reversed(sizes)
    ]
    edited = update(Message).values(last_edit_at=clock.now())
    chat_database.run(lambda s: (s.execute(insert(MessageEdit), rows), s.execute(edited)))
    told = [len(entry["prev_content"]) for entry in history(chat, message)]
    assert told == list(sizes)[:shown]


def test_number_of_statements_does_not_grow_with_messages(
    chat: ChatClient, denmark: int, chat_database: Database
) -> None:
    def statements() -> int:
        seen: list[str] = []
        with chat_database.reading() as reader:
            engine = reader.engine

        def note(*arguments: Any) -> None:
            seen.append(arguments[2])

        event.listen(engine, "before_cursor_execute", note)
        try:
            assert len(chat.get("/messages", message_ids=messages)["messages"]) == len(messages)
        finally:
            event.remove(engine, "before_cursor_execute", note)
        return len(seen)

    messages = [say(chat)]
    edit(chat, messages[0], content="x")
    before = statements()
    for _ in range(4):
        messages.append(say(chat))
        edit(chat, messages[-1], content="x", topic=f"t{len(messages)}")
    assert statements() == before
