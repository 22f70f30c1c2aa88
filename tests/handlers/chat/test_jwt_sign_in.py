"""POST /jwt/fetch_api_key, of the tag sign_in, and its configuration by an operator."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import jwt
import pytest
from sqlalchemy import inspect, text, update

from models.chat.identity.errors import InvalidJwtConfiguration
from models.chat.identity.jwt_sign_in import change_configuration
from models.chat.tables import User
from specd.db import Database
from tests.conftest import NOW
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import VAULT, Cast
from tests.support.chat.sign_in import (
    ACCOUNT_DEACTIVATED,
    FAILED,
    NOWHERE,
    REALM_DEACTIVATED,
    deactivate_realm,
    refused,
)
from tests.support.cpu import cpu_at_most
from tests.support.frozen_clock import FrozenClock

PATH = "/jwt/fetch_api_key"
SECRET = "canary: the secret that Acme signs its tokens with"
BAD = bad("Bad JSON web token")


def token_of(email: Any, **claims: Any) -> str:
    soon = int(NOW.timestamp()) + 3600
    return jwt.encode({"email": email, "exp": soon, **claims}, SECRET, algorithm="HS256")


@pytest.fixture
def configured(chat_database: Database, cast: Cast, clock: FrozenClock) -> None:
    configure(
        chat_database, cast.realm_id, clock, jwt_key=SECRET, jwt_algorithms="HS256", jwt_audience=""
    )


def configure(database: Database, realm_id: int, clock: FrozenClock, **settings: Any) -> None:
    now = clock.now()
    database.run(lambda s: change_configuration(s, VAULT, realm_id, settings, now=now))


def everything_in(database: Database) -> str:
    """Return every value of every table, as in a dump."""
    with database.reading() as reader:
        tables: Mapping[Any, Any] = inspect(reader).get_table_names()  # type: ignore[assignment]
        return "\n".join(
            str(row) for name in tables for row in reader.execute(text(f'SELECT * FROM "{name}"'))
        )


@pytest.mark.usefixtures("configured")
class TestJwtFetchApiKey:
    def test_returns_the_key(self, as_nobody: ChatClient, cast: Cast) -> None:
        for email in (cast.hamlet.email, " HAMLET@Acme.example "):
            assert as_nobody.post(PATH, token=token_of(email)) == {
                "result": "success",
                "msg": "",
                "api_key": cast.hamlet.key,
                "email": cast.hamlet.email,
            }

    def test_returns_the_user_if_requested(self, as_nobody: ChatClient, cast: Cast) -> None:
        for member in (cast.hamlet, cast.polonius, cast.reminder):
            told = as_nobody.post(PATH, token=token_of(member.email), include_profile=True)
            assert told["api_key"] == member.key
            asked = as_nobody.acting_as(member).get(f"/users/{member.id}", client_extavatar=False)
            assert told["user"] == asked["user"]
            assert told["user"]["avatar_url"].startswith("https://")
            assert "profile_data" not in told["user"]

    def test_times_are_checked_to_the_second(
        self, as_nobody: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        now = int(clock.now().timestamp())
        token = token_of(cast.hamlet.email, nbf=now + 1, exp=now + 3)
        told = []
        for _ in range(4):
            told.append(as_nobody.post(PATH, token=token)["result"])
            clock.advance(seconds=1)
        assert told == ["error", "success", "success", "error"]

    def test_requires_a_token_with_an_email(self, as_nobody: ChatClient) -> None:
        missing = "No JSON web token passed in request"
        no_email = "No email specified in JSON web token claims"
        for form, msg in (
            ({}, missing),
            ({"token": ""}, missing),
            ({"token": token_of(None)}, no_email),
            ({"token": "x.y.z"}, "Bad JSON web token"),
            ({"token": "x", "include_profile": "yes"}, "include_profile is not valid JSON"),
        ):
            assert as_nobody.post(PATH, **form)["msg"] == msg

    def test_unknown_user_is_rejected(self, as_nobody: ChatClient, cast: Cast) -> None:
        for email in ("", "nobody@acme.example", cast.hank.email, "notification-bot@acme.example"):
            assert refused(as_nobody, PATH, token=token_of(email)) == FAILED

    def test_deactivated_user_is_rejected(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        form = {"token": token_of(cast.ophelia.email)}
        assert refused(as_nobody, PATH, **form) == ACCOUNT_DEACTIVATED
        deactivate_realm(chat_database, cast.realm_id)
        assert refused(as_nobody, PATH, **form) == REALM_DEACTIVATED

    def test_key_is_valid_for_one_organization(self, as_nobody: ChatClient, cast: Cast) -> None:
        """Acme's key is invalid at Globex, which has no such sign-in, and at unknown hosts."""
        form = {"token": token_of(cast.hank.email)}
        there = as_nobody.request("POST", PATH, form, host="globex.example")
        assert there.json()["msg"] == "JWT authentication is not enabled for this organization"
        response = as_nobody.request("POST", PATH, form, host="elsewhere.example")
        assert (response.status_code, response.json()) == (404, NOWHERE)

    def test_long_token_is_rejected_before_it_is_parsed(
        self, as_nobody: ChatClient, cast: Cast
    ) -> None:
        limit = "token is too long (limit: 8192 characters)"
        longest = token_of(cast.hamlet.email, more="x" * 6000)
        assert len(longest) <= 8192
        assert as_nobody.post(PATH, token=longest)["result"] == "success"
        assert as_nobody.post(PATH, token="x" * 8193)["msg"] == limit
        token = token_of(cast.hamlet.email, more="x" * 100_000)
        with cpu_at_most(1):
            assert as_nobody.post(PATH, token=token)["msg"] == limit

    def test_key_of_an_earlier_secret_is_replaced(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        other = update(User).where(User.id == cast.hamlet.id).values(api_key_sha256="0" * 64)
        chat_database.run(lambda s: s.execute(other))
        as_nobody.post(PATH, token=token_of(cast.hamlet.email))
        assert as_nobody.acting_as(cast.hamlet).get("/users/me")["result"] == "success"

    def test_credentials_are_ignored(self, chat: ChatClient, cast: Cast) -> None:
        headers = {"Authorization": "Basic nonsense"}
        answer = chat.request("POST", PATH, {"token": "x.y.z"}, headers=headers)
        assert answer.json() == BAD


class TestConfiguration:
    def test_sign_in_is_disabled_before_and_after_its_configuration(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock
    ) -> None:
        off = bad("JWT authentication is not enabled for this organization")
        form = {"token": token_of(cast.hamlet.email)}
        assert as_nobody.post(PATH, **form) == off
        configure(
            chat_database,
            cast.realm_id,
            clock,
            jwt_key=SECRET,
            jwt_algorithms="HS256",
            jwt_audience="",
        )
        assert as_nobody.post(PATH, **form)["result"] == "success"
        configure(chat_database, cast.realm_id, clock, jwt_algorithms="HS384")
        assert as_nobody.post(PATH, **form) == BAD
        configure(chat_database, cast.realm_id, clock, jwt_algorithms="HS256", jwt_audience="chat")
        assert as_nobody.post(PATH, **form) == BAD
        meant = {"token": token_of(cast.hamlet.email, aud="chat")}
        assert as_nobody.post(PATH, **meant)["result"] == "success"
        configure(chat_database, cast.realm_id, clock, jwt_audience="", jwt_max_age="600")
        assert as_nobody.post(PATH, **form) == BAD, "it ends in an hour"
        configure(chat_database, cast.realm_id, clock, jwt_max_age="")
        assert as_nobody.post(PATH, **form)["result"] == "success"
        configure(chat_database, cast.realm_id, clock, jwt_key="")
        assert as_nobody.post(PATH, **form) == off

    def test_invalid_configuration_is_rejected_completely(
        self, cast: Cast, chat_database: Database, clock: FrozenClock
    ) -> None:
        for settings, problem in (
            ({"jwt_algorithms": "HS256"}, "jwt_key is missing"),
            ({"jwt_key": SECRET}, "jwt_algorithms is missing"),
            ({"jwt_key": SECRET, "jwt_algorithms": "none"}, "jwt_algorithms are some of HS256,"),
            ({"jwt_key": SECRET, "jwt_algorithms": []}, "jwt_algorithms is missing"),
            ({"jwt_key": SECRET, "jwt_algorithms": "HS256,RS256"}, "RS256 requires a key in PEM"),
            (
                {"jwt_key": SECRET, "jwt_algorithms": "HS256", "jwt_audience": "x" * 256},
                "jwt_audience is not a text of 255 characters",
            ),
            ({"jwt_key": SECRET, "jwt_algorithms": "HS256"}, "jwt_audience is missing"),
            (
                {
                    "jwt_key": SECRET,
                    "jwt_algorithms": "HS256",
                    "jwt_audience": "",
                    "jwt_max_age": "-1",
                },
                "jwt_max_age is no number of seconds up to 31622400",
            ),
        ):
            with pytest.raises(InvalidJwtConfiguration, match=problem):
                configure(chat_database, cast.realm_id, clock, **settings)
        assert "jwt" not in everything_in(chat_database)

    def test_key_is_never_shown(
        self,
        as_cordelia: ChatClient,
        cast: Cast,
        chat_database: Database,
        chat_app: ChatApp,
        clock: FrozenClock,
    ) -> None:
        configure(
            chat_database,
            cast.realm_id,
            clock,
            jwt_key=SECRET,
            jwt_algorithms="HS256",
            jwt_audience="",
        )
        dump = everything_in(chat_database)
        assert "jwt_sign_in_changed" in dump
        assert SECRET not in dump
        told = as_cordelia.patch("/realm", jwt_key="x" * 40, jwt_algorithms="HS256")
        assert told["ignored_parameters_unsupported"] == ["jwt_algorithms", "jwt_key"]
        assert SECRET not in repr(as_cordelia.get("/server_settings"))
        clock.advance(seconds=timedelta(days=1).total_seconds())
        token = token_of(cast.iago.email, exp=int(clock.now().timestamp()) + 60)
        assert as_cordelia.post(PATH, token=token)["result"] == "success"
