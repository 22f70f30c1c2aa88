"""Requests as bytes, one after another."""

import itertools
import json
from collections.abc import Iterator, Sequence

from benchmarks.chat.operations import API, OPERATIONS, Operation, headers
from benchmarks.chat.realm import Stage
from benchmarks.payment.story import ORDER

READS = [name for name, operation in OPERATIONS.items() if operation.is_read]
CHANGES = [name for name, operation in OPERATIONS.items() if not operation.is_read]
ORDERS = {
    "create": "POST an invoice with a new Idempotency-Key",
    "cancel": "POST cancel with a new Idempotency-Key",
}
"""The changes of `benchmarks.payment`."""
TITLES = {name: operation.title for name, operation in OPERATIONS.items()} | ORDERS


def request(method: str, path: str, pairs: Sequence[str], body: str = "") -> bytes:
    """Return one request as bytes. `pairs` contains names and values of headers alternately."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1:8700"]
    lines += [f"{name}: {value}" for name, value in zip(pairs[::2], pairs[1::2], strict=True)]
    if method != "GET":
        lines.append(f"Content-Length: {len(body.encode())}")
    return ("\r\n".join([*lines, "", ""]) + body).encode()


def chat_requests(operation: Operation, stage: Stage) -> Iterator[bytes]:
    """Return an endless iterator of an operation's requests, in turn."""
    parts = operation.arguments(stage)
    sent = zip(parts[::2], parts[1::2], strict=True)
    path = API + operation.path(stage)
    given = headers(stage)
    return itertools.cycle([request(method, path, given, body) for method, body in sent])


def payment_requests(name: str, bearer: str, stock: Sequence[str]) -> Iterator[bytes]:
    """Yield endless creations of invoices, or the cancellation of each invoice in stock."""
    common = ["Authorization", f"Bearer {bearer}", "Content-Type", "application/json"]
    if name == "cancel":
        for invoice_id in stock:
            pairs = [*common[:2], "Idempotency-Key", invoice_id]
            yield request("POST", f"/v1/invoices/{invoice_id}/cancel", pairs)
        return
    for number in itertools.count():
        order = {**ORDER, "external_order_id": f"floor-order-{number}"}
        pairs = [*common, "Idempotency-Key", f"floor-order-{number}"]
        yield request("POST", "/v1/invoices", pairs, json.dumps(order))
