"""Revocation of API keys: POST /users/me/api_key/regenerate, reactivation, operator commands."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from models.chat.accounts.key_renewal import renew_named_key, revoke_some_keys
from models.chat.organization.realms import access_realm_by_id
from models.chat.tables import ClientDevice, EmailChange
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import KEYS, PASSWORD, Cast, Member
from tests.support.chat.rows import audited, change_user, events_of, user_row
from tests.support.frozen_clock import FrozenClock

PATH = "/users/me/api_key/regenerate"
INVALID = bad("Invalid API key", "UNAUTHORIZED")


def rows(database: Database, table: type) -> int:
    with database.reading() as reader:
        return int(reader.execute(select(func.count()).select_from(table)).scalar_one())


def with_key(client: ChatClient, member: Member, key: str) -> ChatClient:
    return client.acting_as(replace(member, key=key))


class TestRegenerateOwnApiKey:
    def test_new_key_replaces_the_old_one(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        hamlet = cast.hamlet
        answer = chat.post(PATH)
        key = answer["api_key"]
        assert answer == {**DONE, "api_key": key}
        assert key != hamlet.key
        assert chat.get("/users/me") == INVALID
        assert chat.post("/users/me/status", status_text="busy") == INVALID
        assert chat.post(PATH) == INVALID
        assert with_key(chat, hamlet, key).get("/users/me")["user_id"] == hamlet.id
        assert as_othello.get("/users/me")["result"] == "success"
        form = {"username": hamlet.email, "password": PASSWORD}
        assert as_nobody.post("/fetch_api_key", **form)["api_key"] == key
        assert audited(chat_database, "user_api_key_renewed") == [(hamlet.id, hamlet.id, {})]
        assert key not in str(events_of(chat_database))

    def test_ends_dependent_credentials(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        device = chat.post("/register_client_device")["device_id"]
        others = as_othello.post("/register_client_device")["device_id"]
        assert chat.patch("/settings", email="new@acme.example") == DONE
        chat.post(PATH)
        told = {"type": "device", "op": "remove", "device_id": device, "to": [cast.hamlet.id]}
        assert events_of(chat_database, "device")[-1] == told
        assert rows(chat_database, EmailChange) == 0
        assert list(as_othello.get("/users/me/devices")["devices"]) == [str(others)]

    def test_rejects_bots(self, as_reminder: ChatClient, as_nobody: ChatClient) -> None:
        assert as_reminder.post(PATH)["msg"] == "This endpoint does not accept bot requests."
        assert as_reminder.get("/users/me")["result"] == "success"
        assert as_nobody.post(PATH)["code"] == "UNAUTHORIZED"


class TestConcurrentRenewal:
    def test_two_concurrent_renewals_leave_one_key(self, chat: ChatClient, cast: Cast) -> None:
        """The second request is rejected, or waits for the first and then fails."""
        answers = [r.json() for r in chat.at_once(*(chat.build("POST", PATH) for _ in range(2)))]
        good = [answer["api_key"] for answer in answers if answer["result"] == "success"]
        assert len(good) == 1
        assert with_key(chat, cast.hamlet, good[0]).get("/users/me")["result"] == "success"


class TestReactivation:
    @pytest.mark.parametrize("who", ["hamlet", "reminder"])
    def test_reactivated_user_has_a_new_key(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database, who: str
    ) -> None:
        member: Member = getattr(cast, who)
        change_user(chat_database, member.id, is_active=False)
        assert as_iago.post(f"/users/{member.id}/reactivate") == DONE
        assert as_iago.acting_as(member).get("/users/me") == INVALID
        assert audited(chat_database, "user_api_key_renewed") == [(cast.iago.id, member.id, {})]
        key = user_row(chat_database, member.id).api_key_sha256
        assert as_iago.post(f"/users/{member.id}/reactivate") == DONE
        assert user_row(chat_database, member.id).api_key_sha256 == key, "the user was active"


class TestPasswordChange:
    def test_ends_a_pending_change_of_address(
        self, chat: ChatClient, chat_database: Database
    ) -> None:
        assert chat.patch("/settings", email="new@acme.example") == DONE
        change = {"old_password": PASSWORD, "new_password": "the undiscovered country"}
        assert chat.patch("/settings", **change) == DONE
        assert rows(chat_database, EmailChange) == 0


class TestOperator:
    def test_renews_one_key(
        self, chat: ChatClient, as_reminder: ChatClient, cast: Cast, chat_database: Database,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        bot = cast.reminder
        made = chat_database.run(
            lambda s: renew_named_key(
                s, KEYS, access_realm_by_id(s, cast.realm_id), bot.email.upper(), now=clock.now()
            )
        )
        assert made[0] == bot.id
        assert as_reminder.get("/users/me") == INVALID
        assert with_key(chat, bot, made[1]).get("/users/me")["user_id"] == bot.id
        assert chat.get("/users/me")["result"] == "success"

    def test_revokes_all_keys_of_an_organization(
        self, chat: ChatClient, as_hank: ChatClient, as_nobody: ChatClient, cast: Cast,
        chat_database: Database, clock: FrozenClock,
    ) -> None:  # fmt: skip
        chat.post("/register_client_device")
        count, last = chat_database.run(
            lambda s: revoke_some_keys(
                s, keys=KEYS, realm=access_realm_by_id(s, cast.realm_id), after_id=0,
                now=clock.now(),
            )
        )  # fmt: skip
        assert (count, last) == (9, cast.ophelia.id)
        for member in cast.acme:
            if member is not cast.ophelia:
                assert chat.acting_as(member).get("/users/me") == INVALID
        assert as_hank.get("/users/me")["result"] == "success"
        assert rows(chat_database, ClientDevice) == 0
        form = {"username": cast.hamlet.email, "password": PASSWORD}
        key = as_nobody.post("/fetch_api_key", **form)["api_key"]
        assert with_key(chat, cast.hamlet, key).get("/users/me")["result"] == "success"
