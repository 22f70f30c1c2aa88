"""Operations of the tag domains."""

from typing import Any

import orjson
import pytest
from sqlalchemy import select

from models.chat.tables import Event, Realm, User
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast

NOT_AN_OWNER = bad("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")
NOT_LOGGED_IN = bad("Not logged in: API authentication or user session required", "UNAUTHORIZED")


def add(client: ChatClient, domain: str = "acme.example", subdomains: bool = False) -> None:
    added = client.post("/realm/domains", domain=domain, allow_subdomains=subdomains)
    assert added == {**DONE, "new_domain": [added["new_domain"][0], domain.strip().lower()]}


def domain_events(database: Database) -> list[Any]:
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.audience)
            .where(Event.type == "realm_domains")
            .order_by(Event.id)
        )
        return [orjson.loads(row.payload) | {"_to": row.audience} for row in rows]


class TestListDomains:
    def test_lists_the_oldest_first(
        self, as_cordelia: ChatClient, chat: ChatClient, as_hank: ChatClient
    ) -> None:
        add(as_cordelia, "zoo.example")
        add(as_cordelia, "ant.example", True)
        assert chat.get("/realm/domains") == {
            **DONE,
            "domains": [
                {"domain": "zoo.example", "allow_subdomains": False},
                {"domain": "ant.example", "allow_subdomains": True},
            ],
        }
        assert as_hank.get("/realm/domains") == {**DONE, "domains": []}

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/realm/domains") == NOT_LOGGED_IN


class TestCreateDomain:
    def test_domain_is_stored_in_lower_case(
        self, as_cordelia: ChatClient, chat_database: Database
    ) -> None:
        add(as_cordelia, "  ACME.Example ", True)
        assert domain_events(chat_database) == [
            {
                "op": "add",
                "realm_domain": {"domain": "acme.example", "allow_subdomains": True},
                "_to": "realm",
            }
        ]
        again = as_cordelia.post("/realm/domains", domain="acme.EXAMPLE", allow_subdomains=False)
        assert again == bad("The domain acme.example is already a part of your organization.")

    @pytest.mark.parametrize(
        ("domain", "problem"),
        [
            (" ", "Domain can't be empty."),
            ("acme", "Domain must have at least one dot (.)"),
            ("a." + "b" * 254, "Domain is too long"),
            (".acme.example", "Domain cannot start or end with a dot (.)"),
            ("acme.example.", "Domain cannot start or end with a dot (.)"),
            ("acme..example", "Consecutive '.' are not allowed."),
            ("-acme.example", "Subdomains cannot start or end with a '-'."),
            ("acme-.example", "Subdomains cannot start or end with a '-'."),
            ("acm\u00e9.example", "Domain can only have letters, numbers, '.' and '-'s."),
            ("ac me.example", "Domain can only have letters, numbers, '.' and '-'s."),
        ],
    )
    def test_rejects_invalid_domains(
        self, as_cordelia: ChatClient, domain: str, problem: str
    ) -> None:
        answer = as_cordelia.post("/realm/domains", domain=domain, allow_subdomains=True)
        assert answer == bad(f"Invalid domain: {problem}")

    def test_accepts_the_longest_domain(self, as_cordelia: ChatClient) -> None:
        add(as_cordelia, "a." + "b" * 253)

    def test_requires_owner(self, as_nobody: ChatClient, as_iago: ChatClient) -> None:
        assert as_nobody.post("/realm/domains") == NOT_LOGGED_IN
        assert as_iago.post("/realm/domains") == NOT_AN_OWNER


class TestUpdateDomain:
    def test_changes_whether_subdomains_are_allowed(
        self, as_cordelia: ChatClient, chat: ChatClient, chat_database: Database
    ) -> None:
        add(as_cordelia)
        for _ in range(2):
            answer = as_cordelia.patch("/realm/domains/acme.example", allow_subdomains=True)
            assert answer == DONE
        changed = {"domain": "acme.example", "allow_subdomains": True}
        assert chat.get("/realm/domains")["domains"] == [changed]
        assert domain_events(chat_database)[1:] == [
            {"op": "change", "realm_domain": changed, "_to": "realm"}
        ]

    def test_limits_who_may_have_an_account(
        self, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        add(as_cordelia)
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        newcomer = {
            "email": "yorick@fools.acme.example",
            "full_name": "Yorick",
            "password": "alas poor yorick 1600",
        }
        allow_creation(chat_database, cast)
        refused = as_cordelia.post("/users", **newcomer)
        assert refused["msg"] == (
            "Email 'yorick@fools.acme.example' not allowed in this organization"
        )
        as_cordelia.patch("/realm/domains/acme.example", allow_subdomains=True)
        assert as_cordelia.post("/users", **newcomer)["result"] == "success"

    def test_rejects_unknown_domains(self, as_cordelia: ChatClient, as_hank: ChatClient) -> None:
        add(as_cordelia)
        for client, domain in (
            (as_cordelia, "other.example"),
            (as_cordelia, "ACME.example"),
            (as_hank, "acme.example"),
        ):
            answer = client.patch(f"/realm/domains/{domain}", allow_subdomains=True)
            assert answer == bad(f"No entry found for domain {domain}.")

    def test_requires_a_boolean(self, as_cordelia: ChatClient) -> None:
        add(as_cordelia)
        path = "/realm/domains/acme.example"
        assert as_cordelia.patch(path, allow_subdomains=1) == bad(
            "allow_subdomains is not a boolean"
        )
        assert as_cordelia.patch(path, allow_subdomains="True") == bad(
            "allow_subdomains is not valid JSON"
        )
        assert as_cordelia.patch(path) == bad(
            "Missing 'allow_subdomains' argument",
            "REQUEST_VARIABLE_MISSING",
            var_name="allow_subdomains",
        )

    def test_requires_owner(self, as_nobody: ChatClient, as_iago: ChatClient) -> None:
        assert as_nobody.patch("/realm/domains/acme.example") == NOT_LOGGED_IN
        assert as_iago.patch("/realm/domains/acme.example") == NOT_AN_OWNER


class TestDeleteDomain:
    def test_last_deletion_removes_the_restriction(
        self, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        add(as_cordelia, "a.example")
        add(as_cordelia, "b.example")
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        assert as_cordelia.delete("/realm/domains/a.example") == DONE
        assert is_restricted(chat_database, cast)
        assert as_cordelia.delete("/realm/domains/b.example") == DONE
        assert not is_restricted(chat_database, cast)
        removed = {"op": "remove", "domain": "b.example", "_to": "realm"}
        assert domain_events(chat_database)[-1] == removed

    def test_rejects_unknown_domains(self, as_cordelia: ChatClient) -> None:
        answer = as_cordelia.delete("/realm/domains/other.example")
        assert answer == bad("No entry found for domain other.example.")

    def test_requires_owner(self, as_nobody: ChatClient, as_iago: ChatClient) -> None:
        assert as_nobody.delete("/realm/domains/acme.example") == NOT_LOGGED_IN
        assert as_iago.delete("/realm/domains/acme.example") == NOT_AN_OWNER


def is_restricted(database: Database, cast: Cast) -> bool:
    with database.reading() as reader:
        asked = select(Realm.emails_restricted_to_domains).where(Realm.id == cast.realm_id)
        return bool(reader.execute(asked).scalar_one())


def allow_creation(database: Database, cast: Cast) -> None:
    def work(session: Any) -> None:
        session.get(User, cast.cordelia.id).can_create_users = True

    database.run(work)
