"""Projects and payment methods: accepted and rejected values."""

from datetime import datetime
from typing import Any

import pytest

from models.payment import methods, projects
from models.payment.errors import (
    InvalidMethod,
    InvalidName,
    MainNetRefused,
    PaymentMethodExists,
    PrivateKeyRefused,
    ProjectDoesNotExist,
)
from models.payment.methods import MAIN_NETS
from specd.db import Database
from tests.support.payment.factories import ADA_XPUB, TOKEN, Merchant, make_method


class TestCreateMethod:
    def test_token_address_is_stored_with_eip_55_checksum(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        lower = TOKEN.lower()
        method = database.run(
            lambda s: make_method(s, ada.project, now=now, method_id="other", token_address=lower)
        )
        assert method.token_address == TOKEN

    @pytest.mark.parametrize("chain_id", sorted(MAIN_NETS))
    def test_main_nets_are_rejected(
        self, database: Database, ada: Merchant, now: datetime, chain_id: int
    ) -> None:
        with pytest.raises(MainNetRefused, match=str(chain_id)):
            database.run(
                lambda s: make_method(s, ada.project, now=now, method_id="m", chain_id=chain_id)
            )

    @pytest.mark.parametrize(
        "over",
        [
            {"method_id": ""},
            {"method_id": "a b"},
            {"method_id": "x" * 65},
            {"method_id": "m\n"},
            {"chain_id": 0},
            {"chain_id": -1},
            {"chain_id": 2**53},
            {"chain_name": "x" * 101},
            {"chain_name": "two\nlines"},
            {"token_symbol": ""},
            {"token_symbol": "x" * 33},
            {"token_address": "0x12"},
            {"confirmations_required": 0},
            {"confirmations_required": 1001},
        ],
        ids=str,
    )
    def test_values_outside_the_document_are_rejected(
        self, database: Database, ada: Merchant, now: datetime, over: dict[str, Any]
    ) -> None:
        facts = {"method_id": "fine"} | over
        with pytest.raises(InvalidMethod) as caught:
            database.run(lambda s: make_method(s, ada.project, now=now, **facts))
        assert str(caught.value).count("\n") == 0
        with database.reading() as connection:
            listed = methods.list_methods(connection, project_id=ada.id)
        assert [method.id for method in listed] == ["tusd-local"]

    def test_duplicate_id_is_rejected(
        self, database: Database, ada: Merchant, ben: Merchant, now: datetime
    ) -> None:
        with pytest.raises(PaymentMethodExists, match="tusd-local"):
            database.run(lambda s: make_method(s, ada.project, now=now))


class TestCreateProject:
    @pytest.mark.parametrize("name", ["", "  ", "x" * 201, "two\nlines", "nul\0"])
    def test_unreadable_name_is_rejected(
        self, database: Database, now: datetime, name: str
    ) -> None:
        with pytest.raises(InvalidName):
            database.run(lambda s: projects.create_project(s, name=name, xpub=ADA_XPUB, now=now))

    def test_rejected_private_key_is_not_stored(self, database: Database, now: datetime) -> None:
        with pytest.raises(PrivateKeyRefused):
            database.run(lambda s: projects.create_project(s, name="A", xpub="xprv9xhj", now=now))

    def test_existing_projects_are_found(self, database: Database, ada: Merchant) -> None:
        assert database.run(lambda s: projects.access_project(s, ada.id)).name == "Ada's Books"
        with pytest.raises(ProjectDoesNotExist):
            database.run(lambda s: projects.access_project(s, "nobody"))
