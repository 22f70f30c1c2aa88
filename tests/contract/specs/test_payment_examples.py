"""The document's examples work: requests are accepted and get the documented responses."""

from typing import Any

import httpx
import pytest

import specs
from specd.db import Database
from tests.contract.specs.examples import written_examples
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import pay

DOCUMENT = specs.load("payment")
EXAMPLES = written_examples("payment")
REQUESTS = DOCUMENT["paths"]["/v1/invoices"]["post"]["requestBody"]["content"]["application/json"][
    "examples"
]
KEYS = DOCUMENT["components"]["parameters"]["IdempotencyKey"]["examples"]

# Values that differ between runs.
VARYING = {
    "id",
    "deposit_address",
    "payment_uri",
    "derivation_path",
    "created_at",
    "updated_at",
    "expires_at",
    "monitoring_ends_at",
    "paid_at",
    "canceled_at",
    "payments",
    "request_id",
}


def stable(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in VARYING}


def create(api: ContractClient, body: dict[str, Any], key: str = "key-00000001") -> httpx.Response:
    return api.post("/v1/invoices", json=body, headers={"Idempotency-Key": key})


ORDER = REQUESTS["first_attempt"]["value"]


@pytest.mark.parametrize("name", REQUESTS)
def test_every_request_example_creates_an_invoice(api: ContractClient, name: str) -> None:
    assert create(api, REQUESTS[name]["value"]).status_code == 201


@pytest.mark.parametrize("name", KEYS)
def test_every_key_example_is_a_valid_key(api: ContractClient, name: str) -> None:
    assert create(api, ORDER, KEYS[name]["value"]).status_code == 201


def test_methods_match_the_example(api: ContractClient) -> None:
    assert api.get("/v1/payment-methods").json() == EXAMPLES["OneMethod"]["value"]


def test_life_of_an_invoice_matches_the_examples(
    api: ContractClient, database: Database, clock: FrozenClock
) -> None:
    def read(invoice_id: str) -> dict[str, Any]:
        return dict(api.get(f"/v1/invoices/{invoice_id}").json())

    def shown(name: str) -> dict[str, Any]:
        value: dict[str, Any] = EXAMPLES[name]["value"]
        return value

    created = create(api, ORDER).json()
    invoice_id = created["id"]
    assert stable(created) == stable(shown("UnpaidInvoice"))
    assert created["deposit_address"] == shown("UnpaidInvoice")["deposit_address"]
    assert created["payment_uri"] == shown("UnpaidInvoice")["payment_uri"]

    clock.advance(seconds=62)
    pay(database, invoice_id, at=clock.now(), block_number=128)
    assert stable(read(invoice_id)) == stable(shown("ProcessingInvoice"))

    paying = create(api, ORDER | {"attempt_no": 2}, "key-00000002").json()
    (warning,) = paying.pop("warnings")
    assert warning == {
        "code": "earlier_attempt_open",
        "message": shown("SecondAttempt")["warnings"][0]["message"].replace("unpaid", "processing"),
        "invoice_id": invoice_id,
    }
    again = paying["id"]
    second = dict(shown("SecondAttempt"))
    del second["warnings"]
    assert paying["derivation_path"] == second["derivation_path"]
    assert paying["deposit_address"] == second["deposit_address"]
    assert stable(paying) == stable(second)
    pay(database, again, at=clock.now(), amount=7_500_000, block_number=128)
    pay(database, again, at=clock.now(), amount=5_100_000, block_number=131, head_number=132)
    paid = shown("PaidInvoice")
    assert stable(read(again)) == stable(paid) | {"attempt_no": 2}
    assert [p["confirmations"] for p in read(again)["payments"]] == [
        p["confirmations"] for p in paid["payments"]
    ]

    third = create(api, ORDER | {"attempt_no": 3}, "key-00000003").json()["id"]
    path = f"/v1/invoices/{third}/cancel"
    canceled = api.post(path, headers={"Idempotency-Key": "key-00000004"}).json()
    assert stable(canceled) == stable(shown("CanceledInvoice")) | {"attempt_no": 3}


def test_errors_match_the_examples(
    api: ContractClient,
    client: ContractClient,
    database: Database,
    clock: FrozenClock,
    chain: FakeGateway,
) -> None:
    def agrees(response: httpx.Response, example: str) -> bool:
        expected = EXAMPLES[example]["value"]
        told = response.json()
        paths = [detail["path"] for detail in expected["details"]]
        return (told["code"], told["message"], [d["path"] for d in told["details"]]) == (
            expected["code"],
            expected["message"],
            paths,
        )

    invoice = create(api, ORDER).json()
    pay(database, invoice["id"], at=clock.now())
    cancel = f"/v1/invoices/{invoice['id']}/cancel"
    absent = "/v1/invoices/00000000-0000-4000-8000-000000000000"
    assert agrees(client.get("/v1/payment-methods"), "Unauthorized")
    assert agrees(api.get("/v1/nowhere"), "NotFound")
    assert agrees(api.get(absent), "InvoiceNotFound")
    assert agrees(create(api, ORDER, "key-00000002"), "OrderAttemptExists")
    assert agrees(create(api, ORDER | {"amount": "1"}), "IdempotencyKeyReused")
    assert agrees(create(api, ORDER | {"amount": "0"}, "key-00000003"), "InvalidAmount")
    unknown = ORDER | {"payment_method_id": "unknown"}
    assert agrees(create(api, unknown, "key-00000004"), "PaymentMethodNotAllowed")
    assert agrees(api.post(cancel), "InvalidKey")
    with_key = {"Idempotency-Key": "key-00000005"}
    assert agrees(api.post(cancel, headers=with_key), "InvoiceNotCancelable")
    assert agrees(create(api, ORDER | {"external_order_id": "x" * 70_000}), "BodyTooLarge")
    unpaid = create(api, ORDER | {"attempt_no": 2}, "key-00000006").json()
    checkout = f"/v1/invoices/{unpaid['id']}/checkout-sessions"
    chain.is_healthy = False
    assert agrees(api.post(checkout), "ChainUnavailable")
    chain.configured.clear()
    assert agrees(api.post(checkout), "ChainNotConfigured")
    clock.advance(seconds=3600)
    assert agrees(api.post(checkout), "InvoiceNotPayable")
