"""Operations of the tag users."""

from typing import Any

import pytest
from sqlalchemy import select, update

from models.chat.tables import (
    Conversation,
    ConversationMember,
    ProfileField,
    ProfileValue,
    Realm,
    User,
)
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast, Member, gravatar

NO_SUCH_USER = bad("No such user")


def change_user(database: Database, user_id: int, **values: Any) -> None:
    database.run(lambda s: s.execute(update(User).where(User.id == user_id).values(**values)))


def own(member: Member, **over: Any) -> dict[str, Any]:
    """Return the expected response of get-own-user for a new user."""
    return {
        "result": "success",
        "msg": "",
        "avatar_url": gravatar(member.email),
        "avatar_version": 1,
        "email": member.email,
        "full_name": member.name,
        "is_admin": member.role <= 200,
        "is_owner": member.role == 100,
        "is_guest": member.role == 600,
        "is_bot": False,
        "is_active": True,
        "role": member.role,
        "timezone": "",
        "date_joined": "2026-11-20T09:30:00+00:00",
        "max_message_id": -1,
        "user_id": member.id,
        "delivery_email": member.email,
        "is_imported_stub": False,
        "profile_data": {},
        **over,
    }


def seen(member: Member, **over: Any) -> dict[str, Any]:
    """Return the User object if the viewer may see the email address."""
    return {
        "user_id": member.id,
        "delivery_email": member.email,
        "email": member.email,
        "full_name": member.name,
        "date_joined": "2026-11-20T09:30:00+00:00",
        "is_active": True,
        "is_owner": member.role == 100,
        "is_admin": member.role <= 200,
        "is_guest": member.role == 600,
        "is_bot": False,
        "bot_type": None,
        "bot_owner_id": None,
        "role": member.role,
        "timezone": "",
        "avatar_url": None,
        "avatar_version": 1,
        "is_imported_stub": False,
        **over,
    }


def hidden(member: Member, **over: Any) -> dict[str, Any]:
    """Return the User object if the viewer may not see the email address."""
    dummy = f"user{member.id}@{member.host}"
    return seen(member, delivery_email=None, email=dummy, avatar_url=gravatar(dummy)) | over


def dummy(member: Member) -> str:
    return f"user{member.id}@{member.host}"


def one(user: dict[str, Any]) -> dict[str, Any]:
    return {"result": "success", "msg": "", "user": user}


def fill_profiles(database: Database, cast: Cast) -> dict[str, Any]:
    """Give Hamlet a custom profile and return the expected `profile_data`."""

    def work(session: Any) -> tuple[int, int]:
        about = ProfileField(realm_id=cast.realm_id, name="About", type=2)
        friends = ProfileField(realm_id=cast.realm_id, name="Friends", type=6)
        session.add_all([about, friends])
        session.flush()
        session.add(
            ProfileValue(
                user_id=cast.hamlet.id,
                field_id=about.id,
                value="A *prince*",
                rendered_value="<p>A <em>prince</em></p>",
            )
        )
        session.add(ProfileValue(user_id=cast.hamlet.id, field_id=friends.id, value="[5]"))
        return about.id, friends.id

    about, friends = database.run(work)
    return {
        str(about): {"value": "A *prince*", "rendered_value": "<p>A <em>prince</em></p>"},
        str(friends): {"value": "[5]"},
    }


class TestGetOwnUser:
    def test_returns_the_caller_for_each_role(self, as_nobody: ChatClient, cast: Cast) -> None:
        for member in (cast.cordelia, cast.iago, cast.prospero, cast.hamlet, cast.polonius):
            assert as_nobody.acting_as(member).get("/users/me") == own(member)

    def test_omits_the_profile_of_a_bot(self, as_reminder: ChatClient, cast: Cast) -> None:
        expected = own(cast.reminder, is_bot=True)
        del expected["profile_data"]
        assert as_reminder.get("/users/me") == expected

    def test_returns_all_changed_values(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(
            chat_database,
            cast.hamlet.id,
            timezone="Europe/Copenhagen",
            is_imported_stub=True,
            email_address_visibility=4,
        )
        profile = fill_profiles(chat_database, cast)
        assert chat.get("/users/me") == own(
            cast.hamlet,
            timezone="Europe/Copenhagen",
            is_imported_stub=True,
            profile_data=profile,
        )

    def test_reports_unknown_parameters(self, chat: ChatClient, cast: Cast) -> None:
        expected = own(cast.hamlet, ignored_parameters_unsupported=["a", "z"])
        assert chat.get("/users/me", z=1, a="x", client="curl") == expected

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/users/me").status_code == 401


class TestGetUserByEmail:
    def test_finds_by_the_real_email_in_any_case(self, chat: ChatClient, cast: Cast) -> None:
        for email in (cast.othello.email, cast.othello.email.upper(), "%20othello@acme.example"):
            assert chat.get(f"/users/{email}") == one(seen(cast.othello))

    @pytest.mark.parametrize(
        "name", ["cordelia", "iago", "prospero", "hamlet", "othello", "polonius"]
    )
    def test_finds_all_users_by_the_dummy_email(
        self, chat: ChatClient, cast: Cast, name: str
    ) -> None:
        member = getattr(cast, name)
        assert chat.get(f"/users/{dummy(member)}") == one(seen(member))

    def test_finds_bots_and_deactivated_users(self, chat: ChatClient, cast: Cast) -> None:
        bot = seen(cast.reminder, is_bot=True, bot_type=1, bot_owner_id=cast.hamlet.id)
        assert chat.get(f"/users/{dummy(cast.reminder)}") == one(bot)
        assert chat.get(f"/users/{dummy(cast.ophelia)}") == one(seen(cast.ophelia, is_active=False))

    @pytest.mark.parametrize("bot_type", [1, 2, 3, 4])
    def test_returns_the_type_of_a_bot(
        self, chat: ChatClient, cast: Cast, chat_database: Database, bot_type: int
    ) -> None:
        change_user(chat_database, cast.reminder.id, bot_type=bot_type, bot_owner_id=None)
        bot = seen(cast.reminder, is_bot=True, bot_type=bot_type)
        assert chat.get(f"/users/{cast.reminder.email}") == one(bot)

    @pytest.mark.parametrize(
        ("visibility", "sees"),
        [
            (1, {"cordelia", "iago", "prospero", "hamlet", "polonius", "reminder"}),
            (2, {"cordelia", "iago", "prospero", "hamlet", "reminder"}),
            (3, {"cordelia", "iago"}),
            (4, set()),
            (5, {"cordelia", "iago", "prospero"}),
        ],
    )
    def test_email_is_visible_to_allowed_users(
        self,
        as_nobody: ChatClient,
        cast: Cast,
        chat_database: Database,
        visibility: int,
        sees: set[str],
    ) -> None:
        change_user(chat_database, cast.othello.id, email_address_visibility=visibility)
        for name in ("cordelia", "iago", "prospero", "hamlet", "polonius", "reminder"):
            viewer = as_nobody.acting_as(getattr(cast, name))
            by_dummy = viewer.get(f"/users/{dummy(cast.othello)}")
            by_email = viewer.get(f"/users/{cast.othello.email}")
            if name in sees:
                assert by_dummy == by_email == one(seen(cast.othello)), name
            else:
                assert by_dummy == one(hidden(cast.othello)), name
                assert by_email == NO_SUCH_USER, name

    @pytest.mark.parametrize("visibility", [1, 2, 3, 4, 5])
    def test_own_email_and_emails_of_bots_are_always_visible(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database, visibility: int
    ) -> None:
        for member in (cast.polonius, cast.reminder):
            change_user(chat_database, member.id, email_address_visibility=visibility)
        as_guest = as_nobody.acting_as(cast.polonius)
        assert as_guest.get(f"/users/{cast.polonius.email}") == one(seen(cast.polonius))
        bot = seen(cast.reminder, is_bot=True, bot_type=1, bot_owner_id=cast.hamlet.id)
        assert as_guest.get(f"/users/{cast.reminder.email}") == one(bot)

    def test_returns_the_avatar_url_if_requested(self, chat: ChatClient, cast: Cast) -> None:
        drawn = one(seen(cast.othello, avatar_url=gravatar(cast.othello.email)))
        path = f"/users/{cast.othello.email}"
        assert chat.get(path, client_extavatar=False) == drawn
        assert chat.get(path, client_gravatar=False) == drawn
        assert chat.get(path, client_extavatar=True) == one(seen(cast.othello))

    def test_returns_the_profile_if_requested(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        profile = fill_profiles(chat_database, cast)
        answer = chat.get(f"/users/{cast.hamlet.email}", include_custom_profile_fields=True)
        assert answer == one(seen(cast.hamlet, profile_data=profile))
        answer = chat.get(f"/users/{cast.othello.email}", include_custom_profile_fields=True)
        assert answer == one(seen(cast.othello, profile_data={}))
        answer = chat.get(f"/users/{cast.reminder.email}", include_custom_profile_fields=True)
        assert "profile_data" not in answer["user"]

    def test_deletion_is_reported_only_for_deleted_users(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.ophelia.id, is_deleted=True)
        # The default avatar, also for clients that compute the URLs of avatars.
        picture = gravatar(dummy(cast.ophelia))
        assert chat.get(f"/users/{cast.ophelia.email}") == one(
            seen(cast.ophelia, is_active=False, is_deleted=True, avatar_url=picture)
        )

    @pytest.mark.parametrize(
        "email",
        [
            "nobody@acme.example",
            "user999@acme.example",
            "user0@acme.example",
            "hank@globex.example",
            "user4@globex.example",
            "user10@acme.example",
            "user99999999999@acme.example",
            "not-an-email",
            "notification-bot@acme.example",
        ],
    )
    def test_unknown_user_is_rejected(self, chat: ChatClient, email: str) -> None:
        assert chat.get(f"/users/{email}") == NO_SUCH_USER

    def test_hides_unrelated_users_from_a_restricted_guest(
        self,
        as_polonius: ChatClient,
        as_cordelia: ChatClient,
        cast: Cast,
        chat_database: Database,
    ) -> None:
        with chat_database.reading() as reader:
            members = reader.execute(
                select(Realm.members_group_id).where(Realm.id == cast.realm_id)
            ).scalar_one()
        as_cordelia.patch("/realm", can_access_all_users_group=members)
        # Not "Insufficient permission" as in Zulip, which reveals that the user exists.
        assert as_polonius.get(f"/users/{cast.othello.email}") == NO_SUCH_USER
        assert as_polonius.get(f"/users/{cast.othello.id}") == NO_SUCH_USER

        def write_to_each_other(session: Any) -> None:
            talk = Conversation(realm_id=cast.realm_id, key="5,6")
            session.add(talk)
            session.flush()
            for member in (cast.othello, cast.polonius):
                session.add(ConversationMember(conversation_id=talk.id, user_id=member.id))

        chat_database.run(write_to_each_other)
        assert as_polonius.get(f"/users/{cast.othello.email}") == one(seen(cast.othello))
        known = [user["user_id"] for user in as_polonius.get("/users")["members"]]
        assert known == [cast.othello.id, cast.polonius.id, cast.reminder.id]

    def test_requires_json_for_booleans(self, chat: ChatClient, cast: Cast) -> None:
        for value, problem in (
            ("1", "is not a boolean"),
            ('"true"', "is not a boolean"),
            ("True", "is not valid JSON"),
            ("yes", "is not valid JSON"),
        ):
            assert chat.get(f"/users/{cast.hamlet.email}", client_extavatar=value) == bad(
                f"client_extavatar {problem}"
            )

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, cast: Cast) -> None:
        assert as_nobody.request("GET", f"/users/{cast.hamlet.email}").status_code == 401


class TestGetUser:
    def test_finds_by_id(self, chat: ChatClient, cast: Cast) -> None:
        assert chat.get(f"/users/{cast.othello.id}") == one(seen(cast.othello))

    def test_accepts_the_same_parameters(self, chat: ChatClient, cast: Cast) -> None:
        assert chat.get(
            f"/users/{cast.othello.id}", client_extavatar=False, include_custom_profile_fields=True
        ) == one(seen(cast.othello, avatar_url=gravatar(cast.othello.email), profile_data={}))

    def test_hides_other_organizations(self, chat: ChatClient, cast: Cast) -> None:
        for user_id in (cast.hank.id, cast.globex_id + 900, 0):
            assert chat.get(f"/users/{user_id}") == NO_SUCH_USER

    def test_invalid_id_is_an_unknown_path(self, chat: ChatClient) -> None:
        assert chat.request("GET", "/users/2147483648").status_code == 404
        assert chat.request("GET", "/users/-1").status_code == 404

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, cast: Cast) -> None:
        assert as_nobody.request("GET", f"/users/{cast.hamlet.id}").status_code == 401


class TestListUsers:
    def test_lists_all_users_by_id(self, chat: ChatClient, cast: Cast) -> None:
        bot = seen(cast.reminder, is_bot=True, bot_type=1, bot_owner_id=cast.hamlet.id)
        assert chat.get("/users") == {
            "result": "success",
            "msg": "",
            "members": [
                seen(cast.cordelia),
                seen(cast.iago),
                seen(cast.hamlet),
                seen(cast.othello),
                seen(cast.polonius),
                bot,
                seen(cast.prospero),
                seen(cast.ophelia, is_active=False),
            ],
        }

    def test_lists_requested_users(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        profile = fill_profiles(chat_database, cast)
        ids = [cast.hamlet.id, cast.iago.id, cast.hank.id, 999]
        answer = chat.get("/users", user_ids=ids, include_custom_profile_fields=True)
        assert answer["members"] == [
            seen(cast.iago, profile_data={}),
            seen(cast.hamlet, profile_data=profile),
        ]

    def test_hides_emails_by_each_users_setting(
        self, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.othello.id, email_address_visibility=2)
        answer = as_polonius.get("/users", user_ids=[cast.hamlet.id, cast.othello.id])
        assert answer["members"] == [seen(cast.hamlet), hidden(cast.othello)]

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/users").status_code == 401
