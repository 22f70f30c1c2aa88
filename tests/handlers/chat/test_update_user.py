"""PATCH /users/{user_id}: role, name, profile and email."""

from typing import Any

import pytest
from sqlalchemy import func, select

from models.chat.tables import Realm, User
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.rows import (
    audited,
    change_user,
    events_of,
    make_fields,
    system_groups_of,
    user_row,
)

MUST_OWN = bad("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")
GROUPS_OF = {
    100: {"role:owners"},
    200: {"role:administrators"},
    300: {"role:moderators"},
    400: {"role:members", "role:fullmembers"},
    600: {"role:everyone"},
}


def path_of(member: Any) -> str:
    return f"/users/{member.id}"


def _members(database: Database, cast: Cast) -> int:
    with database.reading() as reader:
        members = select(Realm.members_group_id).where(Realm.id == cast.realm_id)
        return int(reader.execute(members).scalar_one())


class TestUpdateUserByEmail:
    def test_works_like_update_user(
        self, as_iago: ChatClient, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        for email, name in (
            (cast.othello.email, "Otto"),
            (cast.othello.email.upper(), "Othello"),
            (f"user{cast.othello.id}@acme.example", "Otto"),
        ):
            assert as_iago.patch(f"/users/{email}", full_name=name, role=300) == DONE
            assert user_row(chat_database, cast.othello.id).full_name == name
        assert user_row(chat_database, cast.othello.id).role == 300
        answer = chat.patch(f"/users/{cast.othello.email}", full_name="O")
        assert answer == bad("Insufficient permission")
        assert as_iago.patch("/users/nobody@acme.example", role=300) == bad("No such user")


class TestWho:
    def test_unknown_user_is_rejected(self, as_iago: ChatClient, cast: Cast) -> None:
        for user_id in (cast.hank.id, cast.notification_bot_id, 999999, 2147483647):
            answer = as_iago.patch(f"/users/{user_id}", full_name="Nobody")
            assert answer == bad("No such user")

    def test_requires_administrator_or_owner_of_the_bot(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        for member in (cast.prospero, cast.hamlet, cast.polonius, cast.reminder):
            calls = as_nobody.acting_as(member)
            assert calls.patch(path_of(cast.othello), full_name="Otto") == bad(
                "Insufficient permission"
            )
        assert as_nobody.request("PATCH", path_of(cast.othello), {}).status_code == 401
        assert as_nobody.acting_as(cast.othello).patch(
            path_of(cast.reminder), full_name="Mine"
        ) == bad("Insufficient permission")
        bot = as_nobody.acting_as(cast.hamlet)
        assert bot.patch(path_of(cast.reminder), full_name="Yorick") == DONE
        assert user_row(chat_database, cast.reminder.id).full_name == "Yorick"

    def test_owner_of_a_bot_cannot_change_its_role(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert chat.patch(path_of(cast.reminder), role=200) == bad(
            "Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL"
        )
        assert user_row(chat_database, cast.reminder.id).role == 400

    def test_deactivated_users_can_be_changed(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert as_iago.patch(path_of(cast.ophelia), role=300, full_name="Lia") == DONE
        assert user_row(chat_database, cast.ophelia.id).role == 300


class TestRole:
    @pytest.mark.parametrize(
        ("who", "role"),
        [("othello", 100), ("othello", 200), ("othello", 300), ("othello", 600), ("polonius", 400),
         ("iago", 400), ("reminder", 200)],
    )  # fmt: skip
    def test_system_groups_follow_the_role(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database, who: str, role: int
    ) -> None:
        member = getattr(cast, who)
        assert as_cordelia.patch(path_of(member), role=role) == DONE
        assert user_row(chat_database, member.id).role == role
        assert system_groups_of(chat_database, member.id) == GROUPS_OF[role]
        told, *groups = events_of(chat_database)
        assert told == {
            "type": "realm_user",
            "op": "update",
            "person": {"user_id": member.id, "role": role},
            "to": None,
        }
        moves = [(e["op"], e["user_ids"]) for e in groups if e["type"] == "user_group"]
        assert moves == [("remove_members", [member.id])] * len(GROUPS_OF[member.role]) + [
            ("add_members", [member.id])
        ] * len(GROUPS_OF[role])
        assert audited(chat_database, "user_role_changed") == [
            (cast.cordelia.id, member.id, {"old": member.role, "new": role})
        ]

    @pytest.mark.parametrize(
        ("actor", "target", "role", "msg"),
        [
            ("iago", "othello", 100, MUST_OWN["msg"]),
            ("iago", "cordelia", 400, MUST_OWN["msg"]),
            ("iago", "polonius", 100, MUST_OWN["msg"]),
            ("iago", "polonius", 200, "Guests cannot be organization administrators"),
            ("cordelia", "polonius", 100, "Guests cannot be organization administrators"),
            ("cordelia", "cordelia", 200,
             "The owner permission cannot be removed from the only organization owner."),
        ],
    )  # fmt: skip
    def test_rejects_invalid_requests(
        self,
        as_nobody: ChatClient,
        cast: Cast,
        chat_database: Database,
        actor: str,
        target: str,
        role: int,
        msg: str,
    ) -> None:
        member = getattr(cast, target)
        calls = as_nobody.acting_as(getattr(cast, actor))
        answer = calls.patch(path_of(member), role=role, full_name="Not This")
        assert answer == (MUST_OWN if msg == MUST_OWN["msg"] else bad(msg))
        row = user_row(chat_database, member.id)
        assert (row.role, row.full_name) == (member.role, member.name)
        assert events_of(chat_database) == []

    def test_one_of_two_owners_can_be_demoted(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_cordelia.patch(path_of(cast.iago), role=100)
        assert as_cordelia.patch(path_of(cast.cordelia), role=400) == DONE
        assert user_row(chat_database, cast.cordelia.id).role == 400

    def test_bots_and_deactivated_users_do_not_count_as_owners(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        for member in (cast.reminder, cast.ophelia):
            assert as_cordelia.patch(path_of(member), role=100) == DONE
        assert as_cordelia.patch(path_of(cast.cordelia), role=200)["result"] == "error"
        assert as_cordelia.patch(path_of(cast.ophelia), role=400) == DONE

    def test_mutual_demotion_leaves_one_owner(
        self,
        as_cordelia: ChatClient,
        as_iago: ChatClient,
        cast: Cast,
        chat_database: Database,
    ) -> None:
        as_cordelia.patch(path_of(cast.iago), role=100)
        answers = as_cordelia.at_once(
            as_cordelia.build("PATCH", path_of(cast.iago), {"role": 400}),
            as_iago.build("PATCH", path_of(cast.cordelia), {"role": 400}),
        )
        # The later request is rejected, before or inside its unit of work.
        assert sorted(answer.status_code for answer in answers) == [200, 400]
        with chat_database.reading() as reader:
            owners = select(func.count(User.id)).where(
                User.realm_id == cast.realm_id, User.role == 100
            )
            assert reader.execute(owners).scalar_one() == 1

    @pytest.mark.parametrize(
        ("sent", "msg"),
        [
            (500, "Invalid role: Value error, Not in the list of possible values"),
            ("admin", "role is not valid JSON"),
            ('"400"', "role is not an integer"),
        ],
    )
    def test_rejects_invalid_values(
        self, as_iago: ChatClient, cast: Cast, sent: Any, msg: str
    ) -> None:
        assert as_iago.patch(path_of(cast.othello), role=sent) == bad(msg)

    def test_visibility_follows_the_role(
        self, as_iago: ChatClient, as_othello: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        def prepare(session: Any) -> tuple[int, int, int]:
            return (
                make_channel(session, cast, "verona", subscribers=[cast.othello]),
                make_channel(session, cast, "denmark"),
                make_channel(session, cast, "cellar", invite_only=True),
            )

        verona, denmark, cellar = chat_database.run(prepare)
        assert as_othello.get(f"/users/me/{denmark}/topics")["result"] == "success"
        as_iago.patch(path_of(cast.othello), role=600)
        assert as_othello.get(f"/users/me/{denmark}/topics") == bad("Invalid channel ID")
        assert as_othello.get(f"/users/me/{verona}/topics")["result"] == "success"
        assert as_othello.post("/users") == bad(
            "Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL"
        )
        as_iago.patch(path_of(cast.othello), role=400)
        as_iago.patch(path_of(cast.othello), role=200)
        told = events_of(chat_database, "stream")
        assert {tuple(event["to"]) for event in told} == {(cast.othello.id,)}
        assert [
            (event["op"], [stream["stream_id"] for stream in event["streams"]]) for event in told
        ] == [("delete", [denmark]), ("create", [denmark]), ("create", [cellar])]


class TestRecipients:
    def test_guests_receive_events_of_visible_users_only(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_cordelia.patch("/realm", can_access_all_users_group=_members(chat_database, cast))
        as_cordelia.patch(path_of(cast.hamlet), full_name="Prince")
        chat_database.run(
            lambda s: make_channel(s, cast, "castle", subscribers=[cast.hamlet, cast.polonius])
        )
        as_cordelia.patch(path_of(cast.hamlet), full_name="Hamlet")
        first, second = events_of(chat_database, "realm_user")
        assert cast.polonius.id not in first["to"]
        assert cast.polonius.id in second["to"]
        assert set(second["to"]) - set(first["to"]) == {cast.polonius.id}
        assert cast.iago.id in first["to"]


class TestFullName:
    def test_changes_the_name(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert as_iago.patch(path_of(cast.hamlet), full_name=" Prince Hamlet ") == DONE
        assert user_row(chat_database, cast.hamlet.id).full_name == "Prince Hamlet"
        person = {"user_id": cast.hamlet.id, "full_name": "Prince Hamlet"}
        assert events_of(chat_database) == [
            {"type": "realm_user", "op": "update", "person": person, "to": None}
        ]
        assert audited(chat_database, "user_full_name_changed") == [
            (cast.iago.id, cast.hamlet.id, {"old": "Hamlet", "new": "Prince Hamlet"})
        ]

    def test_blank_or_identical_name_changes_nothing(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        for name in ("", "  ", "Hamlet", " Hamlet"):
            assert as_iago.patch(path_of(cast.hamlet), full_name=name) == DONE
        assert as_iago.patch(path_of(cast.hamlet), role=400) == DONE
        assert as_iago.patch(path_of(cast.hamlet)) == DONE
        assert events_of(chat_database) == []

    @pytest.mark.parametrize(
        ("name", "msg"),
        [
            ("x", "Name too short!"),
            ("x" * 101, "Name too long!"),
            ('A "B"', "Invalid characters in name!"),
            ("Ada|7", "Invalid format!"),
        ],
    )
    def test_rejects_invalid_names(
        self, as_iago: ChatClient, cast: Cast, name: str, msg: str
    ) -> None:
        assert as_iago.patch(path_of(cast.hamlet), full_name=name) == bad(msg)

    def test_unique_names(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_cordelia.patch("/realm", require_unique_names=True)
        assert as_cordelia.patch(path_of(cast.hamlet), full_name="othello") == bad(
            "Unique names required in this organization."
        )
        assert as_cordelia.patch(path_of(cast.hamlet), full_name="HAMLET") == DONE


class TestNewEmail:
    @pytest.fixture
    def trusted(self, as_cordelia: ChatClient, cast: Cast, chat_database: Database) -> ChatClient:
        change_user(chat_database, cast.cordelia.id, can_change_user_emails=True)
        return as_cordelia

    def test_address_changes_immediately(
        self, trusted: ChatClient, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.hamlet.id, email_address_visibility=3)
        email = "Prince@acme.example"
        assert trusted.patch(path_of(cast.hamlet), new_email=f" {email} ") == DONE
        row = user_row(chat_database, cast.hamlet.id)
        assert (row.delivery_email, row.email_key) == (email, email.lower())
        assert as_nobody.acting_as(cast.hamlet).get("/users/me")["code"] == "UNAUTHORIZED"
        sign_in = as_nobody.post("/dev_fetch_api_key", username=email)
        assert sign_in["user_id"] == cast.hamlet.id
        # Only users who may see the address receive it.
        assert events_of(chat_database) == [
            {
                "type": "realm_user",
                "op": "update",
                "person": {"user_id": cast.hamlet.id, "delivery_email": email},
                "to": [cast.cordelia.id, cast.iago.id, cast.hamlet.id],
            }
        ]
        ((actor_id, user_id, facts),) = audited(chat_database, "user_email_changed")
        assert (actor_id, user_id, facts) == (cast.cordelia.id, cast.hamlet.id, {})

    def test_visible_address_is_sent_to_all_users(
        self, trusted: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        email = "prince@acme.example"
        trusted.patch(path_of(cast.hamlet), new_email=email)
        people = [event["person"] for event in events_of(chat_database, "realm_user")]
        assert [sorted(person.keys() - {"user_id"}) for person in people] == [
            ["delivery_email"],
            ["new_email"],
            ["avatar_source", "avatar_url", "avatar_url_medium", "avatar_version"],
        ]
        assert people[2]["avatar_version"] == 2
        trusted.patch(path_of(cast.hamlet), new_email=email)
        trusted.patch(path_of(cast.hamlet), new_email=email.upper())
        assert user_row(chat_database, cast.hamlet.id).delivery_email == email.upper()

    def test_rejects_invalid_requests(
        self,
        trusted: ChatClient,
        as_iago: ChatClient,
        as_nobody: ChatClient,
        cast: Cast,
        chat_database: Database,
    ) -> None:
        change_user(chat_database, cast.iago.id, can_change_user_emails=True)
        change_user(chat_database, cast.othello.id, role=100)
        path, good = path_of(cast.hamlet), "prince@acme.example"
        assert as_iago.patch(path, new_email=good) == MUST_OWN
        assert as_nobody.acting_as(cast.othello).patch(path, new_email=good) == bad(
            "User not authorized to change user emails"
        )
        for email, msg in (
            ("prince", "Enter a valid email address."),
            ("x@mailinator.com", "Disposable email addresses are not allowed in this organization"),
            ("IAGO@acme.example", "Email 'IAGO@acme.example' already in use"),
        ):
            assert trusted.patch(path, new_email=email, full_name="Not This") == bad(msg)
        assert user_row(chat_database, cast.hamlet.id).full_name == "Hamlet"
        assert events_of(chat_database) == []


class TestProfileData:
    def test_all_types_in_one_request(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        fields = make_fields(chat_database, cast.realm_id)
        sent = {
            "Job": "*Prince*",
            "About": "Sees **ghosts**",
            "Editor": "0",
            "Birthday": "1564-04-26",
            "Site": "https://elsinore.example/",
            "Mentor": [cast.polonius.id, cast.iago.id],
            "Forge": "hamlet",
            "Pronouns": "he/him",
            "Rank": "First",
        }
        entries = [{"id": fields[name], "value": value} for name, value in sent.items()]
        assert as_iago.patch(path_of(cast.hamlet), profile_data=entries) == DONE
        kept = {str(fields[name]): {"value": value} for name, value in sent.items()}
        kept[str(fields["Mentor"])]["value"] = f"[{cast.polonius.id},{cast.iago.id}]"
        kept[str(fields["Job"])]["rendered_value"] = "<p><em>Prince</em></p>"
        kept[str(fields["About"])]["rendered_value"] = "<p>Sees <strong>ghosts</strong></p>"
        kept[str(fields["Rank"])]["rendered_value"] = "<p>First</p>"
        path = f"/users/{cast.hamlet.email}"
        seen = as_iago.get(path, include_custom_profile_fields=True)["user"]
        assert seen["profile_data"] == kept
        told = events_of(chat_database, "realm_user")
        assert {str(e["person"]["custom_profile_field"].pop("id")): e["person"] for e in told} == {
            field_id: {"user_id": cast.hamlet.id, "custom_profile_field": value}
            for field_id, value in kept.items()
        }
        # Unchanged values are not sent. Null, empty text and an empty list clear a value.
        cleared = [
            {"id": fields["Job"], "value": None},
            {"id": fields["Forge"], "value": ""},
            {"id": fields["Mentor"], "value": []},
            {"id": fields["Editor"], "value": "0"},
        ]
        assert as_iago.patch(path_of(cast.hamlet), profile_data=cleared) == DONE
        told = events_of(chat_database, "realm_user")[len(sent) :]
        assert [event["person"]["custom_profile_field"] for event in told] == [
            {"id": fields[name], "value": None} for name in ("Job", "Forge", "Mentor")
        ]
        seen = as_iago.get(path, include_custom_profile_fields=True)["user"]
        assert len(seen["profile_data"]) == len(sent) - 3

    def test_rejected_request_changes_nothing(
        self, as_iago: ChatClient, as_hank: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        fields = make_fields(chat_database, cast.realm_id)
        foreign_fields = make_fields(chat_database, cast.globex_id)
        good = {"id": fields["Job"], "value": "Prince"}
        for name, value, msg in (
            ("Job", "x" * 51, "Job is too long (limit: 50 characters)"),
            ("About", "x" * 501, "About is too long (limit: 500 characters)"),
            ("Editor", "1", "'1' is not a valid choice for 'Editor'."),
            ("Birthday", "26.4.1564", "Birthday is not a date"),
            ("Site", "elsinore", "Site is not a URL"),
            ("Job", [1], "Job is not a string"),
            ("Mentor", "iago", "User IDs is not a list"),
            ("Mentor", [cast.hank.id], f"Invalid user ID: {cast.hank.id}"),
            ("Mentor", [cast.ophelia.id], f"User with ID {cast.ophelia.id} is deactivated"),
            ("Mentor", [cast.reminder.id], f"User with ID {cast.reminder.id} is a bot"),
            ("Forge", "x" * 51, "Forge is too long (limit: 50 characters)"),
            ("Pronouns", "x" * 51, "Pronouns is too long (limit: 50 characters)"),
        ):
            entries = [good, {"id": fields[name], "value": value}]
            answer = as_iago.patch(path_of(cast.hamlet), profile_data=entries, full_name="New")
            assert answer == bad(msg)
        for field_id in (foreign_fields["Job"], 999999):
            entries = [good, {"id": field_id, "value": None}]
            answer = as_iago.patch(path_of(cast.hamlet), profile_data=entries)
            assert answer == bad(f"Field id {field_id} not found.")
        assert as_iago.patch(path_of(cast.reminder), profile_data=[good]) == bad(
            "Insufficient permission"
        )
        assert user_row(chat_database, cast.hamlet.id).full_name == "Hamlet"
        assert events_of(chat_database) == []

    @pytest.mark.parametrize(
        ("sent", "msg"),
        [
            ("x", "profile_data is not valid JSON"),
            ([5], "profile_data[0] is not a dict"),
            ([{"id": 1}], 'profile_data[0]["value"] field is missing'),
            ([{"value": "x"}], 'profile_data[0]["id"] field is missing'),
            ([{"id": "1", "value": "x"}], 'profile_data[0]["id"] is not an integer'),
            ([{"id": 1, "value": 5}], 'profile_data[0]["value"] is not a string'),
            ([{"id": 1, "value": ["a"]}], 'profile_data[0]["value"][0] is not an integer'),
        ],
    )
    def test_rejects_other_shapes(
        self, as_iago: ChatClient, cast: Cast, sent: Any, msg: str
    ) -> None:
        assert as_iago.patch(path_of(cast.hamlet), profile_data=sent) == bad(msg)

    def test_null_character_is_rejected(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        fields = make_fields(chat_database, cast.realm_id)
        sent = f'[{{"id": {fields["Job"]}, "value": "a\\u0000b"}}]'
        answer = as_iago.patch(path_of(cast.hamlet), profile_data=sent)
        assert (answer["result"], answer.get("code")) == ("error", "BAD_REQUEST")
