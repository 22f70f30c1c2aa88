"""list_payment_methods: what a project may be paid in."""

from datetime import datetime, timedelta

from models.database import Database
from tests.support.contract import ContractClient
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import TOKEN, Merchant, make_method

PATH = "/v1/payment-methods"


class TestListPaymentMethods:
    def test_lists_every_field_of_the_projects_method(self, api: ContractClient) -> None:
        response = api.get(PATH)
        assert response.status_code == 200
        assert response.json() == {
            "environment": "test",
            "methods": [
                {
                    "id": "tusd-local",
                    "environment": "test",
                    "chain_id": 31337,
                    "chain_name": "Local test chain",
                    "token_symbol": "TUSD",
                    "token_address": TOKEN,
                    "decimals": 6,
                    "confirmations_required": 2,
                    "available": True,
                }
            ],
        }

    def test_lists_in_the_order_of_creation(
        self, api: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        later = now + timedelta(seconds=1)
        database.run(lambda s: make_method(s, ada.project, now=later, method_id="a-later-one"))
        assert [m["id"] for m in api.get(PATH).json()["methods"]] == ["tusd-local", "a-later-one"]

    def test_says_a_method_is_unavailable_without_an_endpoint_for_its_chain(
        self, api: ContractClient, chain: FakeGateway
    ) -> None:
        chain.configured.clear()
        assert [m["available"] for m in api.get(PATH).json()["methods"]] == [False]

    def test_shows_nothing_of_another_project(
        self,
        client: ContractClient,
        database: Database,
        ada: Merchant,
        ben: Merchant,
        now: datetime,
    ) -> None:
        database.run(lambda s: make_method(s, ada.project, now=now, method_id="only-adas"))
        listed = client.with_key(ben.key).get(PATH).json()["methods"]
        assert [m["id"] for m in listed] == ["tusd-local"]

    def test_answers_401_without_a_key(self, client: ContractClient) -> None:
        assert client.get(PATH).status_code == 401
