"""Read-only keys: the allowed operations are derived from the documents."""

from datetime import datetime

import pytest
from sqlalchemy import Connection, func, select

from models.payment import keys
from models.payment.base import PaymentBase
from specd.db import Database
from tests.support.contract import ContractClient, operations_of
from tests.support.payment.factories import Merchant, make_invoice, make_key
from tests.support.served import served

DOCUMENT = served("payment")
OPERATIONS = operations_of(DOCUMENT)
HELPERS = "/v1/test-helpers/"
MAY_READ = {
    name for name, (method, path) in OPERATIONS.items() if method == "GET" and HELPERS not in path
}
ABSENT = {
    "id": "5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90",
    "event_id": "evt_0000000000000001",
    "chain_id": "31337",
    "name": "exact",
}


@pytest.fixture
def reader(
    client: ContractClient, database: Database, ada: Merchant, now: datetime
) -> ContractClient:
    key = database.run(lambda s: make_key(s, ada.project, now=now, scope=keys.READ))
    return client.with_key(key)


def address_of(path: str) -> str:
    for name, value in ABSENT.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def counts(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in PaymentBase.metadata.sorted_tables
    }


def test_documents_mark_the_operations_that_need_more() -> None:
    needs = {
        raw["operationId"]: raw.get("x-required-role")
        for item in DOCUMENT["paths"].values()
        for raw in item.values()
        if isinstance(raw, dict) and "operationId" in raw
    }
    assert needs.keys() == OPERATIONS.keys()
    assert {name for name, role in needs.items() if role is None} == MAY_READ
    assert {role for role in needs.values()} == {None, "write"}
    assert len(MAY_READ) >= 8


@pytest.mark.parametrize("name", sorted(MAY_READ))
def test_reading_operations_are_allowed(reader: ContractClient, name: str) -> None:
    method, path = OPERATIONS[name]
    answer = reader.request(method, address_of(path))
    assert answer.status_code in (200, 404, 422), answer.text
    if answer.is_error:
        refused = ("not_found", "unauthorized", "insufficient_scope")
        assert answer.json()["code"] not in refused


@pytest.mark.reaches("insufficient_scope")
@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - MAY_READ))
def test_all_other_operations_are_rejected(
    api: ContractClient, reader: ContractClient, database: Database, name: str
) -> None:
    method, path = OPERATIONS[name]
    with database.reading() as connection:
        before = counts(connection)
    headers = {"Idempotency-Key": "a-key-of-a-reader"}
    for sent in ({}, {"json": {}}, {"json": {"nonsense": True}}):
        answer = reader.request(method, address_of(path), headers=headers, **sent)
        assert answer.status_code == 403
        assert answer.json() == {
            "code": "insufficient_scope",
            "message": "This key is read-only; use a key with write access.",
            "request_id": answer.headers["Request-Id"],
            "details": [],
        }
    with database.reading() as connection:
        assert counts(connection) == before
    assert api.request(method, address_of(path), headers=headers).status_code != 403


def test_reads_the_same_as_a_write_key(
    api: ContractClient,
    reader: ContractClient,
    database: Database,
    ada: Merchant,
    now: datetime,
) -> None:
    database.run(lambda session: make_invoice(session, ada, now=now))
    for path in ("/v1/invoices", "/v1/events", "/v1/payment-methods"):
        assert reader.get(path).json() == api.get(path).json()
    assert len(reader.get("/v1/invoices").json()["data"]) == 1


def test_change_is_rejected_before_parameters_are_checked(
    api: ContractClient, reader: ContractClient, database: Database, ada: Merchant, now: datetime
) -> None:
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))
    headers = {"Idempotency-Key": "cancel-this"}
    path = f"/v1/invoices/{invoice.id}/cancel"
    assert reader.post(path, headers=headers).json()["code"] == "insufficient_scope"
    assert api.get(f"/v1/invoices/{invoice.id}").json()["status"] == "unpaid"
    assert api.post(path, headers=headers).status_code == 200
    assert (
        reader.post(path, headers=headers).status_code == 403
    )  # stored responses are not replayed either
