"""POST /users: accounts created by administrators."""

from typing import Any

import pytest
from sqlalchemy import func, select

from models.chat.identity.passwords import is_password
from models.chat.tables import DefaultChannel, RealmDomain, Subscription, User
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.rows import audited, change_user, events_of, system_groups_of, user_row
from tests.support.frozen_clock import FrozenClock

NEW = {
    "email": "Rosencrantz@acme.example",
    "password": "the rest is silence",
    "full_name": " Rosencrantz ",
}
PASSWORD = NEW["password"]


@pytest.fixture
def maker(as_iago: ChatClient, cast: Cast, chat_database: Database) -> ChatClient:
    """A client of an administrator who may create users."""
    change_user(chat_database, cast.iago.id, can_create_users=True)
    return as_iago


def people(database: Database) -> int:
    with database.reading() as reader:
        return int(reader.execute(select(func.count(User.id))).scalar_one())


class TestCreateUser:
    def test_creates_a_member(
        self, maker: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock
    ) -> None:
        def prepare(session: Any) -> int:
            channel_id = make_channel(session, cast, "denmark", subscribers=[cast.hamlet])
            session.add(DefaultChannel(channel_id=channel_id, realm_id=cast.realm_id))
            return channel_id

        denmark = chat_database.run(prepare)
        made = maker.post("/users", **NEW)
        user_id = made["user_id"]
        assert made == {"result": "success", "msg": "", "user_id": user_id}
        row = user_row(chat_database, user_id)
        assert (row.realm_id, row.role, row.is_active, row.bot_type) == (
            cast.realm_id, 400, True, None,
        )  # fmt: skip
        assert (row.delivery_email, row.full_name) == ("Rosencrantz@acme.example", "Rosencrantz")
        assert (row.date_joined, row.awaits_first_sign_in) == (clock.now(), True)
        assert is_password(PASSWORD, row.password_hash)
        assert system_groups_of(chat_database, user_id) == {"role:members", "role:fullmembers"}
        with chat_database.reading() as reader:
            subscribed = select(Subscription.channel_id).where(Subscription.user_id == user_id)
            assert reader.execute(subscribed).scalars().all() == [denmark]
        assert audited(chat_database, "user_created")[-1] == (
            cast.iago.id, user_id, {"role": 400, "bot_type": None},
        )  # fmt: skip

    def test_notifies_users_and_welcomes_the_member(
        self, maker: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        user_id = maker.post("/users", **NEW)["user_id"]
        first, *others = events_of(chat_database)
        assert (first["type"], first["op"], first["to"]) == ("realm_user", "add", None)
        maker.check_schema("User", first["person"])
        assert first["person"]["email"] == "Rosencrantz@acme.example"
        groups = [event for event in others if event["type"] == "user_group"]
        assert [(event["op"], event["user_ids"]) for event in groups] == [
            ("add_members", [user_id])
        ] * 2
        (welcome,) = (event for event in others if event["type"] == "message")
        assert welcome["to"] == sorted([user_id, cast.notification_bot_id])
        assert "welcome" in welcome["message"]["content"]

    def test_time_limits_begin_at_the_first_sign_in(
        self, maker: ChatClient, as_nobody: ChatClient, clock: FrozenClock, chat_database: Database
    ) -> None:
        user_id = maker.post("/users", **NEW)["user_id"]
        clock.advance(seconds=3600)
        signed_in = clock.now()
        for _ in range(2):
            answer = as_nobody.post("/fetch_api_key", username=NEW["email"], password=PASSWORD)
            assert answer["user_id"] == user_id
            assert user_row(chat_database, user_id).date_joined == signed_in
            clock.advance(seconds=60)

    @pytest.mark.parametrize("missing", ["email", "password", "full_name"])
    def test_each_parameter_is_required(self, maker: ChatClient, missing: str) -> None:
        sent = {name: value for name, value in NEW.items() if name != missing}
        assert maker.post("/users", **sent) == {
            **bad(f"Missing '{missing}' argument", "REQUEST_VARIABLE_MISSING"),
            "var_name": missing,
        }

    def test_role_is_checked_before_parameters_and_permission_before_rules(
        self, chat: ChatClient, as_prospero: ChatClient, as_iago: ChatClient, as_nobody: ChatClient
    ) -> None:
        wanted = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
        assert chat.post("/users") == as_prospero.post("/users", **NEW) == wanted
        assert as_iago.post("/users", **NEW | {"full_name": "R"}) == bad(
            "User not authorized to create users"
        )
        assert as_nobody.request("POST", "/users", NEW).status_code == 401

    def test_reports_the_first_error(self, maker: ChatClient, chat_database: Database) -> None:
        before = people(chat_database)
        wrong = {"email": "rosencrantz", "password": "x", "full_name": "R"}
        for right, msg in (
            ({}, "Name too short!"),
            ({"full_name": "Ro"}, "Bad name or username"),
            ({"email": "x@mailinator.com"}, "Disposable email addresses are not allowed in this"
             " organization"),
            ({"email": "HAMLET@acme.example"}, "Email 'HAMLET@acme.example' already in use"),
            ({"email": "rosencrantz@acme.example"}, "The password is too weak."),
        ):  # fmt: skip
            wrong |= right
            assert maker.post("/users", **wrong) == bad(msg)
        for name, msg in (
            ("x" * 101, "Name too long!"),
            ("A*B", "Invalid characters in name!"),
            ("A\u200bB", "Invalid characters in name!"),
            ("Ada|12", "Invalid format!"),
        ):
            assert maker.post("/users", **NEW | {"full_name": name}) == bad(msg)
        assert maker.post("/users", **NEW | {"password": "qF7!zx9"}) == bad(
            "The password is too weak."
        )
        assert people(chat_database) == before
        assert events_of(chat_database) == []

    def test_deactivated_account_keeps_its_address(self, maker: ChatClient, cast: Cast) -> None:
        sent = NEW | {"email": cast.ophelia.email}
        assert maker.post("/users", **sent) == bad(f"Email '{cast.ophelia.email}' already in use")

    def test_address_of_another_organization_is_available(
        self, maker: ChatClient, cast: Cast
    ) -> None:
        assert maker.post("/users", **NEW | {"email": cast.hank.email})["result"] == "success"

    def test_restricted_domains(
        self, maker: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        rows = [
            RealmDomain(realm_id=cast.realm_id, domain="acme.example"),
            RealmDomain(realm_id=cast.realm_id, domain="acme.test", allow_subdomains=True),
            RealmDomain(realm_id=cast.globex_id, domain="globex.example"),
        ]
        chat_database.run(lambda session: session.add_all(rows))
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        for email in ("x@globex.example", "x@sub.acme.example", "x@notacme.test"):
            assert maker.post("/users", **NEW | {"email": email}) == bad(
                f"Email '{email}' not allowed in this organization"
            )
        assert maker.post("/users", **NEW | {"email": "a+b@acme.example"}) == bad(
            "Email addresses containing + are not allowed."
        )
        for number, email in enumerate(("a@ACME.example", "b@acme.test", "c@sub.acme.test")):
            sent = NEW | {"email": email, "full_name": f"Person {number}"}
            assert maker.post("/users", **sent)["result"] == "success"

    def test_disposable_addresses_are_accepted_if_allowed(
        self, maker: ChatClient, as_cordelia: ChatClient
    ) -> None:
        as_cordelia.patch("/realm", disallow_disposable_email_addresses=False)
        sent = NEW | {"email": "x+y@mailinator.com"}
        assert maker.post("/users", **sent)["result"] == "success"

    def test_unique_names_are_required_if_configured(
        self, maker: ChatClient, as_cordelia: ChatClient
    ) -> None:
        assert maker.post("/users", **NEW | {"full_name": "Hamlet"})["result"] == "success"
        as_cordelia.patch("/realm", require_unique_names=True)
        sent = NEW | {"email": "other@acme.example", "full_name": "\uff28amlet"}
        assert maker.post("/users", **sent) == bad("Unique names required in this organization.")

    def test_retry_with_its_key_creates_one_user(
        self, maker: ChatClient, chat_database: Database
    ) -> None:
        key = {"Idempotency-Key": "rosencrantz-1"}
        first = maker.request("POST", "/users", NEW, headers=key)
        again = maker.request("POST", "/users", NEW, headers=key)
        assert first.status_code == again.status_code == 200
        assert first.content == again.content
        assert "Idempotent-Replayed" not in first.headers
        assert again.headers["Idempotent-Replayed"] == "true"
        for change in ({"password": "another good secret"}, {"full_name": "Guildenstern"}):
            other = maker.request("POST", "/users", NEW | change, headers=key)
            assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")

    def test_refusal_leaves_the_key_unused(self, maker: ChatClient) -> None:
        key = {"Idempotency-Key": "rosencrantz-2"}
        weak = maker.request("POST", "/users", NEW | {"password": "x"}, headers=key)
        assert weak.status_code == 400
        assert maker.request("POST", "/users", NEW, headers=key).status_code == 200

    def test_two_concurrent_requests_create_one_user(
        self, maker: ChatClient, chat_database: Database
    ) -> None:
        before = people(chat_database)
        requests = [
            maker.build("POST", "/users", NEW | {"email": email})
            for email in ("twin@acme.example", "TWIN@acme.example")
        ]
        answers = sorted(maker.at_once(*requests), key=lambda answer: answer.status_code)
        assert [answer.status_code for answer in answers] == [200, 400]
        assert answers[1].json()["msg"].lower() == "email 'twin@acme.example' already in use"
        assert people(chat_database) == before + 1
