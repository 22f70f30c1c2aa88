"""Requests about invoices for tests of the payment service, and the expected responses."""

from typing import Any

import httpx
from sqlalchemy import func, select

from models.payment.tables import Wallet
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.factories import ADA_XPUB

PATH = "/v1/invoices"
NO_SUCH_ID = "00000000-0000-4000-8000-000000000000"
ORDER = {
    "external_order_id": "order-1042",
    "attempt_no": 1,
    "amount": "12.5",
    "payment_method_id": "tusd-local",
}


def create(api: ContractClient, key: str = "key-00000001", **over: Any) -> httpx.Response:
    return api.post(PATH, json=ORDER | over, headers={"Idempotency-Key": key})


def cancel(api: ContractClient, invoice_id: str, key: str = "key-cancel-1") -> httpx.Response:
    return api.post(f"{PATH}/{invoice_id}/cancel", headers={"Idempotency-Key": key})


def count(database: Database, table: type) -> int:
    with database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def error(response: httpx.Response) -> tuple[int, str, list[str]]:
    """Return the status, the code, and the paths of the details."""
    body = response.json()
    assert body["request_id"]
    return response.status_code, body["code"], [detail["path"] for detail in body["details"]]


def next_index(database: Database) -> int:
    with database.reading() as connection:
        query = select(Wallet.next_address_index).where(Wallet.xpub == ADA_XPUB)
        return int(connection.execute(query).scalar_one())


def checkout(api: ContractClient, invoice_id: str) -> httpx.Response:
    return api.post(f"/v1/invoices/{invoice_id}/checkout-sessions")
