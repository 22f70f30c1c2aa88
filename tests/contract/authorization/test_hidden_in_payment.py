"""An object of another project gives the same response as an absent one, for every name in every
request of the payment service.

Ben requests Ada's objects and then absent ones. The same is done without a key and with a wrong
key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from models.payment.event_list import read_id
from models.payment.settlement import cancel_invoice
from models.payment.tables import CheckoutSession, Event, IdempotencyKey, Invoice, InvoiceEvent
from models.payment.test_helpers.tables import ScenarioRun, SimulatedFault
from models.payment.webhooks.tables import (
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookSecret,
)
from specd.db import Database
from tests.contract.authorization.contents import counting
from tests.contract.authorization.naming import NOTHING, kinds_of, leaves_of, load_names
from tests.support.contract import ContractClient, operations_of
from tests.support.marks import in_all
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import (
    Merchant,
    make_endpoint,
    make_invoice,
    make_method,
    pay,
)
from tests.support.served import served

DOCUMENT = served("payment")
NAMES = load_names()["payment"]["names"]
LEAVES = {
    operation: leaves
    for operation in operations_of(DOCUMENT)
    if (
        leaves := [
            leaf
            for leaf in sorted(leaves_of(DOCUMENT, operation))
            if kinds_of(NAMES, operation, leaf) != [NOTHING]
        ]
    )
}
"""Operation -> the names in its request that can be those of another project."""
ABSENT_ID = "00000000-0000-4000-8000-000000000000"
HELPERS = "/v1/test-helpers"
HIDDEN_CHAIN, ABSENT_CHAIN = "31338", "31339"
KEY, ORDER, METHOD = "zq-key-gone", "zq-order-gone", "zq-method-gone"
WRITTEN = (
    Invoice,
    InvoiceEvent,
    Event,
    IdempotencyKey,
    CheckoutSession,
    WebhookEndpoint,
    WebhookSecret,
    WebhookDelivery,
    ScenarioRun,
    SimulatedFault,
)
Things = Mapping[str, list[tuple[str, str]]]
"""Kind -> objects of Ada's, each with an absent one of the same length."""


def as_absent(text: str) -> str:
    return text.replace("gone", "none")


@pytest.fixture(params=["sqlite", in_all("postgresql")])
def database_url(request: pytest.FixtureRequest) -> str:
    """One database is enough, because every statement runs on both in other tests."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(name))


@pytest.fixture
def things(
    client: ContractClient,
    payment_app: PaymentApp,
    database: Database,
    ada: Merchant,
    now: datetime,
) -> Things:
    """Return Ada's invoices, one of each status, and her used keys and orders."""

    def make(session: Session) -> list[str]:
        make_method(session, ada.project, now=now, method_id=METHOD, chain_id=int(HIDDEN_CHAIN))
        hour = timedelta(hours=1)
        made = [make_invoice(session, ada, now=now).id for _ in range(4)]
        cancel_invoice(session, project_id=ada.id, invoice_id=made[0], now=now)
        return [*made, make_invoice(session, ada, now=now - hour).id]

    invoices = database.run(make)
    for block_number, (invoice_id, head) in enumerate(zip(invoices[1:3], (100, 120), strict=True)):
        pay(database, invoice_id, at=now, block_number=100 + block_number, head_number=head)
    answers = [client.with_key(ada.key).get(f"/v1/invoices/{one}").json() for one in invoices]
    statuses = [answer["status"] for answer in answers]
    assert statuses == ["canceled", "processing", "paid", "unpaid", "expired"]
    first = send(client.with_key(ada.key), "create_invoice", creation("gone", KEY, ORDER))
    assert first.status_code == 201
    spelled = [*invoices, invoices[3].upper()]
    events = client.with_key(ada.key).get("/v1/events").json()["data"]
    endpoint_id = database.run(
        lambda session: _make_tried(session, payment_app, ada, read_id(events[0]["id"]), now)
    )
    run_id = client.with_key(ada.key).post(f"{HELPERS}/scenarios/late/runs").json()["id"]
    absent_event = "evt_7fffffffffffffff"
    cursor = client.with_key(ada.key).get("/v1/invoices?limit=1").json()["next_cursor"]
    return {
        "cursor": [(cursor, cursor[::-1])],
        "chain": [(HIDDEN_CHAIN, ABSENT_CHAIN)],
        "run": [(run_id, ABSENT_ID), (run_id.upper(), ABSENT_ID)],
        "webhook endpoint": [(endpoint_id, ABSENT_ID), (endpoint_id.upper(), ABSENT_ID)],
        "attempt": [("att_0000000000000001", "att_0000000000000009")],
        "event": [(events[0]["id"], absent_event), (events[-1]["id"], absent_event)],
        "invoice": [(one, ABSENT_ID) for one in spelled],
        "payment method": [(METHOD, as_absent(METHOD))],
        "deposit address": [(first.json()["deposit_address"], f"0x{0:040x}")],
        "transaction": [(answers[1]["payments"][0]["tx_hash"], f"0x{0:064x}")],
        "order": [(ORDER, as_absent(ORDER))],
        "idempotency key": [(KEY, as_absent(KEY))],
    }


def _make_tried(
    session: Session, app: PaymentApp, ada: Merchant, event_id: int, now: datetime
) -> str:
    """Create an endpoint of Ada's with a delivery."""
    endpoint_id = make_endpoint(session, app.webhooks.vault, ada, now=now).id
    session.add(
        WebhookAttempt(
            endpoint_id=endpoint_id,
            event_id=event_id,
            event_type="invoice.created",
            number=1,
            at=now,
            duration_ms=1,
            status_code=200,
            answer="",
        )
    )
    return endpoint_id


def creation(end: str, key: str, order: str) -> dict[str, Any]:
    return {
        "Idempotency-Key": key,
        "external_order_id": order,
        "attempt_no": 1,
        "amount": "1.5",
        "payment_method_id": "tusd-local",
    }


def send(client: ContractClient, operation: str, request: Mapping[str, Any]) -> httpx.Response:
    method, path = operations_of(DOCUMENT)[operation]
    body = dict(request)
    headers = {"Idempotency-Key": body.pop("Idempotency-Key")} if "Idempotency-Key" in body else {}
    for name in ("id", "event_id", "chain_id", "name"):
        path = path.replace(f"{{{name}}}", body.pop(name, ""))
    if method == "GET" and body:
        return client.get(f"{path}?{urlencode(body)}", headers=headers)
    return client.request(method, path, headers=headers, **({"json": body} if body else {}))


@dataclass(frozen=True)
class Outcome:
    """The result that the caller can observe, and the numbers of rows and statements."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str
    written: tuple[int, ...]
    statements: int


def play(
    client: ContractClient, database: Database, operation: str, request: Mapping[str, Any]
) -> Outcome:
    before = rows(database)
    with counting() as statements:
        answer = send(client, operation, request)
    text = answer.text.replace(answer.headers["Request-Id"], "(request)")
    is_json = answer.headers.get("Content-Type") == "application/json"
    if is_json and answer.is_success and "data" not in (made := answer.json()):
        for name in ("id", "deposit_address", "invoice_id", "checkout_token", "secret"):
            text = text.replace(str(made.get(name, text)), f"({name})")
    elif "id" in request:
        text = text.replace(request["id"], "(id)")
    text = text.replace(request.get("event_id", "(event)"), "(event)")
    text = text.replace(request.get("after", "(after)"), "(after)")
    written = tuple(now - then for now, then in zip(rows(database), before, strict=True))
    headers = {name: value for name, value in answer.headers.items() if name != "request-id"}
    return Outcome(
        answer.status_code, tuple(headers.items()), as_absent(text), written, len(statements)
    )


def rows(database: Database) -> list[int]:
    with database.reading() as connection:
        return [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in WRITTEN
        ]


Make = Callable[[str, str], dict[str, Any]]
ACTS: Mapping[str, dict[str, Any]] = {
    "mine_blocks": {"count": 1},
    "reorganise_chain": {"depth": 1},
    "advance_clock": {"advance_s": 1},
    "simulate_faults": {"kind": "fail", "calls": 1},
}
WEBHOOK = {"url": "https://shop.example/webhooks", "event_types": ["*"]}


def _webhook_request(operation: str, endpoint_id: str) -> dict[str, Any]:
    """Return a valid request about an endpoint."""
    request: dict[str, Any] = {"id": endpoint_id}
    if operation == "redeliver_webhook_event":
        request["event_id"] = "evt_0000000000000000"
    if operation == "update_webhook_endpoint":
        request["description"] = "mine"
    if operation == "rotate_webhook_secret":
        request["grace_s"] = 60
    return request


@pytest.fixture
def good(database: Database, payment_app: PaymentApp, ben: Merchant, now: datetime) -> Make:
    """Return a function that creates a valid request of Ben's for an operation. Its last word makes
    requests different.
    """

    def make_own(session: Session) -> str:
        return make_endpoint(session, payment_app.webhooks.vault, ben, now=now).id

    def make(operation: str, end: str) -> dict[str, Any]:
        if operation == "create_invoice":
            return creation(end, f"bens-key-{end}", f"bens-order-{end}")
        if operation in ("list_invoices", "list_events"):
            return {}
        if operation in ACTS:
            return {"chain_id": "31337", **ACTS[operation]}
        if operation == "run_scenario":
            return {"name": "exact"}
        if operation == "get_run":
            return {"id": ABSENT_ID}
        if operation == "send_sample_event":
            return {"type": "invoice.paid"}
        order = f"bens-own-{end}"
        if operation == "get_event":
            return {"id": "evt_0000000000000000"}
        if operation == "create_webhook_endpoint":
            return WEBHOOK | {"Idempotency-Key": f"bens-key-{end}"}
        if "webhook" in operation:
            return _webhook_request(operation, database.run(make_own))
        request = {
            "id": database.run(
                lambda session: make_invoice(session, ben, now=now, external_order_id=order)
            ).id
        }
        if "Idempotency-Key" in leaves_of(DOCUMENT, operation):
            request["Idempotency-Key"] = f"bens-key-{end}"
        return request

    return make


def pairs_of(
    operation: str, things: Things, good: Make
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield a name in the request, a request with an object of Ada's in its place, and one with an
    absent object.
    """
    for leaf in LEAVES[operation]:
        (kind,) = kinds_of(NAMES, operation, leaf)
        for number, (hidden, absent) in enumerate(things[kind]):
            yield (
                leaf,
                good(operation, f"{leaf}{number}gone") | {leaf: hidden},
                good(operation, f"{leaf}{number}none") | {leaf: absent},
            )


@pytest.mark.parametrize("operation", LEAVES)
def test_object_of_another_project_equals_absent_object(
    operation: str,
    client: ContractClient,
    database: Database,
    ben: Merchant,
    things: Things,
    good: Make,
) -> None:
    askers = (client, client.with_key(ben.key[:-8] + "00000000"), client.with_key(ben.key))
    tried = set()
    for leaf, hidden, absent in pairs_of(operation, things, good):
        tried.add(leaf)
        for asker in askers:
            seen = play(asker, database, operation, hidden)
            assert seen == play(asker, database, operation, absent), (leaf, hidden)
    assert tried == set(LEAVES[operation])


def test_repeated_request_of_another_project_is_new(
    client: ContractClient, database: Database, ben: Merchant, things: Things
) -> None:
    """With the same key, order and body, nothing is replayed and no duplicate is found."""
    asker = client.with_key(ben.key)
    seen = play(asker, database, "create_invoice", creation("gone", KEY, ORDER))
    absent = creation("none", as_absent(KEY), as_absent(ORDER))
    assert seen == play(asker, database, "create_invoice", absent)
    assert (seen.status, seen.written[0]) == (201, 1)


def test_every_kind_is_tested(things: Things) -> None:
    tried = {
        kind
        for operation, leaves in LEAVES.items()
        for leaf in leaves
        for kind in kinds_of(NAMES, operation, leaf)
    }
    assert tried == set(things) == set(NAMES) - {NOTHING}
