"""Merchants that follow the documents exactly, each with one data source.

`EventMerchant` reads GET /v1/events, `ListMerchant` keeps a copy of GET /v1/invoices, and
`ExportMerchant` uses only the export of payments. None of them shares code with the service.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.support.contract import ContractClient

MINUTE_MS = 60_000
PaymentKey = tuple[str, str, int]
"""The identity of a payment: the hash of its block, its transaction, and its log index."""


class Merchant:
    """The fulfilled orders, the atoms due for each, and the payments of each invoice."""

    def __init__(self, api: ContractClient) -> None:
        self.api = api
        self.fulfilled: Counter[str] = Counter()
        self.due: dict[str, int] = {}
        self.order_of: dict[str, str] = {}
        self.payments: defaultdict[str, dict[PaymentKey, int]] = defaultdict(dict)

    def read(self) -> None:
        """Read new data."""
        raise NotImplementedError

    def fulfil(self, order: str) -> None:
        """Fulfil an order once."""
        if not self.fulfilled[order]:
            self.fulfilled[order] += 1

    def note_order(self, invoice: dict[str, Any]) -> str:
        """Record the amount due for an order. Return its name."""
        order: str = invoice["external_order_id"]
        self.order_of[invoice["id"]], self.due[order] = order, int(invoice["amount"])
        return order

    def held(self, invoice_id: str) -> int:
        """Return the total atoms of an invoice."""
        return sum(self.payments[invoice_id].values())

    def owed(self, order: str) -> int:
        """Return the atoms that belong to the shopper, because they paid for no goods."""
        held = sum(
            self.held(each) for each, order_name in self.order_of.items() if order_name == order
        )
        return max(0, held - self.due[order] * self.fulfilled[order])


class EventMerchant(Merchant):
    """Reads events after the last one, and acts by the table of events."""

    def __init__(self, api: ContractClient, *, limit: int = 7) -> None:
        super().__init__(api)
        self.reasons: Counter[str] = Counter()
        self._limit = limit
        self._cursor: str | None = None

    def read(self) -> None:
        has_more = True
        while has_more:
            after = f"&after={self._cursor}" if self._cursor else ""
            page = self.api.get(f"/v1/events?limit={self._limit}{after}").json()
            for event in page["data"]:
                self._handle(event)
            self._cursor, has_more = page["next_cursor"], page["has_more"]

    def _handle(self, event: dict[str, Any]) -> None:
        invoice, payment = event["data"]["invoice"], event["data"].get("payment")
        order, payments = self.note_order(invoice), self.payments[invoice["id"]]
        if event["type"] == "invoice.payment_received":
            assert _key(payment) not in payments, "received twice"
            payments[_key(payment)] = int(payment["amount"])
        elif event["type"] == "invoice.payment_reorged":
            del payments[_key(payment)]
        elif event["type"] == "invoice.paid":
            self.reasons[order] += 1
            self.fulfil(order)
        if payment is None:  # the payment events of a change come first
            counted = int(invoice["amount_paid"]) + int(invoice["amount_pending"])
            assert self.held(invoice["id"]) == counted, event["type"]


class ListMerchant(Merchant):
    """Keeps a copy of all invoices as the section on pages describes, and fulfils paid ones."""

    def __init__(self, api: ContractClient, *, limit: int = 3) -> None:
        super().__init__(api)
        self.copy: dict[str, dict[str, Any]] = {}
        self._limit = limit
        self._updated_at = 0

    def read(self) -> None:
        since = max(0, self._updated_at - MINUTE_MS)
        for invoice in self.list(f"&order=asc&updated_from={since}"):
            self.copy[invoice["id"]] = invoice
            self._updated_at = max(self._updated_at, invoice["updated_at"])
            order = self.note_order(invoice)
            self.payments[invoice["id"]] = {
                _key(payment): int(payment["amount"])
                for payment in invoice["payments"]
                if payment["status"] != "orphaned"
            }
            counted = int(invoice["amount_paid"]) + int(invoice["amount_pending"])
            assert self.held(invoice["id"]) == counted
            if invoice["status"] == "paid":
                self.fulfil(order)

    def list(self, filters: str = "") -> Iterator[dict[str, Any]]:
        """Yield all invoices that match the filters."""
        cursor = ""
        while True:
            page = self.api.get(f"/v1/invoices?limit={self._limit}{filters}{cursor}").json()
            yield from page["data"]
            if not page["has_more"]:
                return
            cursor = f"&cursor={page['next_cursor']}"


class ExportMerchant(Merchant):
    """Reads the export of payments, which omits orders without payments."""

    def read(self) -> None:
        text = self.api.get("/v1/payments.csv?order=asc").text.removeprefix("\ufeff")
        self.payments.clear()
        for line in csv.DictReader(io.StringIO(text)):
            key = (line["block_hash"], line["transaction"], int(line["log_index"]))
            assert key not in self.payments[line["invoice"]], "listed twice"
            self.payments[line["invoice"]][key] = int(line["amount_atoms"])


def _key(payment: dict[str, Any]) -> PaymentKey:
    return payment["block_hash"], payment["tx_hash"], payment["log_index"]
