"""Operations of the tag messages."""

from datetime import timedelta
from typing import Any, ClassVar

import pytest
from sqlalchemy import insert, select, update

from models.chat.editing.history import MAX_EDITS
from models.chat.rendering.texts import CONTENT_MAX, TRUNCATED
from models.chat.tables import (
    Message,
    MessageArchive,
    MessageEdit,
    Realm,
    Topic,
    UserMessage,
)
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.messages import INVALID, events, say, set_realm
from tests.support.chat.people import Cast
from tests.support.chat.rows import events_of
from tests.support.frozen_clock import FrozenClock


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


class TestSendMessage:
    def test_reaches_every_subscriber(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, chat_database: Database,
        cast: Cast,
    ) -> None:  # fmt: skip
        sent = say(chat, content="Words, **words**")
        assert sent == {**DONE, "id": sent["id"], "automatic_new_visibility_policy": 3}
        assert say(chat) == {**DONE, "id": sent["id"] + 1}
        assert as_othello.get(f"/messages/{sent['id']}") == {
            **DONE,
            "message": {
                "id": sent["id"],
                "sender_id": cast.hamlet.id,
                "sender_full_name": "Hamlet",
                "sender_email": "hamlet@acme.example",
                "sender_realm_str": "",
                "avatar_url": as_othello.get("/users/hamlet@acme.example", client_extavatar=False)[
                    "user"
                ]["avatar_url"],
                "client": "",
                "content": "<p>Words, <strong>words</strong></p>",
                "content_type": "text/html",
                "display_recipient": "Denmark",
                "recipient_id": 2 * denmark,
                "type": "stream",
                "subject": "castle",
                "timestamp": 1795262400,
                "is_me_message": False,
                "reactions": [],
                "submessages": [],
                "topic_links": [],
                "stream_id": denmark,
                "flags": [],
            },
            "raw_content": "Words, **words**",
        }
        told = events(chat_database, "message")[0]
        assert told["_to"] == [cast.hamlet.id, cast.othello.id]
        assert (told["flags"], told["message"]["id"]) == ([], sent["id"])
        with chat_database.reading() as reader:
            assert reader.execute(select(Topic.name, Topic.max_id)).all() == [
                ("castle", sent["id"] + 1)
            ]

    @pytest.mark.parametrize("kind", ["channel", "stream"])
    @pytest.mark.parametrize("shape", ["id", "name", "NAME", "list", "text"])
    def test_accepts_a_channel_in_any_form(
        self, chat: ChatClient, denmark: int, kind: str, shape: str
    ) -> None:
        to = {"id": denmark, "name": "Denmark", "NAME": "DENMARK", "list": ["Denmark"]}
        assert say(chat, type=kind, to=to.get(shape, '"Denmark"'))["result"] == "success"

    @pytest.mark.parametrize("kind", ["direct", "private"])
    @pytest.mark.parametrize("shape", ["ids", "id", "emails", "text", "dummy"])
    def test_accepts_users_in_any_form(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, kind: str, shape: str
    ) -> None:
        to: Any = {
            "ids": [cast.othello.id, cast.othello.id],
            "id": cast.othello.id,
            "emails": ["othello@acme.example"],
            "text": "OTHELLO@acme.example",
            "dummy": f"user{cast.othello.id}@acme.example",
        }[shape]
        sent = say(chat, type=kind, to=to, topic=None)
        message = as_othello.get(f"/messages/{sent['id']}")["message"]
        assert (message["type"], message["subject"]) == ("private", "")
        assert [p["id"] for p in message["display_recipient"]] == [cast.hamlet.id, cast.othello.id]

    @pytest.mark.parametrize(
        ("over", "answer"),
        [
            ({"content": " \n"}, bad("Message must not be empty")),
            ({"content": "a\0b"}, bad("Message must not contain null bytes")),
            ({"topic": None}, bad("Missing topic")),
            ({"topic": "a\tb"}, bad("Invalid character in topic, at position 2!")),
            ({"subject": "x"}, bad("Can't decide between 'topic' and 'subject' arguments",
              "REQUEST_CONFUSING_VAR", var_name1="topic", var_name2="subject")),
            ({"to": 999}, bad("Channel with ID '999' does not exist", "STREAM_DOES_NOT_EXIST",
              stream_id=999)),
            ({"to": "Norway"}, bad("Channel 'Norway' does not exist", "STREAM_DOES_NOT_EXIST",
              stream="Norway")),
            ({"to": ["a", "b"]}, bad("Expected exactly one channel")),
            ({"type": "letter"}, bad("Invalid type")),
            ({"type": "direct", "to": []}, bad("Message must have recipients")),
            ({"type": "direct", "to": [999]}, bad("Invalid user ID 999")),
            ({"type": "direct", "to": ",".join(f"u{n}@acme.example" for n in range(1001))},
             bad("Too many recipients (maximum 1000).")),
            ({"type": "direct", "to": ",".join(f"u{n}@acme.example" for n in range(1000))},
             bad("Invalid email 'u0@acme.example'")),
            ({"type": "direct", "to": ",".join(
                ["Hamlet@acme.example", *(f"u{n}@acme.example" for n in range(1000))])},
             bad("Invalid email 'u0@acme.example'")),
            ({"type": "direct", "to": ["x@acme.example"]}, bad("Invalid email 'x@acme.example'")),
            ({"type": "direct", "to": [4, "x@acme.example"]}, bad("to[1] is not an integer")),
            ({"type": "direct", "to": "ophelia@acme.example"},
             bad("'ophelia@acme.example' is no longer using Zulip.")),
            ({"to": None}, bad("Missing 'to' argument", "REQUEST_VARIABLE_MISSING",
              var_name="to")),
            ({"type": None}, bad("Missing 'type' argument", "REQUEST_VARIABLE_MISSING",
              var_name="type")),
            ({"content": None}, bad("Missing 'content' argument", "REQUEST_VARIABLE_MISSING",
              var_name="content")),
        ],
    )  # fmt: skip
    def test_rejects_invalid_requests(
        self, chat: ChatClient, denmark: int, over: dict[str, Any], answer: dict[str, Any]
    ) -> None:
        assert say(chat, **over) == answer

    def test_long_texts_are_cut(self, chat: ChatClient, denmark: int) -> None:
        def stored(**over: Any) -> tuple[str, str]:
            answer = chat.get(f"/messages/{say(chat, **over)['id']}")
            return answer["raw_content"], answer["message"]["subject"]

        full = "x" * CONTENT_MAX
        assert stored(content=full)[0] == full
        assert stored(content=full + "y")[0] == full[: -len(TRUNCATED)] + TRUNCATED
        assert stored(topic="t" * 60)[1] == "t" * 60
        assert stored(topic="t" * 61)[1] == "t" * 57 + "..."

    @pytest.mark.parametrize("topic", ["", "(no topic)", "general chat", "GENERAL chat"])
    def test_empty_topic_has_two_names(self, chat: ChatClient, denmark: int, topic: str) -> None:
        path = f"/messages/{say(chat, topic=topic)['id']}"
        assert chat.get(path)["message"]["subject"] == "general chat"
        assert chat.get(path, allow_empty_topic_name=True)["message"]["subject"] == ""

    def test_respects_the_topics_policy(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        for name, policy in (("Strict", "disable_empty_topic"), ("Flat", "empty_topic_only")):
            chat_database.run(lambda s, n=name, p=policy: make_channel(s, cast, n, topics_policy=p))
        assert say(chat, to="Strict", topic="") == bad(
            "Sending messages to general chat is not allowed in this channel."
        )
        assert say(chat, to="Flat") == bad("Only general chat is allowed in this channel.")
        assert say(chat, to="Flat", topic="")["result"] == "success"

    def test_mentioned_users_have_flags_and_follow(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        sent = say(chat, content="@**Othello** @**all** @**topic**")
        with chat_database.reading() as reader:
            copies = reader.execute(
                select(UserMessage.user_id, UserMessage.flags).order_by(UserMessage.user_id)
            ).all()
        assert sent["id"]
        assert copies == [(cast.hamlet.id, 16 + 32), (cast.othello.id, 8 + 16)]
        followed = events(chat_database, "user_topic")
        assert [e["_to"] for e in followed] == [[cast.hamlet.id], [cast.othello.id]]

    def test_mention_after_many_others_is_found(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        others = " ".join(f"@**{number:04}**" for number in range(900))
        say(chat, content=f"{others} @**Othello**")
        with chat_database.reading() as reader:
            copies = reader.execute(
                select(UserMessage.flags).where(UserMessage.user_id == cast.othello.id)
            ).scalars()
            assert list(copies) == [8]

    def test_own_message_is_read_if_sent_by_an_interactive_client(
        self, chat: ChatClient, denmark: int, cast: Cast
    ) -> None:
        def flags(**over: Any) -> Any:
            return chat.get(f"/messages/{say(chat, **over)['id']}")["message"]["flags"]

        assert flags(client="ZulipPython") == []
        assert flags(client="ZulipTerminal") == ["read"]
        assert flags(client="My desktop app") == ["read"]
        assert flags(client="website", read_by_sender=False) == []
        assert flags(read_by_sender=True) == ["read"]
        itself: list[Any] = [
            [cast.hamlet.id],
            [cast.hamlet.id, cast.hamlet.id],
            [cast.hamlet.email],
            cast.hamlet.email,
            [f"user{cast.hamlet.id}@acme.example"],
        ]
        for to in itself:
            assert flags(client="website", type="direct", to=to) == []
        assert flags(client="website", type="direct", to=[cast.othello.id]) == ["read"]

    @pytest.mark.parametrize(
        ("who", "channel", "allowed"),
        [
            ("cordelia", {}, True),
            ("othello", {}, True),
            ("polonius", {}, None),
            ("polonius", {"is_web_public": True}, True),
            ("cordelia", {"invite_only": True}, False),
            ("othello", {"invite_only": True}, None),
            ("hamlet", {"invite_only": True}, True),
            ("reminder", {"invite_only": True}, True),
            ("hamlet", {"is_archived": True}, False),
            ("hamlet", {"can_send_message_group": "role:moderators"}, False),
            ("prospero", {"can_send_message_group": "role:moderators"}, True),
            ("reminder", {"can_send_message_group": "role:moderators"}, False),
        ],
    )
    def test_respects_the_send_permission(
        self, chat: ChatClient, chat_database: Database, cast: Cast, who: str,
        channel: dict[str, Any], allowed: bool | None,
    ) -> None:  # fmt: skip
        """With None, the channel is hidden, and the error is that of an unknown channel."""
        chat_database.run(
            lambda s: make_channel(s, cast, "Norway", subscribers=[cast.hamlet], **channel)
        )
        answer = say(chat.acting_as(getattr(cast, who)), to="Norway")
        if allowed:
            assert answer["result"] == "success"
        elif allowed is None:
            nobodys = say(chat.acting_as(getattr(cast, who)), to="Sweden!")
            assert nobodys["code"] == "STREAM_DOES_NOT_EXIST"
            assert str(answer) == str(nobodys).replace("Sweden!", "Norway")
        else:
            assert answer == bad("Not authorized to send to channel 'Norway'")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", "/messages", {}).status_code == 401


class TestFirstMessage:
    def test_change_is_reported_to_users_who_see_the_channel(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        """The first message, its successor after a deletion, and changes by moves."""
        norway = chat_database.run(
            lambda s: make_channel(s, cast, "Norway", subscribers=[cast.hamlet])
        )
        first, second, _ = (say(chat)["id"] for _ in range(3))
        chat.delete(f"/messages/{first}")
        chat.acting_as(cast.iago).patch(f"/messages/{second}", stream_id=norway)
        told = [
            (event["stream_id"], event["value"])
            for event in events_of(chat_database, "stream")
            if event["property"] == "first_message_id" and event["to"] is None
        ]
        assert told[:2] == [(denmark, first), (denmark, second)]
        assert sorted(told[2:]) == [(denmark, second + 1), (norway, second)]


class TestGetMessage:
    def test_returns_direct_messages_to_their_participants(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        sent = say(chat, type="direct", to=[cast.othello.id], topic=None)["id"]
        assert as_othello.get(f"/messages/{sent}")["result"] == "success"
        assert as_cordelia.get(f"/messages/{sent}") == INVALID

    def test_hides_other_organizations(
        self, chat: ChatClient, as_hank: ChatClient, denmark: int
    ) -> None:
        assert as_hank.get(f"/messages/{say(chat)['id']}") == INVALID

    @pytest.mark.parametrize("message", ["0", "1", "2147483647"])
    def test_rejects_unknown_ids(self, chat: ChatClient, message: str) -> None:
        assert chat.get(f"/messages/{message}") == INVALID

    @pytest.mark.parametrize("message", ["abc", "-1", "1.5"])
    @pytest.mark.reaches("NOT_FOUND")
    def test_older_path_is_unknown(self, chat: ChatClient, message: str) -> None:
        assert chat.request("GET", f"/messages/{message}").status_code == 404

    def test_returns_markdown(self, chat: ChatClient, denmark: int) -> None:
        path = f"/messages/{say(chat, content='**a**')['id']}"
        message = chat.get(path, apply_markdown=False)["message"]
        assert (message["content"], message["content_type"]) == ("**a**", "text/x-markdown")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/messages/1").status_code == 401


class TestListMessages:
    WISH: ClassVar = {"anchor": "newest", "num_before": 10, "num_after": 0}

    def test_lists_received_messages(
        self, chat: ChatClient, as_iago: ChatClient, denmark: int
    ) -> None:
        ids = [say(chat)["id"] for _ in range(3)]
        answer = chat.get("/messages", **self.WISH)
        assert [m.pop("id") for m in answer.pop("messages")] == ids
        assert answer == {
            **DONE,
            "anchor": 10**16,
            "found_anchor": False,
            "found_oldest": True,
            "found_newest": True,
            "history_limited": False,
        }
        assert as_iago.get("/messages", **self.WISH)["messages"] == []
        narrow = [{"operator": "channel", "operand": denmark}]
        assert len(as_iago.get("/messages", **self.WISH, narrow=narrow)["messages"]) == 3
        picked = as_iago.get("/messages", message_ids=[ids[2], ids[0], 999_999])
        assert [m["id"] for m in picked["messages"]] == [ids[0], ids[2]]

    @pytest.mark.parametrize("path", ["/messages?message_ids=1&message_ids=2", "/users?user_ids=1"])
    def test_accepts_ids_as_repeated_keys(self, chat: ChatClient, path: str) -> None:
        assert chat.request("GET", path).status_code == 200

    def test_matches_of_a_search_are_highlighted(self, chat: ChatClient, denmark: int) -> None:
        say(chat, content="Searching for <ghosts>", topic="ghost & co")
        narrow = [["search", "ghost"]]
        (message,) = chat.get("/messages", **self.WISH, narrow=narrow)["messages"]
        assert message["match_content"] == (
            '<p>Searching for &lt;<span class="highlight">ghosts</span>&gt;</p>'
        )
        assert message["match_subject"] == '<span class="highlight">ghost</span> &amp; co'
        (message,) = chat.get("/messages", **self.WISH)["messages"]
        assert {"match_content", "match_subject"}.isdisjoint(message)

    @pytest.mark.parametrize(
        ("over", "answer"),
        [
            ({"anchor": "soon"}, bad("Invalid anchor")),
            ({"num_before": 5000, "num_after": 1},
             bad("Too many messages requested (maximum 5000).")),
            ({"num_before": -1}, bad("num_before is too small")),
            ({"num_before": "x"}, bad("num_before is not valid JSON")),
            ({"anchor": None}, bad("Missing 'anchor' argument", "REQUEST_VARIABLE_MISSING",
              var_name="anchor")),
            ({"num_after": None}, bad("Missing 'num_after' argument", "REQUEST_VARIABLE_MISSING",
              var_name="num_after")),
        ],
    )  # fmt: skip
    def test_rejects_invalid_requests(
        self, chat: ChatClient, over: dict[str, Any], answer: dict[str, Any]
    ) -> None:
        assert chat.get("/messages", **{**self.WISH, **over}) == answer

    def test_accepts_the_maximum_number(self, chat: ChatClient) -> None:
        assert chat.get("/messages", anchor="1", num_before=2500, num_after=2500)["messages"] == []

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/messages", self.WISH).status_code == 401


class TestUpdateMessage:
    def test_changes_the_content_and_keeps_the_history(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, clock: FrozenClock,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        message = say(chat, content="Words, words")["id"]
        clock.advance(seconds=600)
        path = f"/messages/{message}"
        assert chat.patch(path, content="Words @**Othello**") == {**DONE, "detached_uploads": []}
        assert as_othello.get(path)["message"]["flags"] == ["mentioned"]
        assert as_othello.get(f"{path}/history") == {
            **DONE,
            "message_history": [
                {
                    "topic": "castle",
                    "content": "Words, words",
                    "rendered_content": "<p>Words, words</p>",
                    "timestamp": 1795262400,
                    "user_id": cast.hamlet.id,
                },
                {
                    "topic": "castle",
                    "content": "Words @**Othello**",
                    "rendered_content": '<p>Words <span class="user-mention" data-user-id="5">'
                    "@Othello</span></p>",
                    "timestamp": 1795263000,
                    "user_id": cast.hamlet.id,
                    "prev_content": "Words, words",
                    "prev_rendered_content": "<p>Words, words</p>",
                    "content_html_diff": as_othello.get(f"{path}/history")["message_history"][1][
                        "content_html_diff"
                    ],
                },
            ],
        }
        told, to_othello = events(chat_database, "update_message")
        assert (told["_to"], to_othello["_to"]) == ([cast.hamlet.id], [cast.othello.id])
        clock.advance(seconds=1)
        assert chat.patch(path, content="late") == bad(
            "The time limit for editing this message has passed"
        )

    def test_rejects_invalid_requests(self, chat: ChatClient, as_othello: ChatClient, denmark: int,
                     cast: Cast, chat_database: Database) -> None:  # fmt: skip
        path = f"/messages/{say(chat)['id']}"
        direct = f"/messages/{say(chat, type='direct', to=[cast.othello.id], topic=None)['id']}"
        assert chat.patch(path) == bad("Nothing to change")
        assert as_othello.patch(path, content="x") == bad(
            "You don't have permission to edit this message"
        )
        assert chat.patch(path, content="x", stream_id=denmark) == bad(
            "Cannot change message content while changing channel"
        )
        assert chat.patch(path, content="x", propagate_mode="change_all") == bad(
            "Invalid propagate_mode without topic edit"
        )
        assert chat.patch(path, content="x", prev_content_sha256="0" * 64) == bad(
            "'prev_content_sha256' value does not match the expected value.",
            "EXPECTATION_MISMATCH",
        )
        assert chat.patch(direct, topic="x") == bad("Direct messages cannot have topics.")
        assert chat.patch(direct, stream_id=denmark) == bad(
            "Direct messages cannot be moved to channels."
        )
        assert chat.patch("/messages/999999", content="x") == INVALID
        set_realm(chat_database, cast, allow_message_editing=False)
        assert chat.patch(path, content="x") == bad(
            "Your organization has turned off message editing"
        )

    @pytest.mark.parametrize(
        ("mode", "moved"),
        [("change_one", [1]), ("change_later", [1, 2]), ("change_all", [0, 1, 2])],
    )
    def test_moves_to_another_topic(
        self, chat: ChatClient, denmark: int, chat_database: Database, mode: str, moved: list[int]
    ) -> None:
        ids = [say(chat)["id"] for _ in range(3)]
        wish = {"topic": "Court", "propagate_mode": mode, "send_notification_to_new_thread": False}
        assert chat.patch(f"/messages/{ids[1]}", **wish)["result"] == "success"
        topics = [chat.get(f"/messages/{i}")["message"]["subject"] for i in ids]
        assert topics == ["Court" if n in moved else "castle" for n in range(3)]
        left = [i for n, i in enumerate(ids) if n not in moved]
        with chat_database.reading() as reader:
            summary = reader.execute(select(Topic.name, Topic.max_id).order_by(Topic.name)).all()
        assert summary == [("Court", ids[max(moved)])] + ([("castle", left[-1])] if left else [])
        history = chat.get(f"/messages/{ids[1]}/history")["message_history"]
        assert history[1]["prev_topic"] == "castle"
        assert "prev_content" not in history[1]

    def test_moves_to_another_channel_with_the_copies(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        norway = chat_database.run(
            lambda s: make_channel(s, cast, "Norway", subscribers=[cast.hamlet, cast.iago],
                                   invite_only=True, history_public_to_subscribers=False)
        )  # fmt: skip
        message = say(chat)["id"]
        assert chat.patch(f"/messages/{message}", stream_id=norway)["result"] == "success"
        with chat_database.reading() as reader:
            readers = reader.execute(
                select(UserMessage.user_id)
                .where(UserMessage.message_id == message)
                .order_by(UserMessage.user_id)
            ).scalars().all()  # fmt: skip
            first = reader.execute(select(Message.channel_id).where(Message.id == message)).scalar()
        assert (readers, first) == ([cast.iago.id, cast.hamlet.id], norway)
        snapshot = chat.get(f"/messages/{message}/history")["message_history"][1]
        assert (snapshot["stream"], snapshot["prev_stream"]) == (norway, denmark)

    def test_content_of_a_private_channel_stays_hidden_after_a_move(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        private = chat_database.run(
            lambda s: make_channel(s, cast, "Norway", subscribers=[cast.hamlet], invite_only=True)
        )
        message = say(chat, to="Norway", topic="layoff list", content="fire Yorick")["id"]
        for change in (
            {"content": "lunch at noon"},
            {"topic": "lunch"},
            {"stream_id": denmark, "topic": "today"},
            {"content": "lunch at one"},
        ):
            assert chat.patch(f"/messages/{message}", **change)["result"] == "success"
        path = f"/messages/{message}/history"
        full = chat.get(path)["message_history"]
        seen = chat.acting_as(cast.othello).get(path)["message_history"]
        moved = {
            name: value
            for name, value in full[3].items()
            if name not in ("prev_topic", "stream", "prev_stream")
        }
        assert len(full) == 5
        assert full[3]["prev_stream"] == private
        assert full[0]["content"] == "fire Yorick"
        assert seen == [moved, full[4]]

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("PATCH", "/messages/1").status_code == 401


class TestFlagsOfAnEdit:
    def test_each_user_receives_own_flags(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        message_id = say(chat)["id"]
        chat.patch(f"/messages/{message_id}", content="@**Othello**")
        told = [(event["flags"], event["_to"]) for event in events(chat_database, "update_message")]
        assert sorted(told) == [([], [cast.hamlet.id]), (["mentioned"], [cast.othello.id])]


class TestListMessageHistory:
    def test_lists_the_newest_edits(
        self, chat: ChatClient, denmark: int, chat_database: Database, clock: FrozenClock
    ) -> None:
        message = say(chat, content="a0")["id"]
        with chat_database.reading() as reader:
            sent_at = reader.execute(select(Message.sent_at)).scalar_one()

        def edit(first: int, last: int) -> None:
            rows = [
                {
                    "message_id": message,
                    "editor_id": chat.member.id if chat.member else 0,
                    "edited_at": sent_at + timedelta(seconds=n),
                    "prev_content": f"a{n - 1}",
                    "prev_rendered_content": f"<p>a{n - 1}</p>",
                }
                for n in range(first, last + 1)
            ]
            newest = {"content": f"a{last}", "rendered_content": f"<p>a{last}</p>"}
            chat_database.run(
                lambda s: (s.execute(insert(MessageEdit), rows), s.execute(update(Message), newest))
            )

        def shown() -> list[tuple[int, str]]:
            history = chat.get(f"/messages/{message}/history")["message_history"]
            return [(h["timestamp"] - int(sent_at.timestamp()), h["content"]) for h in history]

        edit(1, MAX_EDITS)
        assert shown() == [(n, f"a{n}") for n in range(MAX_EDITS + 1)]
        edit(MAX_EDITS + 1, MAX_EDITS + 50)
        assert shown() == [(n, f"a{n}") for n in range(50, MAX_EDITS + 51)]

    def test_can_be_disabled(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        path = f"/messages/{say(chat)['id']}"
        chat.patch(path, content="x")
        chat.patch(path, topic="court")
        set_realm(chat_database, cast, message_edit_history_visibility_policy="moves")
        history = chat.get(f"{path}/history")["message_history"]
        assert [(h["topic"], h["content"]) for h in history] == [("castle", "x"), ("court", "x")]
        set_realm(chat_database, cast, message_edit_history_visibility_policy="none")
        assert chat.get(f"{path}/history") == bad(
            "Message edit history is disabled in this organization"
        )

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/messages/1/history").status_code == 401


class TestDeleteMessage:
    def test_archives_the_message_and_deletes_its_copies(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        first, last = say(chat)["id"], say(chat)["id"]
        assert chat.delete(f"/messages/{last}") == DONE
        assert chat.get(f"/messages/{last}") == INVALID
        assert chat.delete(f"/messages/{last}") == INVALID
        with chat_database.reading() as reader:
            assert reader.execute(select(Topic.max_id)).scalars().all() == [first]
            archived = reader.execute(select(MessageArchive.id, MessageArchive.archived_by)).all()
        assert archived == [(last, cast.hamlet.id)]
        (told,) = events(chat_database, "delete_message")
        assert told == {
            "message_id": last,
            "message_ids": [last],
            "message_type": "stream",
            "stream_id": denmark,
            "topic": "castle",
            "_to": [cast.hamlet.id, cast.othello.id],
        }
        chat.delete(f"/messages/{first}")
        with chat_database.reading() as reader:
            assert reader.execute(select(Topic.max_id)).all() == []

    NOT_YOURS = bad("You don't have permission to delete this message")
    TOO_LATE = bad("The time limit for deleting this message has passed")

    @pytest.mark.parametrize(
        ("who", "after", "settings", "answer"),
        [
            ("hamlet", 600, {}, DONE),
            ("hamlet", 601, {}, TOO_LATE),
            ("hamlet", 601, {"message_content_delete_limit_seconds": None}, DONE),
            ("hamlet", 0, {"can_delete_own_message_group": "nobody_group_id"}, NOT_YOURS),
            ("othello", 0, {}, NOT_YOURS),
            ("othello", 9999, {"can_delete_any_message_group": "everyone_group_id"}, DONE),
            ("prospero", 0, {}, NOT_YOURS),
            ("iago", 9999, {}, DONE),
            ("cordelia", 9999, {}, DONE),
            ("polonius", 0, {}, INVALID),
        ],
    )
    def test_respects_permission_and_time_limit(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast,
        clock: FrozenClock, who: str, after: int, settings: dict[str, Any], answer: Any,
    ) -> None:  # fmt: skip
        message = say(chat)["id"]
        values = {
            name: getattr(Realm, value) if isinstance(value, str) else value
            for name, value in settings.items()
        }
        if values:
            set_realm(chat_database, cast, **values)
        clock.advance(seconds=after)
        client = chat.acting_as(getattr(cast, who))
        assert client.delete(f"/messages/{message}") == answer

    def test_owner_may_delete_messages_of_bots(
        self, chat: ChatClient, as_reminder: ChatClient, denmark: int
    ) -> None:
        assert chat.delete(f"/messages/{say(as_reminder)['id']}") == DONE

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("DELETE", "/messages/1").status_code == 401


class TestReportMessage:
    @pytest.fixture
    def moderation(self, chat_database: Database, cast: Cast) -> int:
        channel = chat_database.run(
            lambda s: make_channel(s, cast, "mods", subscribers=[cast.prospero], invite_only=True)
        )
        set_realm(chat_database, cast, moderation_request_channel_id=channel)
        return channel

    @pytest.mark.parametrize("kind", ["spam", "harassment", "inappropriate", "norms", "other"])
    def test_notifies_the_moderators(
        self, chat: ChatClient, as_othello: ChatClient, as_prospero: ChatClient, denmark: int,
        moderation: int, kind: str, cast: Cast,
    ) -> None:  # fmt: skip
        message = say(chat, content="``` buy")["id"]
        answer = as_othello.post(
            f"/messages/{message}/report", report_type=kind, description="Third time"
        )
        assert answer == DONE
        (report,) = as_prospero.get("/messages", anchor="newest", num_before=1, num_after=0)[
            "messages"
        ]
        assert (report["stream_id"], report["subject"]) == (moderation, "Hamlet moderation")
        assert report["sender_full_name"] == "Notification Bot"
        for part in ("Third time", "spoiler-block", "buy", f"/near/{message}", "silent"):
            assert part in report["content"]

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        path = f"/messages/{say(chat)['id']}/report"
        assert chat.post(path, report_type="spam") == bad(
            "Message reporting is not enabled in this organization."
        )
        for description in (None, "", " "):
            assert chat.post(path, report_type="other", description=description) == bad(
                "An explanation is required."
            )
        assert chat.post(path, report_type="x") == bad(
            "Invalid report_type: Value error, Not in the list of possible values"
        )
        assert chat.post(path)["var_name"] == "report_type"
        set_realm(chat_database, cast, moderation_request_channel_id=denmark)
        assert chat.post("/messages/999999/report", report_type="spam") == INVALID
        assert chat.post(path, report_type="spam", description="x" * 1001) == bad(
            "description is too long (limit: 1000 characters)"
        )
        assert chat.post(path, report_type="spam", description="x" * 1000) == DONE

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", "/messages/1/report").status_code == 401


class TestRenderText:
    def test_returns_html(self, chat: ChatClient) -> None:
        answer = chat.post("/messages/render", content="**a** @**Othello**")
        assert answer == {
            **DONE,
            "rendered": '<p><strong>a</strong> <span class="user-mention" data-user-id="5">'
            "@Othello</span></p>",
        }

    def test_number_of_names_does_not_change_the_statement(
        self, chat: ChatClient, chat_database: Database
    ) -> None:
        compiled = []
        for many in (2, 100):
            names = " ".join(f"@**name {n}** @**|{n + 1000}**" for n in range(many))
            answer = chat.post("/messages/render", content=f"{names} @**oTHELLO** @**|5**")
            assert answer["rendered"].count("@Othello</span>") == 2
            compiled.append(len(chat_database._engine("reading")._compiled_cache or ()))
        assert compiled[0] == compiled[1] > 0

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", "/messages/render", {"content": "x"}).status_code == 401
