"""put_metadata and get_metadata: stored values, and the responses that contain them."""

import csv
import io
from datetime import datetime
from typing import Any

import pytest

import specs
from models.payment import invoice_list, metadata
from models.payment.invoice_view import InvoiceView
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import Merchant, make_invoice, pay

CART = {"cart": "c-7781", "Kunde": "Zoë \U0001f600", "formula": "=1+1", "empty": ""}


@pytest.fixture
def invoice(database: Database, ada: Merchant, now: datetime) -> InvoiceView:
    return database.run(lambda session: make_invoice(session, ada, now=now))


def put(api: ContractClient, invoice: InvoiceView, values: dict[str, str]) -> Any:
    answer = api.request("put", f"/v1/invoices/{invoice.id}/metadata", json={"metadata": values})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_metadata_is_replaced_completely(api: ContractClient, invoice: InvoiceView) -> None:
    path = f"/v1/invoices/{invoice.id}/metadata"
    assert api.get(path).json() == {"invoice_id": invoice.id, "metadata": {}}
    for values in (CART, {"cart": "c-1"}, {}):
        assert put(api, invoice, values) == {"invoice_id": invoice.id, "metadata": values}
        assert api.get(path).json()["metadata"] == values


def test_lists_events_and_exports_contain_it(
    api: ContractClient, database: Database, invoice: InvoiceView, now: datetime
) -> None:
    put(api, invoice, CART)
    (listed,) = api.get("/v1/invoices").json()["data"]
    assert listed["metadata"] == CART
    pay(database, invoice.id, at=now, head_number=200)
    created, *later = api.get("/v1/events").json()["data"]
    assert "metadata" not in created["data"]["invoice"], "an event contains the values of its time"
    assert {event["type"] for event in later} == {"invoice.payment_received", "invoice.paid"}
    assert [event["data"]["invoice"]["metadata"] for event in later] == [CART, CART]
    for export in ("invoices", "payments"):
        text = api.get(f"/v1/{export}.csv").content.decode("utf-8-sig")
        (row,) = csv.DictReader(io.StringIO(text, newline=""))
        assert row["metadata"].startswith('{"cart":"c-7781",')


def test_original_operations_do_not_contain_it(api: ContractClient, invoice: InvoiceView) -> None:
    path = f"/v1/invoices/{invoice.id}"
    before = api.get(path)
    put(api, invoice, CART)
    assert api.get(path).content == before.content
    canceled = api.post(f"{path}/cancel", headers={"Idempotency-Key": "cancel-it"}).json()
    assert "metadata" not in canceled


def test_change_moves_the_invoice_in_the_list_of_changes(
    api: ContractClient, clock: FrozenClock, invoice: InvoiceView
) -> None:
    clock.advance(seconds=5)
    put(api, invoice, CART)
    since = UtcMs.to_ms(clock.now())
    changed = f"/v1/invoices?updated_from={since}&order=asc"
    assert [each["id"] for each in api.get(changed).json()["data"]] == [invoice.id]
    clock.advance(seconds=5)
    put(api, invoice, dict(CART))
    (listed,) = api.get(changed).json()["data"]
    assert listed["updated_at"] == since, "equal metadata is not a change"


def test_limits_are_those_of_the_document(api: ContractClient, invoice: InvoiceView) -> None:
    largest = {f"{n:02}" + "k" * 38: "v" * 500 for n in range(50)}
    assert put(api, invoice, largest)["metadata"] == largest
    schema = specs.load("payment-events")["components"]["schemas"]["MetadataChange"]
    described = schema["properties"]["metadata"]
    assert described["maxProperties"] == metadata.MAX_KEYS
    assert described["additionalProperties"]["maxLength"] == metadata.LONGEST_VALUE


INVALID: list[tuple[Any, str]] = [
    ({"k" * 41: "v"}, "invalid_metadata"),
    ({"": "v"}, "invalid_metadata"),
    ({"a\0b": "v"}, "invalid_request"),
    ({"k": "v" * 501}, "invalid_request"),
    ({"k": "\0"}, "invalid_request"),
    ({"k": 1}, "invalid_request"),
    ({"k": None}, "invalid_request"),
    ({"k": {"deep": "v"}}, "invalid_request"),
    ({str(n): "" for n in range(51)}, "invalid_request"),
    ([], "invalid_request"),
]


@pytest.mark.reaches("invalid_metadata")
def test_invalid_metadata_is_rejected_without_a_change(
    api: ContractClient, invoice: InvoiceView
) -> None:
    put(api, invoice, CART)
    path = f"/v1/invoices/{invoice.id}/metadata"
    for values, code in INVALID:
        answer = api.request("put", path, json={"metadata": values})
        assert (answer.status_code, answer.json()["code"]) == (422, code), values
        assert answer.json()["details"][0]["path"].startswith("/body/metadata"), values
    assert api.get(path).json()["metadata"] == CART


def test_too_many_bytes_are_rejected(api: ContractClient, invoice: InvoiceView) -> None:
    values = {str(n): "\U0001f600" * 500 for n in range(50)}
    answer = api.request("put", f"/v1/invoices/{invoice.id}/metadata", json={"metadata": values})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_large_metadata_shortens_a_page(
    api: ContractClient,
    database: Database,
    ada: Merchant,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(3):
        made = database.run(lambda session: make_invoice(session, ada, now=now))
        put(api, made, {"k": "v" * 500})
    monkeypatch.setattr(invoice_list, "MAX_PAYMENTS", 2)
    found, cursor = [], ""
    for size in (2, 1):
        page = api.get(f"/v1/invoices?{cursor}").json()
        assert len(page["data"]) == size
        found += [each["id"] for each in page["data"]]
        cursor = f"cursor={page['next_cursor']}"
    assert len(set(found)) == 3
