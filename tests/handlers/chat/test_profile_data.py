"""Changes of the own custom profile: PATCH and DELETE /users/me/profile_data."""

import pytest

from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.chat.rows import events_of, make_fields


@pytest.fixture
def fields(cast: Cast, chat_database: Database) -> dict[str, int]:
    return make_fields(chat_database, cast.realm_id)


class TestUpdateOwnProfileData:
    def test_stores_and_returns_values(
        self, chat: ChatClient, cast: Cast, chat_database: Database, fields: dict[str, int]
    ) -> None:
        data = [
            {"id": fields["Job"], "value": "Fool"},
            {"id": fields["Job"], "value": "Prince"},
            {"id": fields["Mentor"], "value": [cast.polonius.id]},
        ]
        assert chat.patch("/users/me/profile_data", data=data) == DONE
        kept = {
            str(fields["Job"]): {"value": "Prince", "rendered_value": "<p>Prince</p>"},
            str(fields["Mentor"]): {"value": f"[{cast.polonius.id}]"},
        }
        assert chat.get("/users/me")["profile_data"] == kept
        members = chat.get("/users", include_custom_profile_fields=True)["members"]
        shown = {one["user_id"]: one.get("profile_data") for one in members}
        assert shown[cast.hamlet.id] == kept
        assert (shown[cast.othello.id], shown[cast.reminder.id]) == ({}, None)
        assert events_of(chat_database)[0] == {
            "type": "realm_user",
            "op": "update",
            "person": {
                "user_id": cast.hamlet.id,
                "custom_profile_field": {"id": fields["Job"], **kept[str(fields["Job"])]},
            },
            "to": None,
        }
        assert chat.patch("/users/me/profile_data", data=data[1:]) == DONE
        assert len(events_of(chat_database)) == 2

    def test_fields_for_administrators(
        self, chat: ChatClient, as_iago: ChatClient, fields: dict[str, int]
    ) -> None:
        data = [{"id": fields["Job"], "value": "x"}, {"id": fields["Rank"], "value": "First"}]
        wanted = bad(
            "You are not allowed to change this field. Contact an administrator to update it."
        )
        assert chat.patch("/users/me/profile_data", data=data) == wanted
        assert chat.delete("/users/me/profile_data", data=[fields["Rank"]]) == wanted
        assert chat.get("/users/me")["profile_data"] == {}
        assert as_iago.patch("/users/me/profile_data", data=data) == DONE

    def test_rejects_invalid_requests(
        self,
        chat: ChatClient,
        as_reminder: ChatClient,
        as_nobody: ChatClient,
        as_polonius: ChatClient,
        fields: dict[str, int],
    ) -> None:
        path = "/users/me/profile_data"
        assert chat.patch(path, data=[{"id": 999999, "value": "x"}]) == bad(
            "Field id 999999 not found."
        )
        assert chat.patch(path) == {
            **bad("Missing 'data' argument", "REQUEST_VARIABLE_MISSING"),
            "var_name": "data",
        }
        assert as_reminder.patch(path) == bad("This endpoint does not accept bot requests.")
        assert as_nobody.request("PATCH", path, {"data": []}).status_code == 401
        good = [{"id": fields["Pronouns"], "value": "x" * 50}]
        assert as_polonius.patch(path, data=good) == DONE


class TestClearOwnProfileData:
    def test_clears_values(
        self, chat: ChatClient, cast: Cast, chat_database: Database, fields: dict[str, int]
    ) -> None:
        path, job = "/users/me/profile_data", fields["Job"]
        chat.patch(path, data=[{"id": job, "value": "Prince"}])
        for _ in range(2):
            assert chat.delete(path, data=[job, fields["About"]]) == DONE
        assert chat.get("/users/me")["profile_data"] == {}
        people = [event["person"] for event in events_of(chat_database)]
        assert people[1:] == [
            {"user_id": cast.hamlet.id, "custom_profile_field": {"id": job, "value": None}}
        ]

    def test_rejects_invalid_requests(
        self,
        chat: ChatClient,
        as_reminder: ChatClient,
        as_nobody: ChatClient,
        cast: Cast,
        chat_database: Database,
    ) -> None:
        path = "/users/me/profile_data"
        foreign_field = make_fields(chat_database, cast.globex_id)["Job"]
        assert chat.delete(path, data=[foreign_field]) == bad(
            f"Field id {foreign_field} not found."
        )
        assert chat.delete(path, data=["x"]) == bad("data[0] is not an integer")
        assert as_reminder.delete(path) == bad("This endpoint does not accept bot requests.")
        assert as_nobody.request("DELETE", path, {"data": []}).status_code == 401
