"""The operations of the load: all of benchmarks.chat and benchmarks.payment."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from benchmarks.chat.operations import API, OPERATIONS, headers
from benchmarks.chat.realm import Stage
from benchmarks.load.paced import Connection, Work, to_bytes
from benchmarks.payment.story import METHOD_ID

SELDOM = 40
"""The number of rounds between two subscriptions of 100 people. Each of them gets a message each
time, and the operation takes a hundred times as long as others.
"""
FORM = "application/x-www-form-urlencoded"


def turns(stage: Stage, bearer: str) -> Iterator[Work]:
    """Yield turns endlessly. A turn restores the previous state, except for sent messages and
    invoices.
    """
    chat = [_asking(stage, name) for name in OPERATIONS if name not in ("schedule", "subscribe")]
    chat.append(_scheduling(stage))
    subscribing = _asking(stage, "subscribe")
    for number in itertools.count():
        yield from chat
        yield _queue(stage, number)
        yield _search(stage, number)
        yield _purchase(bearer, f"soak-{number}")
        if number % SELDOM == 0:
            yield subscribing


def requests_of(stage: Stage, name: str) -> list[bytes]:
    """Return the request of an operation of benchmarks.chat, or two that change and undo."""
    operation = OPERATIONS[name]
    parts = operation.arguments(stage)
    path = API + operation.path(stage)
    return [
        to_bytes(method, path, body, headers_of(stage))
        for method, body in zip(parts[::2], parts[1::2], strict=True)
    ]


def headers_of(stage: Stage) -> dict[str, str]:
    """Return the headers of the measured user."""
    pairs = headers(stage)
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _asking(stage: Stage, name: str) -> Work:
    requests = requests_of(stage, name)

    async def ask(connection: Connection) -> None:
        for request in requests:
            await connection.ask(request)

    return ask


def _scheduling(stage: Stage) -> Work:
    """Return work that schedules a message and deletes it, because /register returns all pending
    ones.
    """
    (request,) = requests_of(stage, "schedule")

    async def schedule(connection: Connection) -> None:
        made = json.loads(await connection.ask(request))
        path = f"{API}/scheduled_messages/{made['scheduled_message_id']}"
        await connection.ask(to_bytes("DELETE", path, headers=headers_of(stage)))

    return schedule


def _search(stage: Stage, number: int) -> Work:
    """Return a search that differs from the others in words and form."""
    terms = [["search", f"message {number}"], ["sender", stage.email], ["is", "unread"]]
    narrow = json.dumps(terms[: 1 + number % 3])
    query = urlencode({"anchor": "newest", "num_before": 20, "num_after": 0, "narrow": narrow})
    request = to_bytes("GET", f"{API}/messages?{query}", headers=headers_of(stage))
    return lambda connection: connection.ask(request)


def _queue(stage: Stage, number: int) -> Work:
    """Return work that registers a queue, polls once and deletes it. Each tenth queue has all types
    of events.
    """
    wanted = {} if number % 10 == 0 else {"event_types": '["message"]'}
    register = to_bytes("POST", f"{API}/register", urlencode(wanted), headers_of(stage))

    async def come_and_go(connection: Connection) -> None:
        queue = json.loads(await connection.ask(register))
        asked = {"queue_id": queue["queue_id"], "last_event_id": -1, "dont_block": "true"}
        path = f"{API}/events?{urlencode(asked)}"
        await connection.ask(to_bytes("GET", path, headers=headers_of(stage)))
        gone = urlencode({"queue_id": queue["queue_id"]})
        await connection.ask(to_bytes("DELETE", f"{API}/events", gone, headers_of(stage)))

    return come_and_go


def _purchase(bearer: str, name: str) -> Work:
    """Return the operations of benchmarks.payment, on a new invoice."""
    shop = Shop(bearer)
    create = shop.create(name)

    async def buy(connection: Connection) -> None:
        await connection.ask(shop.methods())
        invoice_id = json.loads(await connection.ask(create))["id"]
        await connection.ask(shop.get(invoice_id))
        await connection.ask(create)
        await connection.ask(shop.cancel(invoice_id))

    return buy


@dataclass(frozen=True, slots=True)
class Shop:
    """The requests of benchmarks.payment."""

    bearer: str

    def methods(self) -> bytes:
        return self._ask("GET", "/v1/payment-methods")

    def get(self, invoice_id: str) -> bytes:
        return self._ask("GET", f"/v1/invoices/{invoice_id}")

    def create(self, name: str) -> bytes:
        order = {"external_order_id": name, "attempt_no": 1, "amount": "12.50"}
        body = json.dumps({**order, "payment_method_id": METHOD_ID})
        return self._ask("POST", "/v1/invoices", body, key=f"create-{name}")

    def cancel(self, invoice_id: str) -> bytes:
        return self._ask("POST", f"/v1/invoices/{invoice_id}/cancel", key=f"cancel-{invoice_id}")

    def _ask(self, method: str, path: str, body: str = "", key: str = "") -> bytes:
        headers = {"Authorization": f"Bearer {self.bearer}", "Content-Type": "application/json"}
        return to_bytes(method, path, body, headers | ({"Idempotency-Key": key} if key else {}))
