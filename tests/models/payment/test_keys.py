"""API keys: their format, stored form, project and scope."""

import re
from contextlib import nullcontext
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from models.payment import keys
from models.payment.errors import InsufficientScope, KeyDoesNotExist, ProjectDoesNotExist
from models.payment.keys import Actor
from specd.db import Database
from tests.support.payment.factories import ADA_XPUB, Merchant


class TestCreateKey:
    def test_key_has_the_documented_format(self, ada: Merchant) -> None:
        assert re.fullmatch(r"prk_test_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", ada.key)

    def test_key_cannot_be_recovered_from_stored_data(
        self, database: Database, ada: Merchant
    ) -> None:
        with database.reading() as connection:
            row = connection.execute(text("SELECT * FROM api_key")).one()
        assert ada.key[18:] not in str(row)
        assert row.id == ada.key[9:17]
        assert re.fullmatch("[0-9a-f]{64}", row.secret_sha256)

    def test_unknown_project_is_rejected(self, database: Database, now: datetime) -> None:
        with pytest.raises(ProjectDoesNotExist):
            database.run(lambda s: keys.create_key(s, project_id="nobody", now=now))


class TestFindActor:
    def test_active_key_returns_its_project(self, database: Database, ada: Merchant) -> None:
        with database.reading() as connection:
            found = keys.find_actor(connection, ada.key)
        fields = {"project_id": ada.id, "key_id": ada.key[9:17], "scope": "write", "xpub": ADA_XPUB}
        assert found == Actor(**fields)

    def test_other_text_returns_none(self, database: Database, ada: Merchant) -> None:
        wrong = [
            "",
            ada.key[:-1],
            ada.key + "\n",
            ada.key.upper(),
            ada.key.replace(ada.key[9:17], "00000000"),
            ada.key[:18] + "A" * 43,
            "prk_test_' OR 1=1 --_" + "A" * 43,
        ]
        with database.reading() as connection:
            assert [keys.find_actor(connection, key) for key in wrong] == [None] * len(wrong)


class TestScopes:
    def test_key_has_the_scope_of_its_creation(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        made = {"project_id": ada.id, "now": now, "scope": keys.READ}
        _, reader = database.run(lambda s: keys.create_key(s, **made))
        with database.reading() as connection:
            found = [keys.find_actor(connection, key) for key in (ada.key, reader)]
        assert [actor.scope for actor in found if actor] == ["write", "read"]

    def test_unknown_scope_cannot_be_stored(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        made = {"project_id": ada.id, "now": now, "scope": "admin"}
        with pytest.raises(IntegrityError):
            database.run(lambda s: keys.create_key(s, **made))

    @pytest.mark.parametrize(
        ("scope", "needed", "is_refused"),
        [
            ("read", "read", False),
            ("read", "write", True),
            ("write", "read", False),
            ("write", "write", False),
        ],
    )
    def test_write_scope_includes_read_scope(
        self, scope: str, needed: str, is_refused: bool
    ) -> None:
        actor = Actor(project_id="p", key_id="k", scope=scope, xpub="x")
        with pytest.raises(InsufficientScope) if is_refused else nullcontext():
            keys.require_scope(actor, needed)


class TestRevokeKey:
    def test_second_revocation_keeps_the_first_date(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        key_id = ada.key[9:17]
        for at in (now, now + timedelta(hours=1)):
            database.run(lambda s, at=at: keys.revoke_key(s, key_id=key_id, now=at))  # type: ignore[misc]
        (key,) = database.run(lambda s: keys.list_keys(s, project_id=ada.id))
        assert key.revoked_at == now

    def test_unknown_key_is_not_found(self, database: Database, now: datetime) -> None:
        with pytest.raises(KeyDoesNotExist):
            database.run(lambda s: keys.revoke_key(s, key_id="00000000", now=now))


class TestListKeys:
    def test_keys_are_listed_oldest_first(
        self, database: Database, ada: Merchant, ben: Merchant, now: datetime
    ) -> None:
        later = now + timedelta(seconds=1)
        key, _ = database.run(lambda s: keys.create_key(s, project_id=ada.id, now=later))
        listed = database.run(lambda s: keys.list_keys(s, project_id=ada.id))
        assert [each.id for each in listed] == [ada.key[9:17], key.id]
