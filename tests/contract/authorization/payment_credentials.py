"""The credentials of the payment service, which belong to a merchant and a shopper. See
credentials.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import httpx

from models.payment import keys
from models.payment.checkout_sessions import CheckoutView, find_checkout
from pages import checkout
from specd.db import Database
from tests.contract.authorization.credentials import GOOD, Use
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import Merchant, make_invoice
from tests.support.service_pages import build_pages

ORDER = {
    "external_order_id": "order-7", "attempt_no": 1, "amount": "1.5",
    "payment_method_id": "tusd-local",
}  # fmt: skip


@dataclass
class Shop:
    """Ada's shop with an unpaid invoice."""

    api: ContractClient
    ada: Merchant
    database: Database
    clock: FrozenClock
    invoice_id: str = ""

    def __post_init__(self) -> None:
        now = self.clock.now()
        self.invoice_id = self.database.run(lambda s: make_invoice(s, self.ada, now=now)).id


def told(response: httpx.Response) -> str:
    """Return `GOOD`, or the status and code of an error."""
    code = response.json().get("code")
    return GOOD if response.status_code < 400 else f"{response.status_code} {code}"


def payment_key(shop: Shop) -> Use:
    return lambda: told(shop.api.get("/v1/payment-methods"))


def checkout_token(shop: Shop) -> Use:
    made = shop.api.post(f"/v1/invoices/{shop.invoice_id}/checkout-sessions")
    token = made.json()["checkout_token"]

    def find(text: str) -> CheckoutView | None:
        with shop.database.reading() as reader:
            return find_checkout(reader, text, shop.clock.now())

    pages = build_pages(documents={}, own=[partial(checkout.install, look_up=find)])
    browser = pages.test_client()

    def use() -> str:
        page, status = (browser.get(f"/checkout/{token}{rest}") for rest in ("", "/status"))
        assert page.status_code == status.status_code
        asks = b"ethereum:" in page.data
        assert asks == status.json["is_payable"]
        return GOOD if asks else f"{page.status_code} {status.json['state']}"

    return use


def idempotency_key(shop: Shop) -> Use:
    """The stored response for the key of a new invoice."""
    headers = {"Idempotency-Key": "7e0c5d1a"}
    first = shop.api.post("/v1/invoices", json=ORDER, headers=headers)
    assert first.status_code == 201

    def use() -> str:
        again = shop.api.post("/v1/invoices", json=ORDER, headers=headers)
        return told(again) if again.status_code >= 400 or again.content == first.content else "new"

    return use


def revoke_key(shop: Shop) -> None:
    key_id = shop.ada.key.split("_")[2]
    shop.database.run(lambda s: keys.revoke_key(s, key_id=key_id, now=shop.clock.now()))


def make_another_key(shop: Shop) -> None:
    """Create a second key for rotation. The first is valid until it is revoked."""
    now = shop.clock.now()
    shop.database.run(lambda s: keys.create_key(s, project_id=shop.ada.id, now=now))


def cancel_invoice(shop: Shop) -> None:
    path = f"/v1/invoices/{shop.invoice_id}/cancel"
    assert shop.api.post(path, headers={"Idempotency-Key": "cancel-7"}).status_code == 200


HAPPENINGS: dict[str, Callable[[Shop], None]] = {
    "key revoked": revoke_key,
    "another key": make_another_key,
    "invoice canceled": cancel_invoice,
}
