"""list_payment_methods: payment methods of a project."""

from datetime import datetime, timedelta

import httpx

from models.payment import methods
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import TOKEN, Merchant, make_invoice, make_method, pay

PATH = "/v1/payment-methods"


def switch(database: Database, merchant: Merchant, *, disabled_at: datetime | None) -> None:
    database.run(
        lambda session: methods.set_disabled(
            session, project_id=merchant.id, method_id="tusd-local", disabled_at=disabled_at
        )
    )


def order(api: ContractClient, key: str) -> httpx.Response:
    body = {"external_order_id": "order-7", "attempt_no": 1, "amount": "1"}
    return api.post(
        "/v1/invoices",
        json=body | {"payment_method_id": "tusd-local"},
        headers={"Idempotency-Key": key},
    )


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

    def test_method_is_unavailable_without_an_endpoint_for_its_chain(
        self, api: ContractClient, chain: FakeGateway
    ) -> None:
        chain.configured.clear()
        assert [m["available"] for m in api.get(PATH).json()["methods"]] == [False]

    def test_disabled_method_accepts_no_new_invoice_and_keeps_open_ones(
        self, api: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        invoice = database.run(lambda s: make_invoice(s, ada, now=now))
        switch(database, ada, disabled_at=now)
        assert [m["available"] for m in api.get(PATH).json()["methods"]] == [False]
        refused = order(api, "key-disabled-1")
        assert (refused.status_code, refused.json()["code"]) == (422, "payment_method_not_allowed")
        assert api.post(f"/v1/invoices/{invoice.id}/checkout-sessions").status_code == 201
        pay(database, invoice.id, at=now, head_number=110)
        assert api.get(f"/v1/invoices/{invoice.id}").json()["status"] == "paid"
        switch(database, ada, disabled_at=None)
        assert [m["available"] for m in api.get(PATH).json()["methods"]] == [True]
        assert order(api, "key-disabled-2").status_code == 201

    def test_hides_other_projects(
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

    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert client.get(PATH).status_code == 401
