"""Operations of the tag presence, and their event."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from models.chat.presence import reports
from models.chat.presence.view import OFFLINE_AFTER
from models.chat.tables import Event, Presence, Realm, User
from specd.db import Database
from tests.support.chat import flutter, zulip_term
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import CAST_MADE_AT, Cast
from tests.support.chat.queues import Queues
from tests.support.frozen_clock import FrozenClock

SIMPLE = frozenset({"simplified_presence_events"})
JOINED = int(CAST_MADE_AT.timestamp())


def seconds(at: datetime) -> int:
    return int(at.timestamp())


def client(status: str, at: int) -> dict[str, Any]:
    return {"client": "website", "status": status, "timestamp": at, "pushable": False}


def older(status: str, at: int) -> dict[str, Any]:
    website = client(status, at)
    return {
        "aggregated": {key: website[key] for key in ("client", "status", "timestamp")},
        "website": website,
    }


def restrict_guests(database: Database) -> None:
    members = update(Realm).values(can_access_all_users_group=Realm.members_group_id)
    database.run(lambda s: s.execute(members))


def stored(database: Database) -> list[tuple[int, datetime | None, datetime, int]]:
    columns = (
        Presence.user_id,
        Presence.last_active_at,
        Presence.last_connected_at,
        Presence.update_id,
    )
    with database.reading() as reader:
        return [tuple(row) for row in reader.execute(select(*columns).order_by(Presence.update_id))]


def count_events(database: Database) -> int:
    with database.reading() as reader:
        told = select(func.count()).select_from(Event).where(Event.type == "presence")
        return reader.execute(told).scalar_one()


class TestUpdateOwnPresence:
    def test_returns_presences_by_user_id(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        began = clock.now()
        as_othello.post("/users/me/presence", status="idle")
        clock.advance(seconds=30)
        answer = chat.post("/users/me/presence", status="active", slim_presence=True)
        assert answer == {
            **DONE,
            "presences": {
                str(cast.othello.id): {
                    "active_timestamp": JOINED, "idle_timestamp": seconds(began),
                },
                str(cast.hamlet.id): {
                    "active_timestamp": seconds(began) + 30, "idle_timestamp": seconds(began) + 30,
                },
            },
            "presence_last_update_id": 2,
            "server_timestamp": began.timestamp() + 30,
        }  # fmt: skip
        flutter.check_ping(answer)

    def test_older_form_returns_presences_by_email(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        began = seconds(clock.now())
        as_othello.post("/users/me/presence", status="active")
        clock.advance(seconds=71)
        as_othello.post("/users/me/presence", status="idle")
        answer = chat.post(
            "/users/me/presence", status="active", new_user_input=True, ping_only=False
        )
        assert answer == {
            **DONE,
            "presences": {
                cast.othello.email: older("idle", began + 71),
                cast.hamlet.email: older("active", began + 71),
            },
            "presence_last_update_id": 3,
            "server_timestamp": began + 71.0,
        }
        zulip_term.check_ping(answer)

    def test_returns_presences_after_an_update(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        first = chat.post("/users/me/presence", status="active", last_update_id=-1)
        assert first["presences"].keys() == {str(cast.hamlet.id)}
        as_othello.post("/users/me/presence", status="active")
        as_iago.post("/users/me/presence", status="active")
        seen = first["presence_last_update_id"]
        second = chat.post("/users/me/presence", status="active", last_update_id=seen)
        assert second["presences"].keys() == {str(cast.othello.id), str(cast.iago.id)}
        seen = second["presence_last_update_id"]
        third = chat.post("/users/me/presence", status="active", last_update_id=seen)
        assert (third["presences"], third["presence_last_update_id"]) == ({}, seen)

    def test_repeated_report_writes_nothing(
        self, chat: ChatClient, cast: Cast, clock: FrozenClock, chat_database: Database
    ) -> None:
        began = clock.now()
        for status, after, active, connected, update_id in (
            ("active", 0, 0, 0, 1),
            ("active", 55, 0, 0, 1),
            ("idle", 1, 0, 56, 2),
            ("active", 1, 57, 57, 3),
            ("idle", 55, 57, 57, 3),
        ):
            clock.advance(seconds=after)
            chat.post("/users/me/presence", status=status, ping_only=True)
            assert stored(chat_database) == [
                (
                    cast.hamlet.id,
                    began + timedelta(seconds=active),
                    began + timedelta(seconds=connected),
                    update_id,
                )
            ]

    def test_reports_without_reading(self, chat: ChatClient, chat_database: Database) -> None:
        assert chat.post("/users/me/presence", status="active", ping_only=True) == DONE
        assert chat.post("/users/me/presence", status="active", ping_only=True) == DONE
        assert len(stored(chat_database)) == 1

    def test_returns_two_weeks_or_the_requested_days(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        as_othello.post("/users/me/presence", status="active")
        clock.advance(seconds=14 * 86_400)
        othello = str(cast.othello.id)

        def told(**asked: Any) -> bool:
            answer = chat.post("/users/me/presence", status="active", slim_presence=True, **asked)
            return othello in answer["presences"]

        assert told()
        assert told(last_update_id=-1, history_limit_days=14)
        clock.advance(seconds=1)
        assert not told()
        assert told(history_limit_days=15)
        assert told(history_limit_days=2_147_483_647)
        assert not told(history_limit_days=0)

    def test_returning_user_is_announced_immediately(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast,
        clock: FrozenClock, chat_database: Database,
    ) -> None:  # fmt: skip
        began = clock.now()
        slim = queues.open(as_othello, slim_presence=True)
        legacy, simple = queues.open(as_othello), queues.open(as_othello, capabilities=SIMPLE)
        chat.post("/users/me/presence", status="active")
        legacy_event, slim_event, simple_event = (
            place.read()[0] for place in (legacy, slim, simple)
        )
        at = seconds(began)
        assert legacy_event == {
            "id": legacy_event["id"],
            "type": "presence",
            "user_id": cast.hamlet.id,
            "email": cast.hamlet.email,
            "server_timestamp": began.timestamp(),
            "presence": {"website": client("active", at)},
        }
        del legacy_event["email"]
        assert slim_event == legacy_event
        assert simple_event == {
            "id": legacy_event["id"],
            "type": "presence",
            "presences": {str(cast.hamlet.id): {"active_timestamp": at, "idle_timestamp": at}},
        }
        flutter.check_event(slim_event)
        for status, after, is_told in (
            ("active", 60, False),
            ("idle", 60, False),
            ("active", 10, False),
            ("idle", 60, False),
            ("active", 11, True),
            ("idle", 3600, False),
            ("active", 60, True),
        ):
            before = count_events(chat_database)
            clock.advance(seconds=after)
            chat.post("/users/me/presence", status=status)
            assert count_events(chat_database) == before + is_told, (status, after)

    def test_expired_event_is_not_sent(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, clock: FrozenClock
    ) -> None:
        place = queues.open(as_othello)
        chat.post("/users/me/presence", status="active")
        clock.advance(seconds=OFFLINE_AFTER.total_seconds() + 1)
        assert place.read() == []

    def test_no_presence_events_in_large_organizations(
        self, chat: ChatClient, cast: Cast, chat_database: Database,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        assert reports.MAX_NOTIFIED == 100
        people = 6  # without bots and Ophelia, who is deactivated
        monkeypatch.setattr(reports, "MAX_NOTIFIED", people - 1)
        chat.post("/users/me/presence", status="active")
        assert count_events(chat_database) == 0
        chat.patch("/settings", presence_enabled=False)
        assert count_events(chat_database) == 1, "a hidden user is shown as offline to all users"

    def test_hidden_user_is_shown_as_offline(
        self, chat: ChatClient, as_othello: ChatClient, queues: Queues, cast: Cast,
        clock: FrozenClock, chat_database: Database,
    ) -> None:  # fmt: skip
        chat.post("/users/me/presence", status="active")
        clock.advance(seconds=10)
        place = queues.open(as_othello, event_types=frozenset({"presence"}), capabilities=SIMPLE)
        chat.patch("/settings", presence_enabled=False)
        left = clock.now() - OFFLINE_AFTER - timedelta(minutes=2)
        hidden = {"active_timestamp": JOINED, "idle_timestamp": seconds(left)}
        assert [event["presences"] for event in place.read()] == [{str(cast.hamlet.id): hidden}]
        clock.advance(seconds=600)
        before = stored(chat_database)
        own_view = chat.post("/users/me/presence", status="active", slim_presence=True)
        assert own_view["presences"] == {str(cast.hamlet.id): hidden}
        assert stored(chat_database) == before
        assert place.read() == []
        chat.post("/users/me/status", away=False)
        now = seconds(clock.now())
        shown = {"active_timestamp": now, "idle_timestamp": now}
        assert [event["presences"] for event in place.read()] == [{str(cast.hamlet.id): shown}]

    def test_shows_visible_users_with_the_visible_address(
        self, chat: ChatClient, as_iago: ChatClient, as_polonius: ChatClient, queues: Queues,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        hidden = update(User).where(User.id == cast.hamlet.id).values(email_address_visibility=3)
        chat_database.run(lambda s: s.execute(hidden))
        place, lawful = queues.open(as_polonius), queues.open(as_iago)
        chat.post("/users/me/presence", status="active")
        dummy = f"user{cast.hamlet.id}@acme.example"
        assert [event["email"] for event in place.read()] == [dummy]
        assert [event["email"] for event in lawful.read()] == [cast.hamlet.email]
        assert as_polonius.get("/realm/presence")["presences"].keys() == {dummy}
        restrict_guests(chat_database)
        restricted = queues.open(as_polonius)
        chat.patch("/settings", presence_enabled=False)
        assert [e for e in restricted.read() if e["type"] == "presence"] == []
        answer = as_polonius.post("/users/me/presence", status="active", last_update_id=-1)
        assert answer["presences"].keys() == {str(cast.polonius.id)}

    def test_deactivated_user_is_not_shown(
        self, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        as_othello.post("/users/me/presence", status="active")
        as_cordelia.delete(f"/users/{cast.othello.id}")
        answer = as_cordelia.post("/users/me/presence", status="active", last_update_id=-1)
        assert answer["presences"].keys() == {str(cast.cordelia.id)}

    def test_deleted_with_the_profile(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat.post("/users/me/presence", status="active")
        answer = as_cordelia.delete(f"/users/{cast.hamlet.id}", actions={"delete_profile": True})
        assert answer == DONE
        assert stored(chat_database) == []

    def test_rejects_invalid_reports(self, chat: ChatClient) -> None:
        assert chat.post("/users/me/presence")["var_name"] == "status"
        for sent, msg in (
            ({"status": "offline"}, "Invalid status"),
            ({"status": "active", "ping_only": "x"}, "ping_only is not valid JSON"),
            ({"status": "active", "last_update_id": -2}, "last_update_id is too small"),
            ({"status": "active", "history_limit_days": -1}, "history_limit_days is too small"),
        ):
            assert chat.post("/users/me/presence", **sent)["msg"] == msg

    def test_bots_have_no_presence(self, as_reminder: ChatClient) -> None:
        answer = as_reminder.post("/users/me/presence", status="active")
        assert answer == bad("This endpoint does not accept bot requests.")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        answer = as_nobody.post("/users/me/presence", status="active")
        assert answer["code"] == "UNAUTHORIZED"


class TestGetUserPresence:
    def test_returns_the_last_report(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        chat.post("/users/me/presence", status="active")
        at = seconds(clock.now())
        for name in (cast.hamlet.id, cast.hamlet.email, f"user{cast.hamlet.id}@acme.example"):
            for after, status in ((0, "active"), (140, "active"), (1, "offline")):
                clock.advance(seconds=after)
                assert as_othello.get(f"/users/{name}/presence") == {
                    **DONE,
                    "presence": {
                        "aggregated": {"status": status, "timestamp": at},
                        "website": {"status": "active", "timestamp": at},
                    },
                }
            clock.advance(seconds=-141)

    def test_unknown_user_is_rejected(
        self, chat: ChatClient, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        no_user = bad("No such user")
        for name in (2_147_483_647, 10**20, cast.hank.id, cast.hank.email, "x", cast.ophelia.id):
            assert chat.get(f"/users/{name}/presence") == no_user
        restrict_guests(chat_database)
        assert as_polonius.get(f"/users/{cast.hamlet.id}/presence") == no_user

    def test_user_without_presence_is_rejected(self, chat: ChatClient, cast: Cast) -> None:
        for name in (cast.othello.id, cast.othello.email):
            answer = chat.get(f"/users/{name}/presence")
            assert answer == bad(f"No presence data for {name}")

    def test_bot_is_rejected(self, chat: ChatClient, as_reminder: ChatClient, cast: Cast) -> None:
        answer = chat.get(f"/users/{cast.reminder.id}/presence")
        assert answer == bad("Presence is not supported for bot users.")
        chat.post("/users/me/presence", status="idle")
        answer = as_reminder.get(f"/users/{cast.hamlet.id}/presence")
        assert answer["presence"]["website"]["status"] == "idle"

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, cast: Cast) -> None:
        assert as_nobody.get(f"/users/{cast.hamlet.id}/presence")["code"] == "UNAUTHORIZED"


class TestGetRealmPresence:
    def test_returns_all_users_by_email(
        self, chat: ChatClient, as_othello: ChatClient, as_reminder: ChatClient,
        as_hank: ChatClient, cast: Cast, clock: FrozenClock,
    ) -> None:  # fmt: skip
        at = clock.now()
        no_presences = {**DONE, "presences": {}, "server_timestamp": at.timestamp()}
        assert chat.get("/realm/presence") == no_presences
        chat.post("/users/me/presence", status="active")
        as_othello.post("/users/me/presence", status="idle")
        assert as_reminder.get("/realm/presence") == {
            **no_presences,
            "presences": {
                cast.hamlet.email: older("active", seconds(at)),
                cast.othello.email: older("idle", seconds(at)),
            },
        }
        assert as_hank.get("/realm/presence") == no_presences

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/realm/presence")["code"] == "UNAUTHORIZED"
