"""Messages: keys for retries, recipients of events, archived channels, races, permissions."""

import threading
from typing import Any

import pytest
from sqlalchemy import func, select, update

from models.chat.deletion.messages import delete_message
from models.chat.identity.actors import find_actor, find_realm
from models.chat.identity.roles import Role
from models.chat.people.users import create_user
from models.chat.tables import Channel, Message, Realm, Subscription
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe, unsubscribe
from tests.support.chat.messages import INVALID, events, say, set_realm
from tests.support.chat.people import KEYS, Cast
from tests.support.frozen_clock import FrozenClock


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


class TestIdempotencyKey:
    KEY = {"Idempotency-Key": "message-1042"}  # noqa: RUF012
    WISH = {"type": "channel", "to": "Denmark", "topic": "t", "content": "once"}  # noqa: RUF012

    def test_retry_sends_nothing(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        first = chat.request("POST", "/messages", self.WISH, headers=self.KEY)
        assert first.json()["result"] == "success"
        # The queue is not part of the request's identity, because a client may have a new one.
        retry = {**self.WISH, "queue_id": "2", "local_id": "1.1", "dont_block": True}
        requests = [chat.build("POST", "/messages", retry, headers=self.KEY) for _ in range(4)]
        for again in chat.at_once(*requests):
            assert (again.status_code, again.content) == (200, first.content)
            assert again.headers["Idempotent-Replayed"] == "true"
        other = chat.request("POST", "/messages", {**self.WISH, "topic": "u"}, headers=self.KEY)
        assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
        own = as_othello.request("POST", "/messages", self.WISH, headers=self.KEY)
        assert own.json()["id"] > first.json()["id"]
        with chat_database.reading() as reader:
            sent = reader.execute(select(func.count()).where(Message.content == "once")).scalar()
        assert sent == 2

    @pytest.mark.reaches("STREAM_DOES_NOT_EXIST")
    def test_refusal_leaves_the_key_unused(self, chat: ChatClient, denmark: int) -> None:
        nowhere = {**self.WISH, "to": "Nowhere"}
        for wish, status in ((nowhere, 400), (self.WISH, 200)):
            response = chat.request("POST", "/messages", wish, headers=self.KEY)
            assert response.status_code == status
        short = {"Idempotency-Key": "1234567"}
        assert chat.request("POST", "/messages", self.WISH, headers=short).status_code == 400


def audiences(told: list[dict[str, Any]]) -> list[list[int]]:
    """Return the recipients of each change. Readers with other flags receive separate events."""
    found: dict[str, list[int]] = {}
    for event in told:
        change = {key: value for key, value in event.items() if key not in ("flags", "_to")}
        found.setdefault(repr(change), []).extend(event["_to"])
    return [sorted(user_ids) for user_ids in found.values()]


class TestRecipients:
    """Events go to exactly the users whose clients may show the message."""

    @pytest.mark.parametrize(
        ("channel", "heard"),
        [
            ({}, {"hamlet", "othello", "iago"}),
            ({"invite_only": True, "history_public_to_subscribers": True}, {"hamlet", "othello"}),
            ({"invite_only": True, "history_public_to_subscribers": False}, {"hamlet"}),
        ],
    )
    def test_edits_and_deletions(
        self, chat: ChatClient, cast: Cast, chat_database: Database, channel: dict[str, Any],
        heard: set[str],
    ) -> None:  # fmt: skip
        """Othello subscribes later and Iago leaves.

        Both receive the events that their access allows.
        """
        people = [cast.hamlet, cast.iago]
        stage = chat_database.run(
            lambda s: make_channel(s, cast, "Stage", subscribers=people, **channel)
        )
        message = say(chat, to=stage)["id"]
        chat_database.run(lambda s: subscribe(s, stage, cast.othello))
        chat_database.run(lambda s: unsubscribe(s, stage, cast.iago))
        chat.patch(f"/messages/{message}", content="new")
        chat.patch(f"/messages/{message}", topic="new", send_notification_to_new_thread=False)
        chat.delete(f"/messages/{message}")
        expected = sorted(getattr(cast, name).id for name in heard)
        told = events(chat_database, "update_message") + events(chat_database, "delete_message")
        assert audiences(told) == [expected] * 3

    def test_users_who_lose_access_by_a_move_receive_a_deletion(
        self, chat: ChatClient, denmark: int, cast: Cast, chat_database: Database
    ) -> None:
        people = [cast.hamlet, cast.iago]
        secret = chat_database.run(
            lambda s: make_channel(s, cast, "Secret", subscribers=people, invite_only=True)
        )
        message = say(chat)["id"]
        assert chat.patch(f"/messages/{message}", stream_id=secret)["result"] == "success"
        (moved,) = audiences(events(chat_database, "update_message"))
        (gone,) = events(chat_database, "delete_message")
        assert moved == sorted(member.id for member in people)
        assert gone == {
            "message_ids": [message],
            "message_type": "stream",
            "stream_id": denmark,
            "topic": "castle",
            "_to": [cast.othello.id],
        }

    def test_leaving_marks_unread_messages_as_read(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        message = say(chat)["id"]
        direct = say(chat, type="direct", to=[cast.othello.id])["id"]
        as_othello.delete("/users/me/subscriptions", subscriptions=["Denmark"])
        flags = [as_othello.get(f"/messages/{i}")["message"]["flags"] for i in (message, direct)]
        assert flags == [["read"], []]
        (told,) = events(chat_database, "update_message_flags")
        assert told == {
            "op": "add",
            "operation": "add",
            "flag": "read",
            "messages": [message],
            "all": False,
            "_to": [cast.othello.id],
        }


class TestArchivedChannels:
    def test_messages_cannot_change(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        message = say(chat)["id"]
        chat_database.run(
            lambda s: s.execute(
                update(Channel).where(Channel.id == denmark).values(is_archived=True)
            )
        )
        refused = bad("Not authorized to send to channel 'Denmark'")
        assert say(chat) == refused
        assert say(as_cordelia) == refused
        for client in (chat, as_cordelia):
            assert client.delete(f"/messages/{message}") == INVALID
            for change in ({"content": "x"}, {"topic": "x"}):
                assert client.patch(f"/messages/{message}", **change) == INVALID
        assert chat.get(f"/messages/{message}")["message"]["content"] == "<p>Words</p>"
        assert [t["name"] for t in chat.get(f"/users/me/{denmark}/topics")["topics"]] == ["castle"]
        assert chat.get("/streams")["streams"] == []
        (shown,) = chat.get("/streams", exclude_archived=False)["streams"]
        assert shown["is_archived"] is True
        assert chat.get("/users/me/subscriptions")["subscriptions"] == []


class TestConcurrentDeletion:
    def test_message_is_deleted_once(
        self, chat: ChatClient, as_iago: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        path = f"/messages/{say(chat)['id']}"
        requests = [client.build("DELETE", path) for client in (chat, as_iago, chat)]
        answers = [response.json() for response in chat.at_once(*requests)]
        assert answers.count(DONE) == 1
        losers = [answer for answer in answers if answer != DONE]
        assert all(answer in (INVALID, bad("Message already deleted")) for answer in losers)
        assert len(events(chat_database, "delete_message")) == 1

    def test_waiting_request_is_rejected(
        self, as_iago: ChatClient, chat: ChatClient, denmark: int, cast: Cast,
        chat_database: Database, clock: FrozenClock,
    ) -> None:  # fmt: skip
        if chat_database.dialect == "sqlite":
            pytest.skip("SQLite has one writer, so the second reads after the first")
        message = say(chat)["id"]
        answers: list[Any] = []
        waiter = threading.Thread(
            target=lambda: answers.append(as_iago.delete(f"/messages/{message}"))
        )
        blocked = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )

        def work(session: Any) -> None:
            hamlet = find_actor(session, cast.hamlet.id)
            assert hamlet is not None
            delete_message(session, hamlet, message, now=clock.now())
            waiter.start()
            while waiter.is_alive():  # at the lock timeout at the latest
                with chat_database.reading() as reader:
                    if reader.exec_driver_sql(blocked).scalar_one():
                        return

        chat_database.run(work)
        waiter.join()
        assert answers == [bad("Message already deleted")]


class TestWildcards:
    @pytest.mark.parametrize(
        ("readers", "allowed"),
        [
            (15, True),
            pytest.param(
                16, False, marks=pytest.mark.reaches("STREAM_WILDCARD_MENTION_NOT_ALLOWED")
            ),
        ],
    )
    def test_wildcard_reaches_at_most_fifteen_readers(
        self, chat: ChatClient, as_prospero: ChatClient, cast: Cast, chat_database: Database,
        clock: FrozenClock, readers: int, allowed: bool,
    ) -> None:  # fmt: skip

        def work(session: Any) -> int:
            stage = make_channel(session, cast, "Stage", subscribers=[cast.hamlet])
            realm = find_realm(session, cast.realm_id)
            assert realm is not None
            for number in range(readers - 1):
                user, _ = create_user(
                    session,
                    KEYS,
                    realm=realm,
                    email=f"player{number}@acme.example",
                    full_name="Player",
                    role=Role.MEMBER,
                    now=clock.now(),
                )
                session.add(
                    Subscription(
                        channel_id=stage,
                        user_id=user.id,
                        color="#76ce90",
                        subscribed_at=clock.now(),
                    )
                )
            return stage

        stage = chat_database.run(work)
        set_realm(chat_database, cast, can_mention_many_users_group=Realm.moderators_group_id)
        answer = say(chat, to=stage, content="@**all**")
        assert (answer["result"] == "success") is allowed
        if not allowed:
            assert answer["code"] == "STREAM_WILDCARD_MENTION_NOT_ALLOWED"
            subscribed = say(as_prospero, to=stage, content="@**all**")
            assert subscribed["result"] == "success"


class TestDateAnchor:
    def test_anchor_is_the_first_message_since_the_date(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, clock: FrozenClock
    ) -> None:
        ids = []
        for n in range(6):
            ids.append(say(as_othello if n % 2 else chat, topic=f"t{n}")["id"])
            clock.advance(seconds=60)
        wish = {"anchor": "date", "num_before": 0, "num_after": 1}

        def at(moment: str, **over: Any) -> list[int]:
            answer = chat.get("/messages", **{**wish, **over}, anchor_date=moment)
            return [message["id"] for message in answer["messages"]]

        assert at("2026-11-20T00:00:00Z") == ids[:2]
        assert at("2026-11-21T12:02:00+00:00") == ids[2:4]
        assert at("2026-11-21T12:02:01") == ids[3:5]
        assert at("2026-11-21T13:03:00+01:00") == ids[3:5]
        from_othello = [{"operator": "sender", "operand": as_othello.member.id}]  # type: ignore[union-attr]
        assert at("2026-11-21T12:02:00Z", narrow=from_othello) == [ids[3], ids[5]]
        assert at("2027-01-01", num_before=1) == ids[5:]
        assert chat.get("/messages", **wish)["var_name"] == "anchor_date"
        for no_date in ("yesterday", "", "2026-13-01", "0001-01-01T00:00:00+14:00"):
            answer = chat.get("/messages", **wish, anchor_date=no_date)
            assert answer == bad("anchor_date is not a date")
