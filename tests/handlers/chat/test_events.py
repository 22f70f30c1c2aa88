"""Operations of the tag events."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from handlers.chat import events as operations
from models.chat.events.log import append
from models.chat.events.organization import RealmDomainsRemoveEvent
from models.chat.queues.entries import MAX_ENTRIES
from models.chat.queues.polls import Polls, Waiter
from models.chat.queues.queues import Poll
from models.chat.reading.terms import parse_terms
from models.chat.tables import EventQueue
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.frozen_clock import FrozenClock


def bad_queue(queue_id: str) -> dict[str, Any]:
    return bad(f"Bad event queue id: {queue_id}", "BAD_EVENT_QUEUE_ID", queue_id=queue_id)


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


class TestGetEvents:
    def test_returns_events_since_the_last_id(
        self, chat: ChatClient, as_cordelia: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        place = queues.open(as_cordelia)
        sent = chat.post("/messages", type="direct", to=[cast.cordelia.id], content="**Hi**")
        answer = as_cordelia.get("/events", **place.query(dont_block=True))
        assert answer["queue_id"] == place.queue_id
        (event,) = answer["events"]
        assert event["id"] > place.seen
        assert event["type"] == "message"
        assert event["flags"] == []
        assert event["message"]["id"] == sent["id"]
        assert event["message"]["sender_id"] == cast.hamlet.id
        assert place.read() == answer["events"]
        assert place.read() == []

    def test_waits_for_the_next_event(
        self, chat: ChatClient, as_cordelia: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        place = queues.open(as_cordelia)
        poll = as_cordelia.build("GET", "/events", place.query())
        send = chat.build(
            "POST", "/messages", {"type": "direct", "to": [cast.cordelia.id], "content": "Hi"}
        )
        polled, sent = chat.at_once(poll, send)
        (event,) = polled.json()["events"]
        assert event["message"]["id"] == sent.json()["id"]

    def test_events_received_in_time_are_returned_after_a_slow_delivery(
        self,
        chat: ChatClient,
        as_cordelia: ChatClient,
        queues: Queues,
        cast: Cast,
        clock: FrozenClock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """One message wakes thousands of polls, and the last of them do not read the database for
        it.
        """
        leave, late, look_again = Polls.leave, [], operations._look_again

        def leave_late(polls: Polls, waiter: Waiter) -> None:
            if waiter.entries:
                clock.advance(seconds=2 * operations.FRESH_FOR.total_seconds())
                late.append(waiter)
            leave(polls, waiter)

        def look(*arguments: Any, **named: Any) -> Any:
            assert not late
            return look_again(*arguments, **named)

        monkeypatch.setattr(Polls, "leave", leave_late)
        monkeypatch.setattr(operations, "_look_again", look)
        place = queues.open(as_cordelia)
        poll = as_cordelia.build("GET", "/events", place.query())
        send = chat.build(
            "POST", "/messages", {"type": "direct", "to": [cast.cordelia.id], "content": "Hi"}
        )
        polled, sent = chat.at_once(poll, send)
        (event,) = polled.json()["events"]
        assert event["message"]["id"] == sent.json()["id"]

    def test_heartbeat_ends_a_poll_without_events(
        self, chat: ChatClient, queues: Queues, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(operations, "HEARTBEAT_S", (0.05, 0.05))
        place = queues.open(chat)
        answer = chat.get("/events", **place.query())
        assert answer == {
            **DONE,
            "events": [{"id": place.seen, "type": "heartbeat"}],
            "queue_id": place.queue_id,
        }

    def test_second_poll_ends_the_first(
        self, chat: ChatClient, queues: Queues, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(operations, "HEARTBEAT_S", (1.0, 1.0))
        place = queues.open(chat)
        poll = chat.build("GET", "/events", place.query())
        answers = chat.at_once(poll, chat.build("GET", "/events", place.query()))
        told = sorted(types(answer.json()["events"]) for answer in answers)
        assert told == [[], ["heartbeat"]]

    @pytest.mark.both_databases
    def test_poll_ends_with_its_queue(
        self, chat: ChatClient, queues: Queues, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """From the code the client learns to register again."""
        place = queues.open(chat, event_types=frozenset({"user_topic"}))
        poll = chat.build("GET", "/events", place.query())
        polled, deleted = chat.at_once(
            poll, chat.build("DELETE", "/events", {"queue_id": place.queue_id})
        )
        assert (deleted.status_code, polled.status_code) == (200, 400)
        assert polled.json() == bad_queue(place.queue_id)

    def test_end_of_a_queue_does_not_affect_others(self, chat: ChatClient, queues: Queues) -> None:
        place, other = queues.open(chat), queues.open(chat)
        chat.delete("/events", queue_id=place.queue_id)
        assert other.read() == []

    def test_returns_only_subscribed_types(
        self, chat: ChatClient, as_cordelia: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        place = queues.open(as_cordelia, event_types=frozenset({"user_topic"}))
        chat.post("/messages", type="direct", to=[cast.cordelia.id], content="Hi")
        assert place.read() == []

    def test_narrow_filters_messages_only(
        self, chat: ChatClient, as_cordelia: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        terms = [["sender", cast.hamlet.email], {"operator": "is", "operand": "dm"}]
        narrow = tuple(parse_terms(terms))
        place = queues.open(as_cordelia, narrow=narrow)
        as_cordelia.post("/messages", type="direct", to=[cast.hamlet.id], content="Mine")
        own_message = chat.post(
            "/messages", type="direct", to=[cast.cordelia.id], content="Hamlet's"
        )
        told = [event for event in place.read() if event["type"] == "message"]
        assert [event["message"]["id"] for event in told] == [own_message["id"]]

    def test_narrow_may_repeat_a_term(self, chat: ChatClient, cast: Cast) -> None:
        terms = [["channel", "general"], ["sender", cast.hamlet.email], ["is", "unread"]]
        opened = chat.post("/register", event_types=["message"], narrow=[*terms, *terms])
        assert opened["result"] == "success"

    @pytest.mark.parametrize("negated", [False, True])
    @pytest.mark.parametrize("sender", ["me", "nobody@acme.example", 0])
    def test_narrow_with_an_unknown_sender_is_rejected(
        self, chat: ChatClient, sender: str | int, negated: bool
    ) -> None:
        narrow = [{"operator": "sender", "operand": sender, "negated": negated}]
        refused = chat.post("/register", event_types=["message"], narrow=narrow)
        listed = chat.get(
            "/messages", narrow=json.dumps(narrow), anchor="newest", num_before=1, num_after=0
        )
        assert refused["result"] == "error"
        assert refused["msg"] == listed["msg"]

    def test_events_of_others_do_not_hide_later_events(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        queues: Queues,
        cast: Cast,
        chat_database: Database,
        clock: FrozenClock,
    ) -> None:
        place = queues.open(as_othello)
        for_administrators = RealmDomainsRemoveEvent(domain="elsinore.example")
        now = clock.now()

        def change(session: Session) -> None:
            for _ in range(MAX_ENTRIES):
                append(session, cast.realm_id, for_administrators, now=now, to_administrators=True)

        chat_database.run(change)
        sent = chat.post("/messages", type="direct", to=[cast.othello.id], content="Hi")
        (event,) = as_othello.get("/events", **place.query())["events"]
        assert event["message"]["id"] == sent["id"]
        (heartbeat,) = place.read()
        assert heartbeat == {"id": event["id"] - 1, "type": "heartbeat"}
        assert place.read() == [event]

    def test_lost_channel_is_not_described(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        join = {"principals": [cast.hamlet.id, cast.othello.id], "invite_only": True}
        chat.post("/users/me/subscriptions", subscriptions=[{"name": "secret"}], **join)
        place, peers = queues.open(as_othello), [{"name": "secret"}]
        added = chat.post(
            "/users/me/subscriptions", subscriptions=peers, principals=[cast.prospero.id]
        )
        assert added["result"] == "success", added
        as_othello.delete("/users/me/subscriptions", subscriptions=["secret"])
        told = [(event["type"], event.get("op")) for event in place.read()]
        assert told[:2] == [("subscription", "remove"), ("stream", "delete")]

    @pytest.mark.reaches("BAD_EVENT_QUEUE_ID")
    def test_rejects_unsupported_options(
        self, chat: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        chat.post("/messages", type="direct", to=[cast.hamlet.id], content="To myself")
        place = queues.open(chat)
        for last_event_id in (place.seen - 1, place.seen + 1, 9007199254740991):
            answer = chat.get(
                "/events", queue_id=place.queue_id, last_event_id=last_event_id, dont_block=True
            )
            assert answer == bad_queue(place.queue_id)
        answer = chat.get("/events", queue_id=place.queue_id, last_event_id=-1, dont_block=True)
        assert answer["events"] == []

    def test_queue_of_another_user_is_not_found(
        self, chat: ChatClient, as_iago: ChatClient, queues: Queues
    ) -> None:
        place = queues.open(chat)
        answer = as_iago.get("/events", **place.query(dont_block=True))
        assert answer == bad_queue(place.queue_id)
        assert as_iago.delete("/events", queue_id=place.queue_id) == bad_queue(place.queue_id)

    def test_parameters_are_required(self, chat: ChatClient) -> None:
        assert chat.get("/events", last_event_id=-1)["var_name"] == "queue_id"
        assert chat.get("/events", queue_id="x")["var_name"] == "last_event_id"

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        answer = as_nobody.get("/events", queue_id="x", last_event_id=-1)
        assert answer["code"] == "UNAUTHORIZED"


class TestVisibleUsers:
    def test_queue_of_a_guest_ends_when_visibility_changes(
        self, chat: ChatClient, as_cordelia: ChatClient, as_polonius: ChatClient, cast: Cast
    ) -> None:
        """The client first receives all earlier events."""
        members = as_cordelia.get("/user_groups")["user_groups"]
        group_id = next(group["id"] for group in members if group["name"] == "role:members")

        def register() -> Place:
            opened = as_polonius.post("/register", fetch_event_types=[])
            return Place(as_polonius, opened["queue_id"], opened["last_event_id"])

        def ends(place: Place) -> bool:
            return as_polonius.get("/events", **place.query(dont_block=True)) == gone(place)

        def gone(place: Place) -> dict[str, Any]:
            return bad_queue(place.queue_id)

        place = register()
        as_cordelia.patch("/realm", can_access_all_users_group=group_id)
        assert types(place.read()) == ["realm"]
        assert ends(place)
        place = register()
        assert place.read() == []
        chat.post("/messages", type="direct", to=[cast.polonius.id], content="Hi")
        assert types(place.read()) == ["message"]
        assert ends(place)
        place = register()
        as_cordelia.patch(f"/users/{cast.polonius.id}", role=400)
        assert "realm_user" in types(place.read())
        assert ends(place)
        assert register().read() == []


class TestAllPublicChannels:
    @pytest.mark.parametrize("waits", [True, False], ids=["waiting", "looking"])
    def test_not_sent_to_a_user_who_became_a_guest(
        self,
        chat: ChatClient,
        as_iago: ChatClient,
        as_othello: ChatClient,
        queues: Queues,
        cast: Cast,
        monkeypatch: pytest.MonkeyPatch,
        waits: bool,
    ) -> None:
        monkeypatch.setattr(operations, "HEARTBEAT_S", (1.0, 1.0))
        chat.post("/users/me/subscriptions", subscriptions=[{"name": "stage"}])
        only_messages = frozenset({"message"})
        place = queues.open(as_othello, all_public_streams=True, event_types=only_messages)
        sent = {"type": "channel", "to": "stage", "topic": "castle", "content": "Who is there?"}
        chat.post("/messages", **sent)
        assert types(place.read()) == ["message"]
        demoted = as_iago.patch(f"/users/{cast.othello.id}", role=600)
        assert demoted["result"] == "success", demoted
        if waits:
            poll = as_othello.build("GET", "/events", place.query())
            told = chat.at_once(poll, chat.build("POST", "/messages", sent))[0].json()["events"]
        else:
            chat.post("/messages", **sent)
            told = place.read()
        assert "message" not in types(told)


class TestDefaultChannels:
    def test_not_sent_to_guests(
        self, as_iago: ChatClient, as_polonius: ChatClient, queues: Queues, cast: Cast
    ) -> None:
        places = [queues.open(client) for client in (as_iago, as_polonius)]
        form = {"subscriptions": [{"name": "lobby"}], "is_default_stream": True}
        as_iago.post("/users/me/subscriptions", **form)
        lobby = as_iago.get("/get_stream_id", stream="lobby")["stream_id"]

        def told(place: Place) -> list[list[int]]:
            kind = "default_streams"
            return [event[kind] for event in place.read() if event["type"] == kind]

        assert [told(place) for place in places] == [[[lobby]], [[]]]
        as_iago.patch(f"/users/{cast.polonius.id}", role=400)
        assert [told(place) for place in places] == [[], [[lobby]]]


class TestDeleteQueue:
    def test_queue_is_deleted(
        self, chat: ChatClient, queues: Queues, chat_database: Database
    ) -> None:
        place = queues.open(chat)
        assert chat.delete("/events", queue_id=place.queue_id) == DONE
        assert chat.get("/events", **place.query()) == bad_queue(place.queue_id)
        assert chat.delete("/events", queue_id=place.queue_id) == bad_queue(place.queue_id)
        with chat_database.reading() as reader:
            assert reader.execute(EventQueue.__table__.select()).all() == []

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.delete("/events", queue_id="x")["code"] == "UNAUTHORIZED"


def test_unsaved_positions_are_written_later(
    chat: ChatClient, queues: Queues, chat_database: Database, clock: FrozenClock
) -> None:
    place, polls, now = queues.open(chat), Polls(), clock.now()
    until = now + timedelta(seconds=60)
    polls.note(Poll(place.queue_id, place.seen, until, idle_timeout_s=600))
    nowhere = Database("postgresql+psycopg://127.0.0.1:1/nowhere")
    polls.write_down(nowhere, now)
    assert nowhere.availability.is_failing
    nowhere.dispose()
    polls.write_down(chat_database, now)
    with chat_database.reading() as reader:
        assert reader.execute(select(EventQueue.polled_until)).scalar_one() == until
