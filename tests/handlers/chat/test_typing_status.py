"""Operations of the tag typing_status, and their events."""

from typing import Any

import pytest
from sqlalchemy import func, select, update

from models.chat import typing_status
from models.chat.queues.retention import LASTS
from models.chat.tables import Channel, Event, Realm, User, UserGroup
from models.chat.tables.log import EPHEMERAL
from specd.db import Database
from tests.support.chat import flutter, zulip_term
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe
from tests.support.chat.people import Cast
from tests.support.chat.queues import Queues
from tests.support.frozen_clock import FrozenClock

CAPABLE = {"capabilities": frozenset({"stream_typing_notifications", "empty_topic_name"})}


def count_events(database: Database) -> int:
    with database.reading() as reader:
        return reader.execute(select(func.count()).select_from(Event)).scalar_one()


def set_up(database: Database, **columns: Any) -> None:
    """Change Acme's settings as the operator."""
    database.run(lambda s: s.execute(update(Realm).values(**columns)))


@pytest.fixture
def square(chat_database: Database, cast: Cast) -> int:
    """A public channel of Hamlet, Othello and Cordelia."""
    all_users = [cast.hamlet, cast.othello, cast.cordelia]
    return chat_database.run(lambda s: make_channel(s, cast, "square", subscribers=all_users))


class TestSetTypingStatus:
    def test_notifies_recipients_of_a_direct_message(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        other_queue, own_queue = queues.open(as_othello), queues.open(chat)
        for op in ("start", "stop"):
            assert chat.post("/typing", op=op, to=[cast.othello.id]) == DONE
        events = other_queue.read()
        assert events == [
            {
                "id": events[at]["id"],
                "type": "typing",
                "op": op,
                "message_type": "direct",
                "sender": {"user_id": cast.hamlet.id, "email": cast.hamlet.email},
                "recipients": [
                    {"user_id": cast.hamlet.id, "email": cast.hamlet.email},
                    {"user_id": cast.othello.id, "email": cast.othello.email},
                ],
            }
            for at, op in enumerate(("start", "stop"))
        ]
        assert own_queue.read() == events
        for event in events:
            flutter.check_event(event)
            zulip_term.check_event(event)

    @pytest.mark.parametrize("type_", ["channel", "stream"])
    def test_notifies_subscribers_of_a_channel(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, queues: Queues,
        cast: Cast, square: int, type_: str,
    ) -> None:  # fmt: skip
        place, elsewhere = queues.open(as_othello, **CAPABLE), queues.open(as_iago, **CAPABLE)
        answer = chat.post("/typing", op="start", type=type_, stream_id=square, topic=" Castle ")
        assert answer == DONE
        (event,) = place.read()
        assert event == {
            "id": event["id"],
            "type": "typing",
            "op": "start",
            "message_type": "stream",
            "sender": {"user_id": cast.hamlet.id, "email": cast.hamlet.email},
            "stream_id": square,
            "topic": "Castle",
        }
        flutter.check_event(event)
        zulip_term.check_event(event)
        assert elsewhere.read() == []

    def test_older_client_receives_no_channel_events(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast, square: int
    ) -> None:
        place = queues.open(as_othello)
        chat.post("/typing", op="start", type="channel", stream_id=square, topic="castle")
        chat.post("/typing", op="start", type="private", to=[cast.othello.id])
        assert [event["message_type"] for event in place.read()] == ["direct"]

    def test_empty_topic_has_a_name_for_older_clients(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, square: int
    ) -> None:
        newer = queues.open(as_othello, **CAPABLE)
        older = queues.open(as_othello, capabilities=frozenset({"stream_typing_notifications"}))
        chat.post("/typing", op="start", type="channel", stream_id=square, topic="(no topic)")
        assert [event["topic"] for event in newer.read()] == [""]
        assert [event["topic"] for event in older.read()] == ["general chat"]

    def test_event_expires_after_a_moment(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        place = queues.open(as_othello)
        chat.post("/typing", op="start", to=[cast.othello.id])
        clock.advance(seconds=LASTS["typing"].total_seconds() + 1)
        assert place.read() == []

    def test_waiting_poll_is_answered(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        poll = as_othello.build("GET", "/events", queues.open(as_othello).query())
        sent = chat.build("POST", "/typing", {"op": "start", "to": [cast.othello.id]})
        polled, _ = chat.at_once(poll, sent)
        assert [event["type"] for event in polled.json()["events"]] == ["typing"]

    def test_address_is_sent_to_users_who_may_see_it(
        self, chat: ChatClient, as_iago: ChatClient, as_othello: ChatClient, queues: Queues,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        hidden = update(User).where(User.id == cast.hamlet.id).values(email_address_visibility=3)
        chat_database.run(lambda s: s.execute(hidden))
        places = [queues.open(client) for client in (chat, as_iago, as_othello)]
        chat.post("/typing", op="start", to=[cast.othello.id, cast.iago.id])
        dummy = f"user{cast.hamlet.id}@acme.example"
        told = [place.read()[0] for place in places]
        assert [event["sender"]["email"] for event in told] == [
            cast.hamlet.email, cast.hamlet.email, dummy,
        ]  # fmt: skip
        assert {event["recipients"][1]["email"] for event in told} == {cast.hamlet.email, dummy}
        stored = [each for event in told for each in event["recipients"]]
        assert {each["email"] for each in stored if each["user_id"] == cast.othello.id} == {
            cast.othello.email
        }

    def test_restricted_guest_receives_no_events_of_hidden_users(
        self, chat: ChatClient, as_polonius: ChatClient, queues: Queues, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        chat.post("/messages", type="direct", to=[cast.polonius.id], content="My lord")
        with chat_database.reading() as reader:
            members = reader.execute(select(Realm.members_group_id)).scalars().first()
        set_up(chat_database, can_access_all_users_group=members)
        place = queues.open(as_polonius)
        chat.post("/typing", op="start", to=[cast.polonius.id, cast.othello.id])
        (event,) = place.read()
        named = [person["user_id"] for person in event["recipients"]]
        assert named == [cast.hamlet.id, cast.polonius.id]
        answer = as_polonius.post("/typing", op="start", to=[cast.othello.id])
        assert answer == bad(f"Invalid user ID {cast.othello.id}")

    def test_user_who_disabled_them_receives_no_events(
        self, chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient, queues: Queues,
        cast: Cast, square: int,
    ) -> None:  # fmt: skip
        as_othello.patch("/settings", receives_typing_notifications=False)
        deaf, place = queues.open(as_othello, **CAPABLE), queues.open(as_cordelia, **CAPABLE)
        chat.post("/typing", op="start", to=[cast.othello.id, cast.cordelia.id])
        chat.post("/typing", op="start", type="channel", stream_id=square, topic="t")
        assert deaf.read() == []
        assert [event["message_type"] for event in place.read()] == ["direct", "stream"]

    def test_user_who_hides_typing_is_rejected(
        self, chat: ChatClient, cast: Cast, square: int, chat_database: Database
    ) -> None:
        chat.patch("/settings", send_private_typing_notifications=False)
        before = count_events(chat_database)
        assert chat.post("/typing", op="start", to=[cast.othello.id]) == bad(
            "User has disabled typing notifications for direct messages"
        )
        channel = {"op": "start", "type": "channel", "stream_id": square, "topic": "t"}
        assert chat.post("/typing", **channel) == DONE
        assert count_events(chat_database) == before + 1
        chat.patch("/settings", send_stream_typing_notifications=False)
        assert chat.post("/typing", **channel) == bad(
            "User has disabled typing notifications for channel messages"
        )

    def test_no_typing_events_in_large_channels(
        self, chat: ChatClient, square: int, chat_database: Database,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        assert typing_status.MAX_SUBSCRIBERS == 100
        channel = {"op": "start", "type": "channel", "stream_id": square, "topic": "t"}
        before = count_events(chat_database)
        monkeypatch.setattr(typing_status, "MAX_SUBSCRIBERS", 3)
        assert chat.post("/typing", **channel) == DONE
        assert count_events(chat_database) == before + 1
        monkeypatch.setattr(typing_status, "MAX_SUBSCRIBERS", 2)
        assert chat.post("/typing", **channel) == DONE
        assert count_events(chat_database) == before + 1

    def test_channel_requires_send_permission(
        self, chat: ChatClient, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        def make(session: Any) -> tuple[int, int, int]:
            nobody = session.execute(
                select(UserGroup.id).where(
                    UserGroup.name == "role:nobody", UserGroup.realm_id == cast.realm_id
                )
            ).scalar_one()
            read_only = make_channel(
                session, cast, "read-only", subscribers=[cast.hamlet],
                can_send_message_group=nobody,
            )  # fmt: skip
            closed = make_channel(session, cast, "closed", invite_only=True)
            archived = make_channel(
                session, cast, "archived", subscribers=[cast.hamlet], is_archived=True
            )
            return read_only, closed, archived

        read_only, closed, archived = chat_database.run(make)
        ask = {"op": "start", "type": "channel", "topic": "t"}
        assert chat.post("/typing", stream_id=read_only, **ask) == bad(
            "Not authorized to send to channel 'read-only'"
        )
        assert chat.post("/typing", stream_id=archived, **ask) == bad(
            "Not authorized to send to channel 'archived'"
        )
        for channel_id in (closed, 2_147_483_647):
            assert chat.post("/typing", stream_id=channel_id, **ask) == bad("Invalid channel ID")
        assert as_polonius.post("/typing", stream_id=read_only, **ask) == bad("Invalid channel ID")

    def test_direct_message_requires_permission(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        with chat_database.reading() as reader:
            wanted = select(Realm.nobody_group_id).where(Realm.id == cast.realm_id)
            nobody = reader.execute(wanted).scalar_one()
        set_up(chat_database, direct_message_permission_group=nobody)
        assert chat.post("/typing", op="start", to=[cast.othello.id]) == bad(
            "Direct messages are disabled in this organization."
        )
        assert chat.post("/typing", op="start", to=[cast.reminder.id]) == DONE

    def test_deactivated_user_is_listed_but_not_notified(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        place = queues.open(as_othello)
        assert chat.post("/typing", op="start", to=[cast.ophelia.id, cast.othello.id]) == DONE
        (event,) = place.read()
        assert cast.ophelia.id in [person["user_id"] for person in event["recipients"]]
        with chat_database.reading() as reader:
            (told,) = reader.execute(select(Event.user_ids).where(EPHEMERAL)).scalars()
        assert told == f"[{cast.hamlet.id},{cast.othello.id}]"

    def test_rejects_missing_or_invalid_targets(
        self, chat: ChatClient, cast: Cast, square: int
    ) -> None:
        def missing(name: str) -> dict[str, Any]:
            return bad(f"Missing '{name}' argument", var_name=name) | {
                "code": "REQUEST_VARIABLE_MISSING"
            }

        assert chat.post("/typing", to=[cast.othello.id]) == missing("op")
        assert chat.post("/typing", op="start") == missing("to")
        assert chat.post("/typing", op="start", to=[]) == bad("Empty 'to' list")
        assert chat.post("/typing", op="start", type="channel", topic="t") == missing("stream_id")
        answer = chat.post("/typing", op="start", type="channel", stream_id=square)
        assert answer == bad("Missing topic")
        for user_id in (cast.hank.id, 2_147_483_647):
            answer = chat.post("/typing", op="start", to=[cast.othello.id, user_id])
            assert answer == bad(f"Invalid user ID {user_id}")
        for name, value, msg in (
            ("op", "pause", "Invalid op"),
            ("type", "huddle", "Invalid type"),
            ("to", "[[1]]", "to[0] is not an integer"),
            ("to", "iago@acme.example", "to is not valid JSON"),
        ):
            sent = {"op": "start", "to": [cast.othello.id], name: value}
            assert chat.post("/typing", **sent)["msg"] == msg
        topic = {"op": "start", "type": "channel", "stream_id": square, "topic": "a\x01b"}
        assert chat.post("/typing", **topic) == bad("Invalid character in topic, at position 2!")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, cast: Cast) -> None:
        answer = as_nobody.post("/typing", op="start", to=[cast.othello.id])
        assert answer["code"] == "UNAUTHORIZED"


class TestSetEditTypingStatus:
    def test_notifies_readers_of_a_direct_message(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        sent = chat.post("/messages", type="direct", to=[cast.othello.id], content="Hi")["id"]
        place = queues.open(as_othello)
        for op in ("start", "stop"):
            assert chat.post(f"/messages/{sent}/typing", op=op) == DONE
        events = place.read()
        assert events == [
            {
                "id": events[at]["id"],
                "type": "typing_edit_message",
                "op": op,
                "sender_id": cast.hamlet.id,
                "message_id": sent,
                "recipient": {"type": "direct", "user_ids": [cast.hamlet.id, cast.othello.id]},
            }
            for at, op in enumerate(("start", "stop"))
        ]

    def test_notifies_readers_of_a_channel_message(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast, square: int
    ) -> None:
        sent = chat.post("/messages", type="channel", to=square, topic="", content="Hi")["id"]
        newer, older = queues.open(as_othello, **CAPABLE), queues.open(as_othello)
        chat.post(f"/messages/{sent}/typing", op="start")
        (event,) = newer.read()
        assert event == {
            "id": event["id"],
            "type": "typing_edit_message",
            "op": "start",
            "sender_id": cast.hamlet.id,
            "message_id": sent,
            "recipient": {"type": "channel", "channel_id": square, "topic": ""},
        }
        assert older.read() == []

    def test_user_without_access_to_protected_history_is_not_notified(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, queues: Queues,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        cellar = chat_database.run(
            lambda s: make_channel(
                s, cast, "cellar", subscribers=[cast.hamlet, cast.othello], invite_only=True,
                history_public_to_subscribers=False,
            )
        )  # fmt: skip
        sent = chat.post("/messages", type="channel", to=cellar, topic="t", content="Hi")["id"]
        chat_database.run(lambda s: subscribe(s, cellar, cast.iago))
        reader, newcomer = queues.open(as_othello, **CAPABLE), queues.open(as_iago, **CAPABLE)
        chat.post(f"/messages/{sent}/typing", op="start")
        assert [event["message_id"] for event in reader.read()] == [sent]
        assert newcomer.read() == []

    def test_requires_permission_to_edit(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast,
        square: int, clock: FrozenClock, chat_database: Database,
    ) -> None:  # fmt: skip
        sent = chat.post("/messages", type="channel", to=square, topic="t", content="Hi")["id"]
        path = f"/messages/{sent}/typing"
        not_theirs = bad("You don't have permission to edit this message")
        assert as_othello.post(path, op="start") == not_theirs
        private = chat.post("/messages", type="direct", to=[cast.iago.id], content="Hi")["id"]
        for message_id in (private, 2_147_483_647):
            answer = as_othello.post(f"/messages/{message_id}/typing", op="start")
            assert answer == bad("Invalid message(s)")
        as_cordelia.patch("/realm", message_content_edit_limit_seconds=60)
        clock.advance(seconds=61)
        too_late = bad("The time limit for editing this message has passed")
        assert chat.post(path, op="start") == too_late
        as_cordelia.patch("/realm", allow_message_editing=False)
        turned_off = bad("Your organization has turned off message editing")
        assert chat.post(path, op="start") == turned_off
        archived = update(Channel).where(Channel.id == square).values(is_archived=True)
        chat_database.run(lambda s: s.execute(archived))
        assert chat.post(path, op="start") == bad("Invalid message(s)")

    def test_user_who_hides_typing_is_rejected(
        self, chat: ChatClient, cast: Cast, square: int
    ) -> None:
        direct = chat.post("/messages", type="direct", to=[cast.othello.id], content="Hi")["id"]
        there = chat.post("/messages", type="channel", to=square, topic="t", content="Hi")["id"]
        chat.patch("/settings", send_private_typing_notifications=False)
        assert chat.post(f"/messages/{there}/typing", op="start") == DONE
        assert chat.post(f"/messages/{direct}/typing", op="start") == bad(
            "User has disabled typing notifications for direct messages"
        )
        chat.patch("/settings", send_stream_typing_notifications=False)
        assert chat.post(f"/messages/{there}/typing", op="start") == bad(
            "User has disabled typing notifications for channel messages"
        )

    def test_requires_an_op(self, chat: ChatClient, cast: Cast) -> None:
        sent = chat.post("/messages", type="direct", to=[cast.othello.id], content="Hi")["id"]
        assert chat.post(f"/messages/{sent}/typing")["var_name"] == "op"
        assert chat.post(f"/messages/{sent}/typing", op="x")["msg"] == "Invalid op"

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.post("/messages/1/typing", op="start")["code"] == "UNAUTHORIZED"


def test_index_condition_names_every_short_lived_type() -> None:
    assert EPHEMERAL.text == f"type IN ({', '.join(repr(name) for name in sorted(LASTS))})"
