"""A series of requests sent to every contestant before the load, with the exact expected responses.

The deposit address is the first one of the seeded key, so that all services derive the same one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPb"
    "xqsByNNhwWaNQRuhP3JcC3"
)
FIRST_ADDRESS = "0x58A57ed9d8d624cBD12e2C467D34787555bB1b25"
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
CHAIN_ID = 31337
METHOD_ID = "tusd-local"

NOBODYS_ID = "00000000-0000-4000-8000-000000000000"
ORDER = {
    "external_order_id": "order-1",
    "attempt_no": 1,
    "amount": "12.50",
    "payment_method_id": METHOD_ID,
}
CREATED = {
    "environment": "test",
    "external_order_id": "order-1",
    "attempt_no": 1,
    "status": "unpaid",
    "exception": "none",
    "payment_method_id": METHOD_ID,
    "amount": "12500000",
    "amount_paid": "0",
    "amount_pending": "0",
    "amount_remaining": "12500000",
    "amount_overpaid": "0",
    "chain_id": CHAIN_ID,
    "token_address": TOKEN,
    "deposit_address": FIRST_ADDRESS,
    "payment_uri": f"ethereum:{TOKEN}@{CHAIN_ID}/transfer?address={FIRST_ADDRESS}&uint256=12500000",
    "confirmations_required": 2,
    "payments": [],
    "paid_at": None,
    "canceled_at": None,
}
METHOD = {
    "id": METHOD_ID,
    "environment": "test",
    "chain_id": CHAIN_ID,
    "token_symbol": "TUSD",
    "token_address": TOKEN,
    "decimals": 6,
    "confirmations_required": 2,
    "available": True,
}


@dataclass(frozen=True, slots=True)
class StoryResult:
    """The input of the load: an unpaid invoice and the key that created it."""

    invoice_id: str
    idempotency_key: str


class StoryDiffers(Exception):
    """A contestant gave other responses. The message lists every difference."""


def tell(send: Callable[..., httpx.Response], bearer: str) -> StoryResult:
    """Send the requests by `send(method, path, headers=, json=)`. Raise StoryDiffers."""
    wrong: list[str] = []

    def expect(what: str, got: Any, wanted: Any) -> None:
        if got != wanted:
            wrong.append(f"{what}: got {got!r}, wanted {wanted!r}")

    def refused(what: str, answer: httpx.Response, status: int, code: str) -> None:
        body = answer.json()
        expect(what, (answer.status_code, body["code"]), (status, code))
        expect(f"{what}, envelope", set(body) >= {"code", "message", "request_id"}, True)

    def call(method: str, path: str, key: str = "", body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {bearer}"}
        if key:
            headers["Idempotency-Key"] = key
        return send(method, path, headers=headers, json=body)

    def create(key: str, **changes: Any) -> httpx.Response:
        return call("POST", "/v1/invoices", key, ORDER | changes)

    listed = call("GET", "/v1/payment-methods").json()
    shown = [{name: it[name] for name in METHOD} for it in listed["methods"]]
    expect("methods", (listed["environment"], shown), ("test", [METHOD]))

    first = create("story-create-1")
    invoice: Mapping[str, Any] = first.json()
    expect("create", first.status_code, 201)
    facts = {name: invoice.get(name) for name in CREATED}  # a response may contain more
    expect("create", facts, CREATED)
    again = create("story-create-1")
    expect("replay", (again.status_code, again.content), (201, first.content))
    expect("replay", again.headers.get("Idempotent-Replayed"), "true")
    read = call("GET", f"/v1/invoices/{invoice['id']}")
    expect("get", (read.status_code, read.json()), (200, invoice))

    refused("key reused", create("story-create-1", amount="13"), 422, "idempotency_key_reused")
    refused("same attempt", create("story-create-2"), 409, "order_attempt_exists")
    refused("zero", create("story-create-3", amount="0"), 422, "invalid_amount")
    refused("pattern", create("story-create-4", amount="1."), 422, "invalid_request")
    refused("unknown field", create("story-create-5", tip="1"), 422, "invalid_request")
    refused("no key", create("short"), 422, "invalid_request")
    no_method = create("story-create-6", payment_method_id="none")
    refused("method", no_method, 422, "payment_method_not_allowed")
    refused("unknown id", call("GET", f"/v1/invoices/{NOBODYS_ID}"), 404, "invoice_not_found")
    stranger = send("GET", "/v1/payment-methods", headers={"Authorization": "Bearer nobody"})
    refused("no such key", stranger, 401, "unauthorized")
    expect("challenge", stranger.headers.get("WWW-Authenticate", "")[:6], "Bearer")

    other = create("story-create-7", attempt_no=2).json()
    path = f"/v1/invoices/{other['id']}/cancel"
    canceled = call("POST", path, "story-cancel-1")
    expect("cancel", (canceled.status_code, canceled.json()["status"]), (200, "canceled"))
    expect("cancel replay", call("POST", path, "story-cancel-1").content, canceled.content)
    refused("canceled", call("POST", path, "story-cancel-2"), 409, "invoice_not_cancelable")

    if wrong:
        raise StoryDiffers("\n".join(wrong))
    return StoryResult(invoice_id=invoice["id"], idempotency_key="story-create-1")
