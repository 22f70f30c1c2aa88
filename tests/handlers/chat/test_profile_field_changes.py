"""Operations of the tag profile_fields that change existing fields."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from sqlalchemy import select

from models.chat.identity.actors import find_actor
from models.chat.profiles.errors import SummaryIsFull
from models.chat.profiles.fields import FieldChanges, find_profile_fields, update_profile_field
from models.chat.tables import Event, ProfileValue
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast

EDITORS = {"0": {"text": "Vim", "order": "1"}, "1": {"text": "Emacs", "order": "2"}}


NOT_AN_ADMINISTRATOR = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
NOT_LOGGED_IN = bad("Not logged in: API authentication or user session required", "UNAUTHORIZED")


def define(client: ChatClient, name: str, field_type: int = 1, **more: Any) -> int:
    made = client.post("/realm/profile_fields", name=name, field_type=field_type, **more)
    assert made["result"] == "success", made
    field_id: int = made["id"]
    return field_id


def fields(client: ChatClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/realm/profile_fields")["custom_fields"]
    return found


def last_event_fields(database: Database) -> list[dict[str, Any]]:
    """Return the fields in the last event as read now."""
    with database.reading() as reader:
        kind = Event.type == "custom_profile_fields"
        realms = reader.execute(select(Event.realm_id).where(kind)).scalars().all()
        return find_profile_fields(reader, realms[-1])


def values(database: Database, field_id: int) -> list[str]:
    with database.reading() as reader:
        of_field = select(ProfileValue.value).where(ProfileValue.field_id == field_id)
        return list(reader.execute(of_field).scalars())


class TestUpdateProfileField:
    def test_changes_given_values(self, as_iago: ChatClient, chat_database: Database) -> None:
        field_id = define(as_iago, "Motto", hint="Short")
        path = f"/realm/profile_fields/{field_id}"
        assert as_iago.patch(path, name=" Creed ", required=True) == DONE
        [creed] = fields(as_iago)
        assert (creed["name"], creed["hint"], creed["required"]) == ("Creed", "Short", True)
        assert last_event_fields(chat_database) == [creed]
        assert as_iago.patch(path, display_in_profile_summary=True) == DONE
        assert fields(as_iago)[0]["display_in_profile_summary"] is True

    def test_values_of_removed_choices_are_deleted(
        self, as_iago: ChatClient, chat: ChatClient, as_othello: ChatClient,
        chat_database: Database,
    ) -> None:  # fmt: skip
        field_id = define(as_iago, "Editor", 3, field_data=EDITORS)
        for client, choice in ((chat, "0"), (as_othello, "1")):
            data = [{"id": field_id, "value": choice}]
            assert client.patch("/users/me/profile_data", data=data) == DONE
        fewer = {"0": EDITORS["0"]}
        assert as_iago.patch(f"/realm/profile_fields/{field_id}", field_data=fewer) == DONE
        assert values(chat_database, field_id) == ["0"]

    def test_rejects_invalid_requests(self, as_iago: ChatClient, as_hank: ChatClient) -> None:
        motto, creed = define(as_iago, "Motto"), define(as_iago, "Creed")
        people = define(as_iago, "Mentor", 6)
        github = define(as_iago, "", 7, field_data={"subtype": "github"})
        path = f"/realm/profile_fields/{motto}"
        assert as_iago.patch(path, name="Creed") == bad("A field with that label already exists.")
        assert as_iago.patch(path, name=" ") == bad("Label cannot be blank.")
        too_long = bad("name is too long (limit: 40 characters)")
        assert as_iago.patch(path, name="x" * 41) == too_long
        too_long = bad("hint is too long (limit: 80 characters)")
        assert as_iago.patch(path, hint="x" * 81) == too_long
        on_people = as_iago.patch(
            f"/realm/profile_fields/{people}", display_in_profile_summary=True
        )
        assert on_people == bad("Field type not supported for display in profile summary.")
        fixed = as_iago.patch(f"/realm/profile_fields/{github}", name="Another")
        assert fixed == bad("Default custom field cannot be updated.")
        unknown = bad(f"Field id {motto} not found.")
        assert as_hank.patch(path, name="Theirs") == unknown
        for field_id in (motto, creed):
            shown = {"display_in_profile_summary": True}
            assert as_iago.patch(f"/realm/profile_fields/{field_id}", **shown) == DONE
        third = define(as_iago, "Third")
        full = as_iago.patch(f"/realm/profile_fields/{third}", display_in_profile_summary=True)
        assert full == bad("Only 2 custom profile fields can be displayed in the profile summary.")

    def test_concurrent_changes_respect_the_limit_of_the_summary(
        self, as_iago: ChatClient, chat_database: Database, cast: Cast, now: datetime
    ) -> None:
        ids = [define(as_iago, name) for name in "abcd"]

        def show(field_id: int) -> bool:
            def work(session: Any) -> None:
                iago = find_actor(session, cast.iago.id)
                assert iago is not None
                changes = FieldChanges(display_in_profile_summary=True)
                update_profile_field(session, iago, field_id, changes, now=now)

            try:
                chat_database.run(work)
            except SummaryIsFull:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(show, ids)) == 2

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.patch("/realm/profile_fields/1") == NOT_LOGGED_IN
        assert as_prospero.patch("/realm/profile_fields/1") == NOT_AN_ADMINISTRATOR


class TestDeleteProfileField:
    def test_deletes_the_field_with_its_values(
        self, as_iago: ChatClient, as_hank: ChatClient, chat: ChatClient, chat_database: Database
    ) -> None:
        field_id = define(as_iago, "Motto")
        chat.patch("/users/me/profile_data", data=[{"id": field_id, "value": "To be"}])
        path = f"/realm/profile_fields/{field_id}"
        missing = bad(f"Field id {field_id} not found.")
        assert as_hank.delete(path) == missing
        assert as_iago.delete(path) == DONE
        assert values(chat_database, field_id) == []
        assert last_event_fields(chat_database) == []
        assert as_iago.delete(path) == missing

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.delete("/realm/profile_fields/1") == NOT_LOGGED_IN
        assert as_prospero.delete("/realm/profile_fields/1") == NOT_AN_ADMINISTRATOR


class TestReorderProfileFields:
    def test_orders_all_fields(self, as_iago: ChatClient, chat_database: Database) -> None:
        a, b, c = (define(as_iago, name) for name in "abc")
        assert as_iago.patch("/realm/profile_fields", order=[c, a, 999, b]) == DONE
        assert [field["name"] for field in fields(as_iago)] == ["c", "a", "b"]
        assert [field["name"] for field in last_event_fields(chat_database)] == ["c", "a", "b"]
        wrong = as_iago.patch("/realm/profile_fields", order=[a, b])
        assert wrong == bad("Invalid order mapping.")

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.patch("/realm/profile_fields") == NOT_LOGGED_IN
        assert as_prospero.patch("/realm/profile_fields") == NOT_AN_ADMINISTRATOR
