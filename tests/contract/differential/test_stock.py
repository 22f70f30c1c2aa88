"""The payment service's document and handlers, unmodified, on stock connexion's AsyncApp."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specd._engine.serving.app import build_app
from tests.contract.differential.stock import build_stock
from tests.contract.differential.subjects import payment
from tests.specd.engine.client import Answer, Client

INVOICE = {
    "external_order_id": "order-1",
    "attempt_no": 1,
    "amount": "1.5",
    "payment_method_id": "tusd-local",
}


class Shopper:
    """The same calls to either application, without times and identities of the service."""

    def __init__(self, app: Any, credentials: list[tuple[str, str]]) -> None:
        self.client = Client(app)
        self.runner = asyncio.Runner()
        self.headers = credentials

    def send(self, method: str, target: str, *, key: str | None = None, **options: Any) -> Answer:
        headers = [*self.headers, *([("Idempotency-Key", key)] if key else [])]
        return self.runner.run(self.client.exchange(method, target, headers=headers, **options))


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Shopper, Shopper]]:
    """Our engine and stock connexion with one database."""
    service, credentials = payment(tmp_path)
    shoppers = (
        Shopper(build_app([service]), credentials["bearerAuth"]),
        Shopper(build_stock(service), credentials["bearerAuth"]),
    )
    logging.disable(logging.CRITICAL)
    yield shoppers
    logging.disable(logging.NOTSET)
    for shopper in shoppers:
        shopper.runner.close()
    assert service.database is not None
    service.database.dispose()


def test_reads_are_the_same(both: tuple[Shopper, Shopper]) -> None:
    ours, stock = both
    created = ours.send("POST", "/v1/invoices", key="create-0001", value=INVOICE)
    assert created.status == 201
    for target in ("/v1/payment-methods", f"/v1/invoices/{created.json['id']}"):
        left, right = ours.send("GET", target), stock.send("GET", target)
        assert left.status == right.status == 200
        assert left.body == right.body
        assert left.header("ETag") == right.header("ETag")


def test_each_creates_invoices_that_the_other_reads_and_replays(
    both: tuple[Shopper, Shopper],
) -> None:
    for number, (maker, reader) in enumerate((both, both[::-1])):
        order = {**INVOICE, "external_order_id": f"order-{number}"}
        key = f"create-000{number}"
        created = maker.send("POST", "/v1/invoices", key=key, value=order)
        assert created.status == 201, created.body
        replayed = reader.send("POST", "/v1/invoices", key=key, value=order)
        assert (replayed.status, replayed.body) == (201, created.body)
        assert replayed.header("Idempotent-Replayed") == "true"
        target = f"/v1/invoices/{created.json['id']}"
        assert reader.send("GET", target).body == created.body

        canceled = maker.send("POST", f"{target}/cancel", key=f"cancel-000{number}")
        assert (canceled.status, canceled.json["status"]) == (200, "canceled")
        again = reader.send("POST", f"{target}/cancel", key=f"cancel-000{number}")
        assert (again.status, again.body) == (200, canceled.body)
        refused = reader.send("POST", f"{target}/cancel", key=f"cancel-100{number}")
        assert (refused.status, refused.json["code"]) == (409, "invoice_not_cancelable")


def test_both_create_the_same_invoice(both: tuple[Shopper, Shopper]) -> None:
    """Complete bodies are equal, except id and deposit address."""
    made = []
    for number, shopper in enumerate(both):
        order = {**INVOICE, "attempt_no": number + 1}
        answer = shopper.send("POST", "/v1/invoices", key=f"create-000{number}", value=order)
        assert answer.status == 201
        own = ("id", "attempt_no", "deposit_address", "payment_uri", "derivation_path")
        # The second has a warning about the first.
        made.append({k: v for k, v in answer.json.items() if k not in (*own, "warnings")})
        assert set(own) < set(answer.json)
    assert made[0] == made[1]


def test_waiting_handler_runs(both: tuple[Shopper, Shopper]) -> None:
    created = both[1].send("POST", "/v1/invoices", key="create-0001", value=INVOICE)
    for shopper in both:
        target = f"/v1/invoices/{created.json['id']}/checkout-sessions"
        answer = shopper.send("POST", target, value={})  # stock rejects a request without a body
        assert (answer.status, answer.json["invoice_id"]) == (201, created.json["id"])


def test_errors_use_the_same_table(both: tuple[Shopper, Shopper]) -> None:
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/v1/invoices/5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90", {}),
        ("GET", "/v1/nowhere", {}),
        ("DELETE", "/v1/payment-methods", {}),
        ("POST", "/v1/invoices", {"key": "create-0001", "value": {**INVOICE, "amount": "0"}}),
        ("POST", "/v1/invoices", {"key": "create-0002", "value": {**INVOICE, "amount": "x"}}),
        (
            "POST",
            "/v1/invoices",
            {"key": "create-0003", "body": b"x", "content_type": "text/plain"},
        ),
    ]
    for method, target, options in calls:
        left, right = (s.send(method, target, **options) for s in both)
        assert left.status == right.status, target
        assert left.json["code"] == right.json["code"], target
        assert set(left.json) == set(right.json)
    anonymous = [Shopper(s.client.app, []) for s in both]
    left, right = (s.send("GET", "/v1/payment-methods") for s in anonymous)
    assert left.status == right.status == 401
    assert left.json["code"] == right.json["code"]
    for shopper in anonymous:
        shopper.runner.close()
