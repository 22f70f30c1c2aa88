"""Operations of the tag settings, and their table of settings."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

import specs
from models.chat.common import outbox
from models.chat.identity.passwords import is_password
from models.chat.tables import AuditLog, EmailChange, Event, Realm, User
from models.chat.tables.setting_table import ALL, EMOJISETS, SETTINGS, Setting
from specd._engine.openapi.structure import lookup
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.mail import mails, token_of
from tests.support.chat.people import PASSWORD, Cast
from tests.support.frozen_clock import FrozenClock

PERIOD = "email_notifications_batching_period_seconds"
NEW = "the undiscovered country"
DOCUMENT = specs.load("chat")
FORM = DOCUMENT["components"]["requestBodies"]["UpdateSettings"]["content"][
    "application/x-www-form-urlencoded"
]


def listed(name: str) -> dict[str, Any]:
    return bad(f"Invalid {name}: Value error, Not in the list of possible values")


def column(database: Database, user_id: int, name: str) -> Any:
    with database.reading() as reader:
        wanted = select(getattr(User, name)).where(User.id == user_id)
        return reader.execute(wanted).scalar_one()


def setting_events(
    database: Database, type_: str = "user_settings"
) -> list[tuple[dict[str, Any], Any]]:
    """Return payloads and user ids of the events since the cast was created."""
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.user_ids).where(Event.type == type_).order_by(Event.id)
        )
        return [(orjson.loads(p), None if ids is None else orjson.loads(ids)) for p, ids in rows]


def set_realm(database: Database, **values: Any) -> None:
    def work(session: Session) -> None:
        session.execute(update(Realm).where(Realm.host == "acme.example").values(**values))

    database.run(work)


def other_values(setting: Setting) -> list[Any]:
    """Yield valid values other than the default, each alone in the list."""
    if isinstance(setting.default, bool):
        return [not setting.default]
    if setting.choices:
        return [value for value in (*setting.choices, *setting.aliases) if value != setting.default]
    if isinstance(setting.default, int):
        return [setting.least, setting.most]
    return {"default_language": ["de"], "timezone": ["Europe/Copenhagen"]}[setting.name]


class TestTable:
    def test_document_columns_and_table_agree(self) -> None:
        name = FORM["schema"]["$ref"].rpartition("/")[2]
        properties = DOCUMENT["components"]["schemas"][name]["properties"]
        more = {"target_users", "full_name", "email", "old_password", "new_password"}
        assert set(properties) == set(SETTINGS) | more
        for setting in ALL:
            shown, kept = properties[setting.name], User.__table__.c[setting.name]
            for part in shown.get("allOf", ()):
                shown = {**lookup(DOCUMENT, part["$ref"]), **shown}
            kind = {bool: "boolean", int: "integer", str: "string"}[type(setting.default)]
            assert shown["type"] == kind, setting.name
            assert kept.type.python_type is type(setting.default), setting.name
            assert kept.default is not None
            assert kept.default.arg == setting.default
            default = str(setting.default).lower() if kind == "boolean" else setting.default
            assert f"Default {default or 'empty'}." in shown["description"], setting.name
            if "enum" in shown:
                assert shown["enum"] == [*setting.choices, *setting.aliases], setting.name
            assert (setting.name in FORM["encoding"]) == (kind != "string"), setting.name

    def test_every_setting_of_the_original_document_exists(self) -> None:
        seed = (
            "twenty_four_hour_time web_channel_default_view starred_message_counts "
            "receives_typing_notifications web_suggest_update_timezone fluid_layout_width "
            "high_contrast_mode web_font_size_px web_line_height_percent color_scheme "
            "enable_drafts_synchronization translate_emoticons display_emoji_reaction_users "
            "default_language web_home_view web_escape_navigates_to_home_view left_side_userlist "
            "emojiset demote_inactive_streams user_list_style web_animate_image_previews "
            "web_stream_unreads_count_display_policy"
        )
        assert set(seed.split()) <= set(SETTINGS)


class TestGetSettings:
    def test_returns_every_current_setting(self, chat: ChatClient) -> None:
        own = {"default_language": "en", "email_address_visibility": 1}
        expected = {name: setting.default for name, setting in SETTINGS.items()} | own
        emojiset = EMOJISETS.get(str(expected["emojiset"]), expected["emojiset"])
        assert chat.get("/settings") == {**DONE, "settings": {**expected, "emojiset": emojiset}}
        chat.patch("/settings", twenty_four_hour_time=True, default_language="de")
        settings = chat.get("/settings")["settings"]
        assert settings["twenty_four_hour_time"] is True
        assert settings["default_language"] == "de"

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/settings").status_code == 401


class TestUpdateSettings:
    def test_every_setting_accepts_all_its_values(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        hamlet = cast.hamlet.id
        with chat_database.reading() as reader:
            row = reader.execute(select(User.__table__).where(User.id == hamlet)).one()
        assert {s.name: getattr(row, s.name) for s in ALL} == {s.name: s.default for s in ALL}
        before = len(setting_events(chat_database))
        choices = {setting.name: other_values(setting) for setting in ALL}
        for turn in range(max(map(len, choices.values()))):
            sent = {name: values[turn] for name, values in choices.items() if turn < len(values)}
            assert chat.patch("/settings", **sent) == DONE
            kept = {
                n: SETTINGS[n].aliases.get(v, v) if isinstance(v, str) else v
                for n, v in sent.items()
            }
            with chat_database.reading() as reader:
                row = reader.execute(select(User.__table__).where(User.id == hamlet)).one()
            assert {name: getattr(row, name) for name in sent} == kept
        events = setting_events(chat_database)[before:]
        assert {payload["property"] for payload, _ in events} == set(SETTINGS)
        assert all(user_ids == [hamlet] for _, user_ids in events)
        assert (
            {
                "op": "update",
                "property": "default_language",
                "value": "de",
                "language_name": "Deutsch",
            }
        ) in [payload for payload, _ in events]

    def test_only_changes_are_sent_and_unknown_parameters_are_reported(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        answer = chat.patch("/settings", color_scheme=2, user_list_style=2, dense_mode=True)
        assert answer == {**DONE, "ignored_parameters_unsupported": ["dense_mode"]}
        change = {"op": "update", "property": "color_scheme", "value": 2}
        assert setting_events(chat_database) == [(change, [cast.hamlet.id])]
        assert chat.patch("/settings", color_scheme=2) == DONE
        assert chat.patch("/settings") == DONE
        assert len(setting_events(chat_database)) == 1

    @pytest.mark.parametrize(
        ("sent", "refusal"),
        [
            ({"color_scheme": 4}, listed("color_scheme")),
            ({"web_channel_default_view": 5}, listed("web_channel_default_view")),
            ({"emojiset": "apple"}, listed("emojiset")),
            ({"web_home_view": "home"}, listed("web_home_view")),
            ({"default_language": "tlh"}, bad("Invalid default_language")),
            ({"notification_sound": "moo"}, bad("Invalid notification sound 'moo'")),
            ({"timezone": "Mars/Olympus"}, bad("timezone is not a recognized time zone")),
            ({PERIOD: 0}, bad("Invalid email batching period: 0 seconds")),
            ({PERIOD: 604801}, bad("Invalid email batching period: 604801 seconds")),
            ({"web_font_size_px": 0}, bad("web_font_size_px is too small")),
            ({"web_line_height_percent": 32768}, bad("web_line_height_percent is too large")),
            ({"enter_sends": "yes"}, bad("enter_sends is not valid JSON")),
            ({"enter_sends": 1}, bad("enter_sends is not a boolean")),
            ({"full_name": "H"}, bad("Name too short!")),
            ({"full_name": "H" * 101}, bad("Name too long!")),
            ({"full_name": "@all"}, bad("Invalid characters in name!")),
        ],
    )  # fmt: skip
    def test_invalid_value_changes_nothing(
        self, chat: ChatClient, chat_database: Database, sent: dict[str, Any], refusal: Any
    ) -> None:
        good = {} if "enter_sends" in sent else {"enter_sends": True}
        assert chat.patch("/settings", **sent, **good) == refusal
        assert setting_events(chat_database) == []

    def test_changes_the_name(
        self, chat: ChatClient, as_iago: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        assert chat.patch("/settings", full_name=" Prince Hamlet ") == DONE
        assert column(chat_database, cast.hamlet.id, "full_name") == "Prince Hamlet"
        assert setting_events(chat_database, "realm_user")[-1][0]["person"] == {
            "user_id": cast.hamlet.id, "full_name": "Prince Hamlet",
        }  # fmt: skip
        set_realm(chat_database, name_changes_disabled=True)
        assert chat.patch("/settings", full_name="Nobody") == DONE
        assert column(chat_database, cast.hamlet.id, "full_name") == "Prince Hamlet"
        assert as_iago.patch("/settings", full_name="Honest Iago") == DONE
        assert column(chat_database, cast.iago.id, "full_name") == "Honest Iago"

    def test_rejects_bots_and_missing_credentials(
        self, chat: ChatClient, as_nobody: ChatClient, cast: Cast
    ) -> None:
        refusal = bad("This endpoint does not accept bot requests.")
        assert chat.acting_as(cast.reminder).patch("/settings", color_scheme=9) == refusal
        assert as_nobody.patch("/settings", color_scheme=9)["code"] == "UNAUTHORIZED"

    def test_settings_visible_to_others_take_effect(
        self, chat: ChatClient, as_othello: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        hamlet = cast.hamlet.id
        assert chat.patch("/settings", presence_enabled=False, timezone="Europe/Copenhagen") == DONE
        assert as_othello.get(f"/users/{hamlet}/status")["status"] == {"away": True}
        assert setting_events(chat_database, "user_status")[-1][0] == {
            "user_id": hamlet,
            "away": True,
        }
        assert as_othello.get(f"/users/{hamlet}")["user"]["timezone"] == "Europe/Copenhagen"
        assert chat.get("/users/me")["timezone"] == "Europe/Copenhagen"
        before = len(setting_events(chat_database, "realm_user"))
        assert chat.patch("/settings", email_address_visibility=3) == DONE
        assert as_othello.get(f"/users/{hamlet}")["user"]["delivery_email"] is None
        for payload, user_ids in setting_events(chat_database, "realm_user")[before:]:
            assert payload["person"] in (
                {"user_id": hamlet, "delivery_email": None},
                {"user_id": hamlet, "new_email": f"user{hamlet}@acme.example"},
            )
            assert cast.othello.id in user_ids
            assert not {hamlet, cast.iago.id, cast.cordelia.id} & set(user_ids)


class TestUpdateNotificationSettings:
    URL = "/settings/notifications"

    def test_works_like_update_settings(
        self, chat: ChatClient, as_iago: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        answer = chat.patch(self.URL, enable_sounds=False, color_scheme=2, dense_mode=True)
        assert answer == {**DONE, "ignored_parameters_unsupported": ["dense_mode"]}
        changes = [
            {"op": "update", "property": "color_scheme", "value": 2},
            {"op": "update", "property": "enable_sounds", "value": False},
        ]
        assert setting_events(chat_database) == [(change, [cast.hamlet.id]) for change in changes]
        others = {"user_ids": [cast.hamlet.id]}
        assert as_iago.patch(self.URL, enable_sounds=True, target_users=others) == DONE
        assert chat.get("/settings")["settings"]["enable_sounds"] is True

    def test_rejects_what_update_settings_rejects(
        self, chat: ChatClient, as_reminder: ChatClient, as_nobody: ChatClient,
        chat_database: Database, cast: Cast,
    ) -> None:  # fmt: skip
        sent = {"enable_sounds": False, "notification_sound": "moo"}
        assert chat.patch(self.URL, **sent) == bad("Invalid notification sound 'moo'")
        wrong = {"old_password": "wrong", "new_password": NEW}
        assert chat.patch(self.URL, **wrong) == bad("Wrong password!")
        others = {"user_ids": [cast.othello.id]}
        refusal = chat.patch(self.URL, enable_sounds=False, target_users=others)
        no_rights = bad("Must be an organization administrator")
        assert refusal == no_rights | {"code": "UNAUTHORIZED_PRINCIPAL"}
        no_bots = bad("This endpoint does not accept bot requests.")
        assert as_reminder.patch(self.URL, enable_sounds=False) == no_bots
        assert as_nobody.patch(self.URL, enable_sounds=False)["code"] == "UNAUTHORIZED"
        assert setting_events(chat_database) == []


class TestPassword:
    def test_only_the_password_changes(
        self, chat: ChatClient, as_nobody: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        assert chat.patch("/settings", old_password=PASSWORD, new_password=NEW) == DONE
        assert is_password(NEW, column(chat_database, cast.hamlet.id, "password_hash"))
        assert chat.get("/users/me")["result"] == "success"
        signed_in = as_nobody.post("/fetch_api_key", username=cast.hamlet.email, password=NEW)
        assert signed_in["api_key"] == cast.hamlet.key
        with chat_database.reading() as reader:
            facts = reader.execute(
                select(AuditLog.facts).where(AuditLog.kind == "user_password_changed")
            ).scalar_one()
        assert facts == "{}"

    def test_rejected_request_changes_nothing(
        self, chat: ChatClient, chat_database: Database
    ) -> None:
        for sent, refusal in (
            ({"new_password": NEW}, "Wrong password!"),
            ({"new_password": NEW, "old_password": "not it", "color_scheme": 9}, None),
            ({"new_password": "x", "old_password": "not it"}, "Wrong password!"),
            ({"new_password": "password", "old_password": PASSWORD}, "New password is too weak!"),
            ({"new_password": NEW, "old_password": PASSWORD, "timezone": "X"}, None),
        ):
            answer = chat.patch("/settings", enter_sends=True, **sent)
            assert answer["code"] == "BAD_REQUEST"
            assert refusal is None or answer == bad(refusal)
        assert setting_events(chat_database) == []
        assert chat.patch("/settings", old_password=PASSWORD, new_password=NEW) == DONE


@pytest.mark.parametrize("kind", ["sqlite"])
def test_attempts_and_mails_are_limited(
    kind: str, chat_sqlite: tuple[str, Cast], clock: FrozenClock, tmp_path: Path
) -> None:
    """Attempts here and at /fetch_api_key share one count, in a table for all processes."""
    url, cast = chat_sqlite
    database = Database(url)
    apps = [ChatApp(database, clock, tmp_path, rate_limits=True) for _ in range(2)]
    one, other = (ChatClient(app, "acme.example", cast.hamlet) for app in apps)
    try:
        for n in range(2):
            assert one.patch("/settings", email=f"new{n}@acme.example") == DONE
        assert other.patch("/settings", email="new9@acme.example")["code"] == "RATE_LIMIT_HIT"
        clock.advance(seconds=1801)
        for client in (one, other, one):
            wrong = client.patch("/settings", old_password="not it", new_password=NEW)
            assert wrong == bad("Wrong password!")
        for client in (one, other):
            nobody = client.acting_as(None)
            failed = nobody.post("/fetch_api_key", username=cast.hamlet.email, password="not it")
            assert failed["code"] == "AUTHENTICATION_FAILED"
        for old in ("not it", PASSWORD):
            assert other.patch("/settings", old_password=old, new_password=NEW) == bad(
                "You're making too many attempts! Try again in 360 seconds."
            )
        nobody = one.acting_as(None)
        locked = nobody.post("/fetch_api_key", username=cast.hamlet.email, password=PASSWORD)
        assert locked["code"] == "RATE_LIMIT_HIT"
        clock.advance(seconds=361)
        assert one.patch("/settings", old_password=PASSWORD, new_password=NEW) == DONE
    finally:
        for app in apps:
            app.close()
        database.dispose()


class TestEmail:
    def test_link_changes_the_address_once(
        self, chat: ChatClient, as_nobody: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        hamlet, new = cast.hamlet, "hamlet@elsinore.example"
        assert chat.patch("/settings", email=f" {new} ") == DONE
        assert column(chat_database, hamlet.id, "delivery_email") == hamlet.email
        assert mails(chat_database)[0][:2] == (new, "Verify your new email address for Acme")
        token = token_of(chat_database)
        with chat_database.reading() as reader:
            kept = [
                *reader.execute(select(EmailChange.__table__)),
                *reader.execute(select(outbox.OUTBOX)),
            ]
        assert token not in str(kept)
        path = f"/accounts/confirm_new_email/{token}"
        assert as_nobody.get(path) == {**DONE, "new_email": new}
        page = as_nobody.request("GET", path, headers={"Accept": "text/html"})
        assert f"Use {new} from now on?" in page.text
        assert "<form method=post>" in page.text
        assert column(chat_database, hamlet.id, "delivery_email") == hamlet.email
        done = as_nobody.request("POST", path, headers={"Accept": "text/html"})
        assert (done.status_code, new in done.text) == (200, True)
        assert column(chat_database, hamlet.id, "delivery_email") == new
        assert column(chat_database, hamlet.id, "email_key") == new
        to, subject, text = mails(chat_database)[1]
        assert (to, subject) == (hamlet.email, "Your email address at Acme was changed")
        assert new in text
        gone = bad("The confirmation link is unknown, was used already or has expired.")
        assert as_nobody.post(path) == gone
        assert as_nobody.get(path) == gone

    def test_link_expires_is_replaced_and_belongs_to_one_organization(
        self,
        chat: ChatClient,
        as_nobody: ChatClient,
        chat_database: Database,
        clock: FrozenClock,
        cast: Cast,
    ) -> None:
        def post(token: str, host: str | None = None) -> int:
            path = f"/accounts/confirm_new_email/{token}"
            return as_nobody.request("POST", path, host=host).status_code

        assert chat.patch("/settings", email="a@elsinore.example") == DONE
        first = token_of(chat_database)
        assert chat.patch("/settings", email="b@elsinore.example") == DONE
        second = token_of(chat_database)
        assert post(first) == 404
        assert post(second, cast.hank.host) == 404
        assert post(second[:-1] + ("A" if second[-1] != "A" else "B")) == 404
        clock.advance(seconds=timedelta(days=1).total_seconds())
        assert post(second) == 404
        assert column(chat_database, cast.hamlet.id, "delivery_email") == cast.hamlet.email

    def test_address_taken_meanwhile_is_rejected(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        as_nobody: ChatClient,
        chat_database: Database,
    ) -> None:
        assert chat.patch("/settings", email="one@elsinore.example") == DONE
        token = token_of(chat_database)
        assert as_othello.patch("/settings", email="ONE@elsinore.example") == DONE
        path = "/accounts/confirm_new_email/"
        assert as_nobody.post(path + token_of(chat_database))["result"] == "success"
        assert as_nobody.post(path + token) == bad("Email 'one@elsinore.example' already in use")

    def test_rejects_invalid_requests(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        assert chat.patch("/settings", email=cast.hamlet.email) == DONE
        for email, msg in (
            ("hamlet", "Enter a valid email address."),
            ("x@mailinator.com", "Please use your real email address."),
            (cast.othello.email.upper(), f"Email '{cast.othello.email.upper()}' already in use"),
        ):
            assert chat.patch("/settings", email=email) == bad(msg)
        set_realm(chat_database, emails_restricted_to_domains=True)
        outside = bad("Email 'x@elsinore.example' not allowed in this organization")
        assert chat.patch("/settings", email="x@elsinore.example") == outside
        set_realm(chat_database, email_changes_disabled=True)
        disabled = bad("Email address changes are disabled in this organization.")
        assert chat.patch("/settings", email="x@elsinore.example") == disabled
        assert mails(chat_database) == []


class TestTargetUsers:
    def test_groups_are_resolved_without_bots(
        self, chat: ChatClient, as_iago: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        inner = chat.post(
            "/user_groups/create", name="inner", description="", members=[cast.othello.id]
        )["group_id"]
        outer = chat.post(
            "/user_groups/create", name="outer", description="",
            members=[cast.reminder.id, cast.hamlet.id], subgroups=[inner],
        )["group_id"]  # fmt: skip
        targets = {"user_ids": [cast.ophelia.id], "group_ids": [outer]}
        assert as_iago.patch("/settings", target_users=targets, web_font_size_px=20) == DONE
        meant = sorted([cast.hamlet.id, cast.othello.id, cast.ophelia.id])
        change = {"op": "update", "property": "web_font_size_px", "value": 20}
        assert setting_events(chat_database) == [(change, meant)]
        assert column(chat_database, cast.othello.id, "web_font_size_px") == 20
        assert column(chat_database, cast.reminder.id, "web_font_size_px") == 16
        assert column(chat_database, cast.iago.id, "web_font_size_px") == 16

    def test_users_with_a_chosen_value_can_be_skipped(
        self, chat: ChatClient, as_iago: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        both = [cast.hamlet.id, cast.othello.id]
        assert chat.patch("/settings", color_scheme=3) == DONE
        skip = {"user_ids": both, "group_ids": [], "skip_if_already_edited": True}
        assert (
            as_iago.patch("/settings", target_users=skip, color_scheme=2, enter_sends=True) == DONE
        )
        assert [ids for _, ids in setting_events(chat_database)] == [
            [cast.hamlet.id],
            [cast.othello.id],
            both,
        ]
        assert column(chat_database, cast.hamlet.id, "color_scheme") == 3
        assert as_iago.patch("/settings", target_users={"user_ids": both}, color_scheme=2) == DONE
        assert column(chat_database, cast.hamlet.id, "color_scheme") == 2

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_iago: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        hamlet = {"user_ids": [cast.hamlet.id]}
        not_admin = chat.patch("/settings", target_users=hamlet, enter_sends=True)
        assert not_admin["code"] == "UNAUTHORIZED_PRINCIPAL"
        nobody = bad("Either user_ids or group_ids must be provided.")
        assert as_iago.patch("/settings", target_users={"user_ids": []}, enter_sends=True) == nobody
        own_only = [s.name for s in ALL if s.own_only]
        assert len(own_only) == 10
        for sent in (
            {"email": "x@acme.example"}, {"new_password": NEW}, {"full_name": "All of you"},
            *({name: other_values(SETTINGS[name])[0]} for name in own_only),
        ):  # fmt: skip
            refused = as_iago.patch("/settings", target_users=hamlet, enter_sends=True, **sent)
            assert refused == bad("Cannot change this setting for other users."), sent
        for stranger in (cast.hank.id, cast.notification_bot_id, 999):
            refused = as_iago.patch(
                "/settings", target_users={"user_ids": [stranger]}, enter_sends=True
            )
            assert refused == bad(f"Invalid user ID: {stranger}")
        with chat_database.reading() as reader:
            globex = select(func.min(Realm.members_group_id)).where(Realm.host == cast.hank.host)
            foreign = reader.execute(globex).scalar_one()
        refused = as_iago.patch(
            "/settings", target_users={"group_ids": [foreign]}, enter_sends=True
        )
        assert refused == bad("Invalid user group")
        assert setting_events(chat_database) == []
