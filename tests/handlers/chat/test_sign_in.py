"""Operations of the tag sign_in."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from models.chat.identity import django_hashes
from models.chat.identity.api_keys import KeyMaker
from models.chat.tables import User
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.django_hashes import DJANGO_HASHES, DJANGO_PASSWORD
from tests.support.chat.people import PASSWORD, Cast, Member
from tests.support.chat.sign_in import (
    ACCOUNT_DEACTIVATED,
    FAILED,
    NOWHERE,
    REALM_DEACTIVATED,
    deactivate_realm,
    refused,
)
from tests.support.frozen_clock import FrozenClock


def told(member: Member) -> dict[str, Any]:
    return {
        "result": "success",
        "msg": "",
        "api_key": member.key,
        "email": member.email,
        "user_id": member.id,
    }


def missing(name: str) -> dict[str, Any]:
    return bad(f"Missing '{name}' argument", "REQUEST_VARIABLE_MISSING", var_name=name)


class TestFetchApiKey:
    def test_returns_the_key_for_the_password(self, as_nobody: ChatClient, cast: Cast) -> None:
        for name in (cast.hamlet.email, "  HAMLET@acme.example "):
            answer = as_nobody.post("/fetch_api_key", username=name, password=PASSWORD)
            assert answer == told(cast.hamlet)

    def test_credentials_are_ignored(self, as_nobody: ChatClient, cast: Cast) -> None:
        stranger = as_nobody.acting_as(replace(cast.hamlet, key="x"))
        answer = stranger.post("/fetch_api_key", username=cast.hamlet.email, password=PASSWORD)
        assert answer == told(cast.hamlet)

    def test_unknown_name_is_rejected_like_a_wrong_password(
        self, as_nobody: ChatClient, cast: Cast
    ) -> None:
        for name, password in (
            (cast.hamlet.email, "wrong"),
            (cast.hamlet.email, ""),
            ("nobody@acme.example", PASSWORD),
            (cast.othello.email, ""),  # without a password
            (cast.othello.email, PASSWORD),
            (f"user{cast.hamlet.id}@acme.example", PASSWORD),
            (cast.hank.email, PASSWORD),
        ):
            form = {"username": name, "password": password}
            assert refused(as_nobody, "/fetch_api_key", **form) == FAILED

    @pytest.mark.reaches("USER_DEACTIVATED", "REALM_DEACTIVATED")
    def test_deactivated_user_is_reported(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat_database.run(
            lambda s: s.execute(
                update(User).where(User.id == cast.hamlet.id).values(is_active=False)
            )
        )
        form = {"username": cast.hamlet.email, "password": PASSWORD}
        assert refused(as_nobody, "/fetch_api_key", **form) == ACCOUNT_DEACTIVATED
        deactivate_realm(chat_database, cast.realm_id)
        assert refused(as_nobody, "/fetch_api_key", **form) == REALM_DEACTIVATED

    def test_imported_hash_is_accepted_and_replaced(
        self, as_nobody: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        imported_hash, hamlet = (
            DJANGO_HASHES["pbkdf2 of an older release"],
            User.id == cast.hamlet.id,
        )

        def kept() -> str | None:
            with chat_database.reading() as db:
                return db.execute(select(User.password_hash).where(hamlet)).scalar_one()

        imported = update(User).where(hamlet).values(password_hash=imported_hash)
        chat_database.run(lambda session: session.execute(imported))
        ask = {"username": cast.hamlet.email}
        assert refused(as_nobody, "/fetch_api_key", **ask, password="wrong") == FAILED
        assert kept() == imported_hash
        for _ in range(2):
            answer = as_nobody.post("/fetch_api_key", **ask, password=DJANGO_PASSWORD)
            assert answer == told(cast.hamlet)
            assert str(kept()).startswith("$argon2id$")

    def test_unknown_names_cost_as_much_as_imported_ones(
        self, as_nobody: ChatClient, chat_database: Database, cast: Cast,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        imported_hash = DJANGO_HASHES["pbkdf2 of an older release"]
        imported = (
            update(User).where(User.id == cast.othello.id).values(password_hash=imported_hash)
        )
        chat_database.run(lambda session: session.execute(imported))
        verified: list[str] = []
        is_theirs = django_hashes.is_password

        def note(password: str, password_hash: str) -> bool:
            verified.append(password_hash)
            return is_theirs(password, password_hash)

        monkeypatch.setattr(django_hashes, "is_password", note)
        for name in (cast.othello.email, cast.hamlet.email, cast.iago.email, "nobody@acme.example"):
            verified.clear()
            form = {"username": name, "password": "wrong"}
            assert refused(as_nobody, "/fetch_api_key", **form) == FAILED
            assert verified == [imported_hash], name
        answer = as_nobody.post("/fetch_api_key", username=cast.hamlet.email, password=PASSWORD)
        assert answer == told(cast.hamlet)

    def test_requires_name_and_password(self, as_nobody: ChatClient) -> None:
        assert as_nobody.post("/fetch_api_key") == missing("password")
        assert as_nobody.post("/fetch_api_key", password="x") == missing("username")

    def test_other_host_is_rejected(self, as_nobody: ChatClient, cast: Cast) -> None:
        form = {"username": cast.hamlet.email, "password": PASSWORD}
        response = as_nobody.request("POST", "/fetch_api_key", form, host="elsewhere.example")
        assert response.status_code == 404
        assert response.json() == NOWHERE

    def test_key_of_an_earlier_secret_is_replaced(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        older = KeyMaker(b"an earlier secret of the same server, 32 bytes")
        old_key = chat_database.run(lambda s: older.renew(s.get_one(User, cast.hamlet.id)))
        before = as_nobody.acting_as(replace(cast.hamlet, key=old_key))
        assert before.get("/users/me")["result"] == "success"
        form = {"username": cast.hamlet.email, "password": PASSWORD}
        new_key = as_nobody.post("/fetch_api_key", **form)["api_key"]
        assert new_key != old_key
        assert before.get("/users/me")["msg"] == "Invalid API key"
        after = as_nobody.acting_as(replace(cast.hamlet, key=new_key))
        assert after.get("/users/me")["result"] == "success"


class TestAttempts:
    """With limits, five attempts per name in half an hour. A successful sign-in resets them."""

    @pytest.fixture
    def limited(self, chat_app_with: Callable[..., ChatApp]) -> ChatClient:
        return ChatClient(chat_app_with(rate_limits=True), "acme.example")

    def test_sixth_attempt_is_rejected(
        self, limited: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        wrong = {"username": cast.hamlet.email, "password": "wrong"}
        for _ in range(5):
            assert refused(limited, "/fetch_api_key", **wrong) == FAILED
        right = {"username": cast.hamlet.email.upper(), "password": PASSWORD}
        response = limited.request("POST", "/fetch_api_key", right)
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "360"
        assert response.json() == {
            "result": "error",
            "msg": "API usage exceeded rate limit",
            "retry-after": 360.0,
            "code": "RATE_LIMIT_HIT",
        }
        other = {"username": cast.othello.email, "password": "wrong"}
        assert refused(limited, "/fetch_api_key", **other) == FAILED
        clock.advance(seconds=360)
        assert limited.post("/fetch_api_key", **right) == told(cast.hamlet)

    @pytest.mark.reaches("AUTHENTICATION_FAILED")
    def test_success_resets_the_attempts(self, limited: ChatClient, cast: Cast) -> None:
        for password in ("wrong", "wrong", "wrong", "wrong", PASSWORD) * 2:
            form = {"username": cast.hamlet.email, "password": password}
            answer = limited.post("/fetch_api_key", **form)
            assert answer == (told(cast.hamlet) if password == PASSWORD else FAILED)


class TestDevFetchApiKey:
    def test_returns_the_key_of_any_user(self, as_nobody: ChatClient, cast: Cast) -> None:
        for member in (cast.iago, cast.polonius, cast.reminder):
            answer = as_nobody.post("/dev_fetch_api_key", username=member.email)
            assert answer == told(member)

    def test_unknown_user_is_rejected(self, as_nobody: ChatClient, cast: Cast) -> None:
        for name in ("nobody@acme.example", cast.hank.email, "notification-bot@acme.example"):
            assert refused(as_nobody, "/dev_fetch_api_key", username=name) == FAILED

    def test_deactivated_user_is_rejected(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        left = refused(as_nobody, "/dev_fetch_api_key", username=cast.ophelia.email)
        assert left == ACCOUNT_DEACTIVATED
        deactivate_realm(chat_database, cast.realm_id)
        all_left = refused(as_nobody, "/dev_fetch_api_key", username=cast.iago.email)
        assert all_left == REALM_DEACTIVATED

    @pytest.mark.parametrize("name", ["", "hamlet", "hamlet@", "@acme.example", "a b@c.example"])
    def test_requires_an_email(self, as_nobody: ChatClient, name: str) -> None:
        assert as_nobody.post("/dev_fetch_api_key", username=name) == bad(
            "Enter a valid email address."
        )

    @pytest.mark.reaches("REQUEST_VARIABLE_MISSING")
    def test_requires_a_name(self, as_nobody: ChatClient) -> None:
        assert as_nobody.post("/dev_fetch_api_key") == missing("username")

    def test_other_host_is_rejected(self, as_nobody: ChatClient, cast: Cast) -> None:
        form = {"username": cast.iago.email}
        response = as_nobody.request("POST", "/dev_fetch_api_key", form, host="elsewhere.example")
        assert response.json() == NOWHERE

    def test_is_always_an_error_in_production(
        self, chat_app_with: Callable[..., ChatApp], cast: Cast
    ) -> None:
        nobody = ChatClient(chat_app_with(development=False), "acme.example")
        for name in (cast.iago.email, "nobody", "hank@globex.example"):
            assert nobody.post("/dev_fetch_api_key", username=name) == bad(
                "Endpoint not available in production."
            )
        assert nobody.get("/server_settings")["authentication_methods"]["dev"] is False


class TestKeys:
    def test_no_key_is_in_the_database(self, chat_database: Database, cast: Cast) -> None:
        with chat_database.reading() as reader:
            rows = reader.execute(select(User.__table__)).all()
        stored = "\n".join(str(value) for row in rows for value in row)
        assert all(member.key not in stored for member in cast.acme)
