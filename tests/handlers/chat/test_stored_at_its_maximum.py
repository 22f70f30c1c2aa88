"""Responses and writes if users have stored the maximum."""

from typing import Any

import orjson
import pytest
from sqlalchemy import func, insert, select, update

from models.chat.common import quotas
from models.chat.editing.history import MAX_BYTES as MAX_HISTORY
from models.chat.reading.weights import MAX_BYTES
from models.chat.submessages import MAX_BYTES as MAX_OF_A_WIDGET
from models.chat.tables import (
    Event,
    Message,
    MessageEdit,
    Realm,
    RealmEmoji,
    SavedSnippet,
    ScheduledMessage,
    StoredDraft,
    Submessage,
    UserTopic,
)
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.queues import Queues
from tests.support.frozen_clock import FrozenClock

TEXT = "é" * 10_000
HTML = "<p>" + "é&lt;" * 30_000 + "</p>"
MANY = 2_000


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet]))


def say(client: ChatClient, content: str) -> int:
    made = client.post("/messages", type="channel", to="Denmark", topic="castle", content=content)
    return int(made["id"])


class TestLists:
    @pytest.fixture
    def muted(self, chat_database: Database, denmark: int, cast: Cast, clock: FrozenClock) -> None:
        rows = [
            {
                "user_id": cast.hamlet.id,
                "channel_id": denmark,
                "topic_key": f"{number:04} {'é' * 50}",
                "topic": f"{number:04} {'É' * 50}",
                "visibility_policy": 1,
                "last_updated": clock.now(),
            }
            for number in range(MANY)
        ]
        chat_database.run(lambda session: session.execute(insert(UserTopic), rows))

    def test_single_change_does_not_write_the_list(
        self, chat: ChatClient, denmark: int, muted: None, queues: Queues, chat_database: Database
    ) -> None:
        place = queues.open(chat, event_types=frozenset({"muted_topics"}))
        for policy in (1, 0) * 5:
            chat.post("/user_topics", stream_id=denmark, topic="toggled", visibility_policy=policy)
        with chat_database.reading() as reader:
            written = reader.execute(select(func.sum(func.length(Event.payload)))).scalar_one()
        assert written < 10 * 400
        [event] = place.read()
        assert len(event["muted_topics"]) == MANY
        assert place.read() == []

    def test_waiting_poll_receives_the_list(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        mute = "/users/me/muted_users"
        for path, wish, key, value in (
            ("/users/me/alert_words", {"alert_words": ["ghost"]}, "alert_words", ["ghost"]),
            (f"{mute}/{cast.othello.id}", {}, "muted_users", [cast.othello.id]),
        ):
            place = queues.open(chat)
            poll = chat.build("GET", "/events", place.query())
            told, _ = chat.at_once(poll, chat.build("POST", path, wish))
            [event] = told.json()["events"]
            assert [each["id"] if key == "muted_users" else each for each in event[key]] == value

    def test_lost_channel_is_not_listed(
        self, chat: ChatClient, denmark: int, muted: None, queues: Queues, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        place = queues.open(chat, event_types=frozenset({"muted_topics"}))
        chat.post("/user_topics", stream_id=denmark, topic="toggled", visibility_policy=1)
        hidden = chat_database.run(
            lambda s: make_channel(s, cast, "Norway", subscribers=[cast.iago], invite_only=True)
        )
        moved = update(UserTopic).where(UserTopic.topic == "toggled").values(channel_id=hidden)
        chat_database.run(lambda session: session.execute(moved))
        [event] = place.read()
        assert {name for name, _, _ in event["muted_topics"]} == {"Denmark"}


class TestHistory:
    @pytest.mark.parametrize("policy", ["all", "moves"])
    def test_history_is_limited_in_megabytes(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast, policy: str,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        message_id = say(chat, "Words")
        rows = [
            {
                "message_id": message_id,
                "editor_id": cast.hamlet.id,
                "edited_at": clock.now(),
                "prev_content": TEXT,
                "prev_rendered_content": HTML,
                "prev_topic": f"topic {number}",
            }
            for number in range(100)
        ]

        def fill(session: Any) -> None:
            session.execute(insert(MessageEdit), rows)
            session.execute(update(Message).values(content=TEXT, rendered_content=HTML))
            session.execute(update(Realm).values(message_edit_history_visibility_policy=policy))

        chat_database.run(fill)
        history = chat.get(f"/messages/{message_id}/history")["message_history"]
        assert len(orjson.dumps(history)) < 5 * MAX_HISTORY
        assert 5 < len(history) < 20
        assert history[-1]["prev_topic"] == "topic 99", "the newest are returned"


class TestMatches:
    def test_large_response_is_cut_at_the_end(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        ids = [say(chat, "Words") for _ in range(70)]
        chat_database.run(
            lambda session: session.execute(
                update(Message).values(content=TEXT, rendered_content=HTML)
            )
        )
        answer = chat.get("/messages/matches_narrow", msg_ids=ids, narrow=[])
        assert len(orjson.dumps(answer)) < 1.2 * MAX_BYTES
        shown = [answer["messages"][str(message_id)]["match_content"] for message_id in ids]
        whole = shown.index(f"<p>{'é' * 500}<br>\n[message truncated]</p>")
        assert 40 < whole < 60
        assert set(shown[:whole]) == {HTML}
        assert len(set(shown[whole:])) == 1


def test_channels_with_the_same_people_share_an_event(
    chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast, chat_database: Database
) -> None:
    """Each event contains the ids of all recipients, once for all channels."""
    names = [f"channel {number}" for number in range(30)]
    ids = [
        chat_database.run(lambda s, name=name: make_channel(s, cast, name, subscribers=[]))
        for name in names
    ]
    place = queues.open(as_othello, event_types=frozenset({"subscription"}))
    chat.post("/users/me/subscriptions", subscriptions=[{"name": name} for name in names])
    chat.delete("/users/me/subscriptions", subscriptions=names)
    assert [(event["op"], event["stream_ids"], event["user_ids"]) for event in place.read()] == [
        ("peer_add", ids, [cast.hamlet.id]),
        ("peer_remove", ids, [cast.hamlet.id]),
    ]


def store_draft(chat: ChatClient, me: int, soon: int, content: str) -> Any:
    draft = {"type": "private", "to": [me], "topic": "", "content": content}
    return chat.post("/drafts", drafts=[draft])


def store_snippet(chat: ChatClient, me: int, soon: int, content: str) -> Any:
    return chat.post("/saved_snippets", title="x", content=content)


def store_scheduled(chat: ChatClient, me: int, soon: int, content: str) -> Any:
    form = {"type": "direct", "to": [me], "content": content, "scheduled_delivery_timestamp": soon}
    return chat.post("/scheduled_messages", **form)


NO_RECIPIENT = {"type": "", "to": [], "topic": ""}


@pytest.mark.parametrize(
    ("what", "table", "store", "change"),
    [
        ("drafts", StoredDraft, store_draft, lambda text: {"draft": {**NO_RECIPIENT, **text}}),
        ("saved_snippets", SavedSnippet, store_snippet, dict),
        ("scheduled_messages", ScheduledMessage, store_scheduled, dict),
    ],
)
def test_own_texts_fit_into_one_response(
    chat: ChatClient, cast: Cast, clock: FrozenClock, chat_database: Database,
    what: str, table: Any, store: Any, change: Any,
) -> None:  # fmt: skip
    soon = int(clock.now().timestamp()) + 60
    for content in ("large", "small"):
        assert store(chat, cast.hamlet.id, soon, content)["result"] == "success"
    large = "é" * (quotas.MAX_BYTES // 2 - 5_000)

    def fill(session: Any) -> int:
        session.execute(update(table).where(table.content == "large").values(content=large))
        small: int = session.execute(select(table.id).where(table.content == "small")).scalar_one()
        return small

    path = f"/{what}/{chat_database.run(fill)}"
    kind = what.replace("_", " ")
    refusal = bad(f"Too many bytes in {kind} (limit: {quotas.MAX_BYTES}).")
    assert store(chat, cast.hamlet.id, soon, "é" * 9_000) == refusal
    assert chat.patch(path, **change({"content": "é" * 9_000})) == refusal
    assert chat.patch(path, **change({"content": "é" * 900}))["result"] == "success"
    assert store(chat, cast.hamlet.id, soon, "é" * 900)["result"] == "success"


class TestWidgets:
    def test_widget_is_limited_to_half_a_megabyte(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        poll = say(chat, "/poll To be?\nYes")
        rows = [
            {"message_id": poll, "sender_id": cast.hamlet.id, "content": "é" * 5_000}
            for _ in range(MAX_OF_A_WIDGET // 10_000 - 1)
        ]
        chat_database.run(lambda session: session.execute(insert(Submessage), rows))

        def suggest(number: int) -> dict[str, Any]:
            option = {"type": "new_option", "idx": number, "option": "é" * 1_000}
            return chat.post("/submessage", message_id=poll, msg_type="widget", content=option)

        taken = 0
        while (answer := suggest(taken))["result"] == "success":
            taken += 1
        assert answer["msg"] == "Too many bytes in the submessages of this message (limit: 500000)."
        assert 2 < taken < 6

    def test_widgets_count_in_the_weight_of_a_range(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        polls = [say(chat, "/poll To be?\nYes") for _ in range(30)]
        rows = [
            {"message_id": poll, "sender_id": cast.hamlet.id, "content": "é" * 200_000}
            for poll in polls
        ]
        chat_database.run(lambda session: session.execute(insert(Submessage), rows))
        wish = {"anchor": "newest", "num_before": 30, "num_after": 0}
        answer = chat.get("/messages", **wish)
        assert len(orjson.dumps(answer)) < 1.2 * MAX_BYTES
        assert 20 < len(answer["messages"]) < 30
        assert not answer["found_oldest"]


def test_additional_custom_emoji_writes_no_list(
    chat: ChatClient, as_iago: ChatClient, queues: Queues, cast: Cast, chat_database: Database
) -> None:
    """Any member may create and delete emoji repeatedly."""
    rows = [
        {
            "realm_id": cast.realm_id,
            "name": f"emoji_{number}",
            "handle": f"handle{number}",
            "source_url": f"/user_avatars/1/emoji/images/{number:032}.png",
            "author_id": cast.hamlet.id,
            "is_deactivated": False,
        }
        for number in range(MANY)
    ]
    chat_database.run(lambda session: session.execute(insert(RealmEmoji), rows))
    place = queues.open(chat, event_types=frozenset({"realm_emoji"}))
    for number in range(10):
        as_iago.delete(f"/realm/emoji/emoji_{number}")
    with chat_database.reading() as reader:
        written = reader.execute(select(func.sum(func.length(Event.payload)))).scalar_one()
    assert written < 10 * 400
    [event] = place.read()
    gone = [emoji for emoji in event["realm_emoji"].values() if emoji["deactivated"]]
    assert (len(event["realm_emoji"]), len(gone)) == (MANY, 10)
    assert place.read() == []
