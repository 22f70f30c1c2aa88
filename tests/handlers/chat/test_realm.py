"""Operations of the tag realm."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import insert, select

from models.chat.access.group_settings import CHANNEL_GROUPS, REALM_GROUPS
from models.chat.organization.settings import SETTINGS
from models.chat.tables import AuditLog, Channel, Event, Realm
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import CAST_MADE_AT, PASSWORD, Cast
from tests.support.chat.rows import change_user, events_of


def not_a(role: str) -> dict[str, Any]:
    return bad(f"Must be an organization {role}", "UNAUTHORIZED_PRINCIPAL")


def stored(database: Database, realm_id: int, name: str) -> Any:
    with database.reading() as reader:
        column = getattr(Realm, name)
        return reader.execute(select(column).where(Realm.id == realm_id)).scalar_one()


def make_channel(database: Database, realm_id: int, nobody: int) -> int:
    row = {
        "realm_id": realm_id,
        "name": "general",
        "name_key": "general",
        "date_created": CAST_MADE_AT,
        **dict.fromkeys(CHANNEL_GROUPS, nobody),
    }
    return database.run(
        lambda s: s.execute(insert(Channel).values(row).returning(Channel.id)).scalar_one()
    )


class TestUpdateRealm:
    @pytest.mark.parametrize(
        ("name", "sent", "kept"),
        [
            ("name", " Acme Corp ", "Acme Corp"),
            ("name", "12", "12"),
            ("description", "Rockets", "Rockets"),
            ("description", "", ""),
            ("default_language", "de", "de"),
            ("email_address_visibility", 4, 4),
            ("enable_read_receipts", False, False),
            ("enable_spectator_access", True, True),
            ("emails_restricted_to_domains", True, True),
            ("disallow_disposable_email_addresses", False, False),
            ("require_unique_names", True, True),
            ("name_changes_disabled", True, True),
            ("email_changes_disabled", True, True),
            ("avatar_changes_disabled", True, True),
            ("topics_policy", "disable_empty_topic", "disable_empty_topic"),
            ("topics_policy", "allow_empty_topic", "allow_empty_topic"),
            ("empty_topic_display_name", "misc", "misc"),
            ("welcome_message_custom_text", " Ask in\n*help* ", "Ask in\n*help*"),
            ("message_retention_days", 30, 30),
            ("message_retention_days", -1, -1),
            ("message_retention_days", "unlimited", -1),
            ("allow_message_editing", False, False),
            ("message_edit_history_visibility_policy", "all", "all"),
            ("message_edit_history_visibility_policy", "moves", "moves"),
            ("message_edit_history_visibility_policy", "none", "none"),
            ("message_content_edit_limit_seconds", 60, 60),
            ("message_content_delete_limit_seconds", "null", None),
            ("message_content_delete_limit_seconds", "unlimited", None),
            ("message_content_delete_limit_seconds", '"unlimited"', None),
            ("move_messages_within_stream_limit_seconds", 1, 1),
            ("move_messages_between_streams_limit_seconds", 2147483647, 2147483647),
            ("moderation_request_channel_id", -1, None),
            ("new_stream_announcements_stream_id", "null", None),
        ],
    )
    def test_changes_each_setting(
        self,
        as_cordelia: ChatClient,
        cast: Cast,
        chat_database: Database,
        name: str,
        sent: Any,
        kept: Any,
    ) -> None:
        assert as_cordelia.patch("/realm", **{name: sent}) == DONE
        assert stored(chat_database, cast.realm_id, name) == kept

    def test_test_covers_every_setting(self) -> None:
        tested = {
            mark.args[1][i][0]
            for mark in TestUpdateRealm.test_changes_each_setting.pytestmark  # type: ignore[attr-defined]
            for i in range(len(mark.args[1]))
        }
        assert tested == set(SETTINGS)

    @pytest.mark.parametrize("name", sorted(REALM_GROUPS))
    def test_changes_each_group_setting(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database, name: str
    ) -> None:
        groups = ids_of(as_cordelia)
        for group in REALM_GROUPS[name].only or ("role:members", "role:owners"):
            for value in (groups[group], {"new": groups[group]}):
                assert as_cordelia.patch("/realm", **{name: value}) == DONE
                assert stored(chat_database, cast.realm_id, name) == groups[group]

    @pytest.mark.parametrize("name", sorted(REALM_GROUPS))
    def test_rejects_groups_that_a_setting_does_not_accept(
        self, as_cordelia: ChatClient, name: str
    ) -> None:
        for group, group_id in ids_of(as_cordelia).items():
            answer = as_cordelia.patch("/realm", **{name: group_id})
            if REALM_GROUPS[name].allows(group):
                assert answer == DONE
            else:
                assert answer == bad(f"'{name}' setting cannot be set to '{group}' group.")

    def test_accepts_an_anonymous_group_and_notifies_all_users(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        owners = ids_of(as_cordelia)["role:owners"]
        value = {"direct_members": [cast.othello.id], "direct_subgroups": [owners]}
        assert as_cordelia.patch("/realm", can_delete_any_message_group=value) == DONE
        with chat_database.reading() as reader:
            event = reader.execute(select(Event.__table__)).one()
            audit = reader.execute(
                select(AuditLog.__table__).where(AuditLog.kind == "realm_setting_changed")
            ).one()
        assert (event.type, event.audience) == ("realm", "realm")
        assert json.loads(event.payload) == {
            "op": "update_dict",
            "property": "default",
            "data": {"can_delete_any_message_group": value},
        }
        assert audit.actor_id == cast.cordelia.id

    def test_unchanged_value_appends_no_event(
        self, as_cordelia: ChatClient, chat_database: Database
    ) -> None:
        assert as_cordelia.patch("/realm", name="Acme") == DONE
        assert as_cordelia.patch("/realm") == DONE
        with chat_database.reading() as reader:
            assert reader.execute(select(Event.__table__)).all() == []

    @pytest.mark.reaches("EXPECTATION_MISMATCH")
    def test_respects_the_old_value_of_a_group(self, as_cordelia: ChatClient, cast: Cast) -> None:
        groups = ids_of(as_cordelia)
        owners, members = groups["role:owners"], groups["role:members"]
        name = "can_delete_any_message_group"
        stale = {"new": owners, "old": members}
        assert as_cordelia.patch("/realm", **{name: stale}) == bad(
            "'old' value does not match the expected value.", "EXPECTATION_MISMATCH"
        )
        fresh = {"new": owners, "old": groups["role:administrators"]}
        assert as_cordelia.patch("/realm", **{name: fresh}) == DONE
        two_people = {"direct_members": [cast.iago.id, cast.cordelia.id], "direct_subgroups": []}
        assert as_cordelia.patch("/realm", **{name: {"new": two_people, "old": owners}}) == DONE
        assert as_cordelia.patch("/realm", **{name: {"new": owners, "old": two_people}}) == DONE

    def test_accepts_a_channel_of_the_organization(
        self, as_cordelia: ChatClient, as_hank: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        nobody = ids_of(as_cordelia)["role:nobody"]
        channel_id = make_channel(chat_database, cast.realm_id, nobody)
        for name in ("moderation_request_channel_id", "new_stream_announcements_stream_id"):
            assert as_cordelia.patch("/realm", **{name: channel_id}) == DONE
            assert stored(chat_database, cast.realm_id, name) == channel_id
            assert as_cordelia.patch("/realm", **{name: 999}) == bad("Invalid channel ID")
            assert as_hank.patch("/realm", **{name: channel_id}) == bad("Invalid channel ID")

    @pytest.mark.parametrize(
        ("name", "sent", "msg"),
        [
            ("name", "", "name cannot be blank"),
            ("name", "x" * 41, "name is too long (limit: 40 characters)"),
            ("description", "x" * 1001, "description is too long (limit: 1000 characters)"),
            (
                "empty_topic_display_name",
                "x" * 61,
                "empty_topic_display_name is too long (limit: 60 characters)",
            ),
            ("allow_message_editing", "yes", "allow_message_editing is not valid JSON"),
            ("allow_message_editing", "True", "allow_message_editing is not valid JSON"),
            ("allow_message_editing", "1", "allow_message_editing is not a boolean"),
            (
                "email_address_visibility",
                6,
                "Invalid email_address_visibility: Value error, Not in the list of possible values",
            ),
            ("email_address_visibility", '"4"', "email_address_visibility is not an integer"),
            ("topics_policy", "maybe", "Invalid topics_policy"),
            (
                "message_edit_history_visibility_policy",
                "some",
                "Invalid message_edit_history_visibility_policy",
            ),
            (
                "moderation_request_channel_id",
                "x",
                "moderation_request_channel_id is not valid JSON",
            ),
            ("moderation_request_channel_id", -2, "moderation_request_channel_id is too small"),
            ("can_create_groups", "x", "can_create_groups is not valid JSON"),
            ("can_create_groups", 999, "Invalid user group"),
            ("can_create_groups", '"role:members"', "can_create_groups is not an integer"),
            (
                "can_create_groups",
                {"direct_members": [], "direct_subgroups": [], "x": 1},
                'Argument "x" at can_create_groups is unexpected',
            ),
            (
                "can_create_groups",
                {"direct_members": ["x"], "direct_subgroups": []},
                'can_create_groups["direct_members"][0] is not an integer',
            ),
            (
                "can_create_groups",
                {"direct_members": []},
                'can_create_groups["direct_subgroups"] field is missing',
            ),
        ],
    )
    def test_rejects_invalid_values(
        self, as_cordelia: ChatClient, name: str, sent: Any, msg: str
    ) -> None:
        assert as_cordelia.patch("/realm", **{name: sent}) == bad(msg)

    @pytest.mark.parametrize(
        ("name", "sent"),
        [
            ("message_content_delete_limit_seconds", 0),
            ("message_content_edit_limit_seconds", -5),
            ("move_messages_within_stream_limit_seconds", "soon"),
            ("message_retention_days", 0),
            ("message_retention_days", -2),
        ],
    )
    def test_rejects_invalid_limits_with_the_older_messages(
        self, as_cordelia: ChatClient, name: str, sent: Any
    ) -> None:
        assert as_cordelia.patch("/realm", **{name: sent}) == bad(
            f"Bad value for '{name}': {sent}",
            "REQUEST_VARIABLE_INVALID",
            var_name=name,
            bad_value=sent,
        )

    @pytest.mark.reaches("REQUEST_VARIABLE_INVALID")
    def test_changes_all_or_nothing(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        answer = as_cordelia.patch("/realm", name="New", message_content_edit_limit_seconds=0)
        assert answer["code"] == "REQUEST_VARIABLE_INVALID"
        assert stored(chat_database, cast.realm_id, "name") == "Acme"

    def test_role_is_checked_first(self, as_nobody: ChatClient, cast: Cast) -> None:
        for member in (cast.prospero, cast.hamlet, cast.polonius, cast.reminder):
            client = as_nobody.acting_as(member)
            assert client.patch("/realm", allow_message_editing="no") == not_a("administrator")
        assert as_nobody.acting_as(cast.iago).patch("/realm", name="By Iago") == DONE

    @pytest.mark.parametrize(
        "name", ["message_retention_days", "can_create_groups", "can_manage_all_groups"]
    )
    def test_some_settings_require_an_owner(
        self, as_iago: ChatClient, as_cordelia: ChatClient, name: str
    ) -> None:
        value = 30 if name == "message_retention_days" else ids_of(as_iago)["role:members"]
        assert as_iago.patch("/realm", **{name: value}) == not_a("owner")
        assert as_cordelia.patch("/realm", **{name: value}) == DONE

    def test_reports_unknown_parameters(self, as_cordelia: ChatClient) -> None:
        assert as_cordelia.patch("/realm", colour="red", name="Acme") == {
            **DONE,
            "ignored_parameters_unsupported": ["colour"],
        }

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("PATCH", "/realm").status_code == 401


class TestFormsForOlderClients:
    def test_older_forms_are_sent_with_their_settings(
        self, as_cordelia: ChatClient, chat_database: Database
    ) -> None:
        nobody = ids_of(as_cordelia)["role:nobody"]
        as_cordelia.patch("/realm", topics_policy="disable_empty_topic")
        as_cordelia.patch("/realm", message_edit_history_visibility_policy="moves")
        as_cordelia.patch("/realm", message_edit_history_visibility_policy="none")
        as_cordelia.patch("/realm", can_mention_many_users_group=nobody)
        assert [event["data"] for event in events_of(chat_database, "realm")] == [
            {"topics_policy": "disable_empty_topic", "mandatory_topics": True},
            {"message_edit_history_visibility_policy": "moves", "allow_edit_history": False},
            {"message_edit_history_visibility_policy": "none"},
            {"can_mention_many_users_group": nobody, "wildcard_mention_policy": 6},
        ]

    def test_user_defaults_are_sent_in_the_older_form(
        self, as_cordelia: ChatClient, chat_database: Database
    ) -> None:
        as_cordelia.patch("/realm", default_language="de", name="Globe")
        defaults = {"type": "realm_user_settings_defaults", "op": "update", "to": None}
        told = {**defaults, "property": "default_language", "value": "de"}
        assert events_of(chat_database, "realm_user_settings_defaults") == [told]


class TestTryWelcomeMessage:
    PATH = "/realm/test_welcome_bot_custom_message"
    SAID = "The administrators of this organization say:\n\n````quote\nAsk in *help*\n````"

    def test_sends_to_the_caller_only(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        answer = as_iago.post(self.PATH, welcome_message_custom_text=" Ask in *help* ")
        assert answer == {**DONE, "message_id": answer["message_id"]}
        path = f"/messages/{answer['message_id']}"
        shown = as_iago.get(path, apply_markdown=False)["message"]
        assert (shown["content"], shown["sender_id"]) == (self.SAID, cast.notification_bot_id)
        people = {each["id"] for each in shown["display_recipient"]}
        assert people == {cast.iago.id, cast.notification_bot_id}
        html = as_iago.get(path)["message"]["content"]
        assert "<blockquote>\n<p>Ask in <em>help</em></p>\n</blockquote>" in html
        assert stored(chat_database, cast.realm_id, "welcome_message_custom_text") == ""

    def test_new_members_receive_the_message(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.iago.id, can_create_users=True)
        as_iago.patch("/realm", welcome_message_custom_text="Ask in *help*")
        new = {"email": "new@acme.example", "full_name": "New", "password": "a long secret, this"}
        assert as_iago.post("/users", **new)["result"] == "success"
        told = [event["message"]["content"] for event in events_of(chat_database, "message")]
        assert len(told) == 2
        assert told[0].startswith("<p>Hello, and welcome!")
        assert "<em>help</em>" in told[1]

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_iago: ChatClient, as_nobody: ChatClient, cast: Cast
    ) -> None:
        name = "welcome_message_custom_text"
        assert as_iago.post(self.PATH, **{name: " \n"}) == bad("Message must not be empty")
        assert as_iago.post(self.PATH, **{name: "x" * 8001}) == bad(
            f"{name} is too long (limit: 8000 characters)"
        )
        assert as_iago.post(self.PATH)["code"] == "REQUEST_VARIABLE_MISSING"
        for who in (cast.hamlet, cast.prospero, cast.polonius, cast.reminder):
            assert chat.acting_as(who).post(self.PATH, **{name: "x"}) == not_a("administrator")
        assert as_nobody.request("POST", self.PATH, {}).status_code == 401


class TestUpdateUserDefaults:
    PATH = "/realm/user_settings_defaults"

    def begin(self, client: ChatClient, name: str) -> dict[str, Any]:
        """Create a user and return the settings."""
        form = {"email": f"{name}@acme.example", "full_name": name, "password": PASSWORD}
        key = client.post("/users", **form)
        assert key["result"] == "success", key
        signed_in = client.acting_as(None).post(
            "/dev_fetch_api_key", username=f"{name}@acme.example"
        )
        member = replace(
            client.member, id=key["user_id"], email=signed_in["email"], key=signed_in["api_key"]
        )
        return dict(client.acting_as(member).get("/settings")["settings"])

    def test_new_users_have_the_defaults(
        self, as_iago: ChatClient, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.iago.id, can_create_users=True)
        before = chat.get("/settings")["settings"]
        changes: dict[str, Any] = {
            "enable_sounds": False, "color_scheme": 2, "emojiset": "twitter",
            "web_home_view": "recent_topics", "email_address_visibility": 3, "web_font_size_px": 16,
        }  # fmt: skip
        assert as_iago.patch(self.PATH, **changes) == DONE
        told = {
            event["property"]: event["value"]
            for event in events_of(chat_database, "realm_user_settings_defaults")
        }
        shown = {
            "enable_sounds": False, "color_scheme": 2, "emojiset": "twitter",
            "web_home_view": "recent", "email_address_visibility": 3,
        }  # fmt: skip
        assert told == shown, "unchanged values are not reported"
        fetched = chat.post("/register", fetch_event_types=["realm_user_settings_defaults"])
        defaults = fetched["realm_user_settings_defaults"]
        assert {name: defaults[name] for name in shown} == shown
        assert chat.get("/settings")["settings"] == before, "existing users keep their settings"
        begun = self.begin(as_iago, "rosencrantz")
        assert {name: begun[name] for name in shown} == shown
        assert as_iago.patch(self.PATH, enable_sounds=True) == DONE
        begun = self.begin(as_iago, "guildenstern")
        assert (begun["enable_sounds"], begun["color_scheme"]) == (True, 2)

    def test_rejected_request_changes_nothing(
        self, as_iago: ChatClient, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        for wrong, message in (
            ({"notification_sound": "gong"}, "Invalid notification sound 'gong'"),
            ({"web_font_size_px": 40_000}, "web_font_size_px is too large"),
        ):
            assert as_iago.patch(self.PATH, enable_sounds=False, **wrong)["msg"] == message
        assert chat.patch(self.PATH, enable_sounds=False)["code"] == "UNAUTHORIZED_PRINCIPAL"
        ignored = ["allow_private_data_export", "default_language", "timezone"]
        answer = as_iago.patch(
            self.PATH, timezone="UTC", default_language="de", allow_private_data_export=True
        )
        assert answer == {**DONE, "ignored_parameters_unsupported": ignored}
        assert stored(chat_database, cast.realm_id, "user_defaults") == "{}"
        assert events_of(chat_database, "realm_user_settings_defaults") == []
