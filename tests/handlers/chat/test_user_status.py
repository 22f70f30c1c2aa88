"""Operations of the tag users for a user's status."""

from typing import Any

import orjson
import pytest
from sqlalchemy import delete, insert, select, update

from models.chat.tables import Event, Realm, RealmEmoji, User
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.chat.rows import audited

CAR = {"emoji_name": "car", "emoji_code": "1f697", "reaction_type": "unicode_emoji"}


def status_of(status: dict[str, Any]) -> dict[str, Any]:
    return {**DONE, "status": status}


class TestGetUserStatus:
    def test_returns_text_and_emoji(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        chat.post("/users/me/status", status_text="on vacation", **CAR)
        answer = as_othello.get(f"/users/{cast.hamlet.id}/status")
        assert answer == status_of({"status_text": "on vacation", **CAR})

    def test_empty_without_a_status(self, chat: ChatClient, cast: Cast) -> None:
        assert chat.get(f"/users/{cast.othello.id}/status") == status_of({})

    def test_reports_unknown_parameters(self, chat: ChatClient, cast: Cast) -> None:
        answer = chat.get(f"/users/{cast.othello.id}/status", colour="red")
        assert answer == {**status_of({}), "ignored_parameters_unsupported": ["colour"]}

    def test_away_is_returned_only_if_true(self, chat: ChatClient, cast: Cast) -> None:
        path = f"/users/{cast.hamlet.id}/status"
        chat.post("/users/me/status", away=True)
        assert chat.get(path) == status_of({"away": True})
        chat.post("/users/me/status", away=False)
        assert chat.get(path) == status_of({})

    def test_unknown_user_and_other_organization_are_rejected(
        self, chat: ChatClient, cast: Cast
    ) -> None:
        for user_id in (2_147_483_647, cast.hank.id, 0):
            assert chat.get(f"/users/{user_id}/status") == bad("No such user")

    def test_bot_is_rejected(self, chat: ChatClient, cast: Cast) -> None:
        for user_id in (cast.reminder.id, cast.notification_bot_id):
            assert chat.get(f"/users/{user_id}/status") == bad("No such user")

    def test_deactivated_user_is_rejected(self, chat: ChatClient, cast: Cast) -> None:
        assert chat.get(f"/users/{cast.ophelia.id}/status") == bad("User is deactivated")

    def test_user_hidden_from_a_restricted_guest_is_rejected(
        self, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        members = update(Realm).values(can_access_all_users_group=Realm.members_group_id)
        chat_database.run(lambda s: s.execute(members))
        answer = as_polonius.get(f"/users/{cast.hamlet.id}/status")
        assert answer == bad("No such user")  # Zulip reveals that the user exists
        assert as_polonius.get(f"/users/{cast.polonius.id}/status") == status_of({})

    @pytest.mark.parametrize("user_id", ["abc", "-1", "2147483648"])
    def test_invalid_id_is_an_unknown_path(self, chat: ChatClient, user_id: str) -> None:
        assert chat.request("GET", f"/users/{user_id}/status").status_code == 404

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, cast: Cast) -> None:
        response = as_nobody.request("GET", f"/users/{cast.hamlet.id}/status")
        assert response.status_code == 401
        assert response.json()["code"] == "UNAUTHORIZED"


class TestUpdateOwnStatus:
    def own(self, chat: ChatClient, cast: Cast) -> dict[str, Any]:
        status: dict[str, Any] = chat.get(f"/users/{cast.hamlet.id}/status")["status"]
        return status

    def test_changes_given_values_only(self, chat: ChatClient, cast: Cast) -> None:
        assert chat.post("//users/me/status", status_text="  busy ") == DONE
        assert self.own(chat, cast) == {"status_text": "busy"}
        assert chat.post("/users/me/status", emoji_name="car") == DONE
        assert self.own(chat, cast) == {"status_text": "busy", **CAR}
        assert chat.post("/users/me/status", status_text="") == DONE
        assert self.own(chat, cast) == CAR
        assert chat.post("/users/me/status", emoji_name="") == DONE
        assert self.own(chat, cast) == {}

    def test_all_users_are_notified(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat_database.run(lambda session: session.execute(delete(Event)))
        chat.post("/users/me/status", status_text="busy", away=True, emoji_name="car")
        with chat_database.reading() as reader:
            events = select(Event.type, Event.payload, Event.audience).order_by(Event.id)
            rows = reader.execute(events).all()
        (there,) = (orjson.loads(payload) for kind, payload, _ in rows if kind == "presence")
        assert there["user_id"] == cast.hamlet.id
        hide = {"op": "update", "property": "presence_enabled", "value": False}
        told = {"user_id": cast.hamlet.id, "away": True, "status_text": "busy", **CAR}
        assert [(kind, orjson.loads(payload), to) for kind, payload, to in rows] == [
            ("user_settings", hide, "users"),
            ("presence", there, "realm"),
            ("user_status", told, "realm"),
        ]

    def test_away_is_the_inverse_of_presence_enabled(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat.post("/users/me/status", away=True)
        with chat_database.reading() as reader:
            shown = select(User.presence_enabled).where(User.id == cast.hamlet.id)
            assert reader.execute(shown).scalar() is False

    def test_text_length_is_limited_to_60_characters(self, chat: ChatClient, cast: Cast) -> None:
        assert chat.post("/users/me/status", status_text="é" * 60) == DONE
        assert self.own(chat, cast)["status_text"] == "é" * 60
        answer = chat.post("/users/me/status", status_text="é" * 61)
        assert answer == bad("status_text is too long (limit: 60 characters)")

    def test_empty_request_is_rejected(self, chat: ChatClient) -> None:
        answer = bad("Client did not pass any new values.")
        assert chat.post("/users/me/status") == answer
        assert chat.post("/users/me/status", emoji_code="1f697") == answer

    @pytest.mark.parametrize("field", [{"emoji_code": "1f697"}, {"reaction_type": "unicode_emoji"}])
    def test_emoji_requires_its_name(self, chat: ChatClient, field: dict[str, str]) -> None:
        answer = chat.post("/users/me/status", status_text="x", **field)
        assert answer == bad(
            "Client must pass emoji_name if they pass either emoji_code or reaction_type."
        )

    @pytest.mark.parametrize(
        ("emoji", "msg"),
        [
            ({"emoji_name": "no_such"}, "Emoji 'no_such' does not exist"),
            ({**CAR, "emoji_code": "xyz"}, "Invalid emoji code."),
            ({**CAR, "emoji_code": "1f698"}, "Invalid emoji name."),
            ({**CAR, "reaction_type": "realm_emoji"}, "Invalid custom emoji."),
            ({**CAR, "reaction_type": "service_extra_emoji"}, "Invalid emoji code."),
            (
                {**CAR, "reaction_type": "service_extra_emoji", "emoji_code": "zulip"},
                "Invalid emoji name.",
            ),
            ({**CAR, "reaction_type": "gif"}, "Invalid reaction_type"),
            ({"away": "yes"}, "away is not valid JSON"),
            ({"away": "1"}, "away is not a boolean"),
        ],
    )
    def test_rejects_invalid_requests(
        self, chat: ChatClient, emoji: dict[str, str], msg: str
    ) -> None:
        assert chat.post("/users/me/status", **emoji) == bad(msg)

    def test_unknown_emoji_is_accepted_with_its_code(self, chat: ChatClient, cast: Cast) -> None:
        flag = {"emoji_name": "denmark", "emoji_code": "1f1e9-1f1f0"}
        chat.post("/users/me/status", reaction_type="unicode_emoji", **flag)
        assert self.own(chat, cast) == {**flag, "reaction_type": "unicode_emoji"}

    @pytest.mark.parametrize("kind", [None, "service_extra_emoji", "zulip_extra_emoji"])
    def test_emoji_of_the_service(self, chat: ChatClient, cast: Cast, kind: str | None) -> None:
        chat.post("/users/me/status", emoji_name="zulip", reaction_type=kind)
        assert self.own(chat, cast) == {
            "emoji_name": "zulip",
            "emoji_code": "zulip",
            "reaction_type": "service_extra_emoji",
        }

    def test_custom_emoji(self, chat: ChatClient, cast: Cast, chat_database: Database) -> None:
        def add(name: str, realm_id: int, is_deactivated: bool = False) -> int:
            row = {
                "name": name,
                "realm_id": realm_id,
                "source_url": "",
                "is_deactivated": is_deactivated,
            }
            made = insert(RealmEmoji).returning(RealmEmoji.id)
            return int(chat_database.run(lambda s: s.execute(made, row).scalar_one()))

        yorick, foreign_emoji = add("yorick", cast.realm_id), add("doughnut", cast.globex_id)
        gone = add("ghost", cast.realm_id, is_deactivated=True)
        chat.post("/users/me/status", emoji_name="yorick")
        expected = {
            "emoji_name": "yorick",
            "emoji_code": str(yorick),
            "reaction_type": "realm_emoji",
        }
        assert self.own(chat, cast) == expected
        assert chat.post("/users/me/status", **expected) == DONE
        for emoji_id, name, msg in (
            (yorick, "skull", "Invalid custom emoji name."),
            (foreign_emoji, "doughnut", "Invalid custom emoji."),
            (gone, "ghost", "This custom emoji has been deactivated."),
        ):
            emoji = {"emoji_name": name, "emoji_code": str(emoji_id)}
            answer = chat.post("/users/me/status", reaction_type="realm_emoji", **emoji)
            assert answer == bad(msg)

    def test_rejects_bots(self, as_reminder: ChatClient) -> None:
        answer = as_reminder.post("/users/me/status", status_text="x" * 99)
        assert answer == bad("This endpoint does not accept bot requests.")

    def test_guests_are_allowed(self, as_polonius: ChatClient) -> None:
        assert as_polonius.post("/users/me/status", status_text="behind the arras") == DONE

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", "/users/me/status").status_code == 401


class TestUpdateUserStatus:
    def test_changes_given_values_only(
        self, chat: ChatClient, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        path = f"/users/{cast.hamlet.id}/status"
        assert as_iago.post(path, status_text="  busy ", emoji_name="car") == DONE
        assert chat.get(path) == status_of({"status_text": "busy", **CAR})
        assert as_iago.post(path, status_text="") == DONE
        assert chat.get(path) == status_of(CAR)
        assert as_iago.post(path, emoji_name="") == DONE
        assert chat.get(path) == as_iago.get(f"/users/{cast.iago.id}/status") == status_of({})
        with chat_database.reading() as reader:
            events = select(Event.payload, Event.audience).where(Event.type == "user_status")
            rows = reader.execute(events.order_by(Event.id)).all()
        assert [(orjson.loads(payload), to) for payload, to in rows][:2] == [
            ({"user_id": cast.hamlet.id, "status_text": "busy", **CAR}, "realm"),
            ({"user_id": cast.hamlet.id, "status_text": ""}, "realm"),
        ]
        changed = (cast.iago.id, cast.hamlet.id, {})
        assert audited(chat_database, "user_status_changed") == [changed] * 3

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_iago: ChatClient, as_nobody: ChatClient, cast: Cast
    ) -> None:
        for user_id in (2_147_483_647, cast.hank.id, cast.reminder.id, cast.notification_bot_id):
            answer = as_iago.post(f"/users/{user_id}/status", status_text="busy")
            assert answer == bad("No such user")
        gone = as_iago.post(f"/users/{cast.ophelia.id}/status", status_text="busy")
        assert gone == bad("User is deactivated")
        path = f"/users/{cast.hamlet.id}/status"
        nothing = bad("Client did not pass any new values.")
        assert as_iago.post(path) == as_iago.post(path, away=True) == nothing
        assert as_iago.post(path, status_text="x", emoji_code="1f697") == bad(
            "Client must pass emoji_name if they pass either emoji_code or reaction_type."
        )
        refused = {**bad("Must be an organization administrator"), "code": "UNAUTHORIZED_PRINCIPAL"}
        for who in (cast.hamlet, cast.prospero, cast.polonius, cast.reminder):
            assert chat.acting_as(who).post(path, status_text="busy") == refused
        assert as_nobody.request("POST", path, {}).status_code == 401
        assert chat.get(path) == status_of({})
