"""The events of one invoice, checked by a reader who follows the document exactly.

The reader adds and subtracts payments, fulfills on `invoice.paid`, and knows only the events. It
shares no code with the settlement.
"""

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import select

from models.payment.tables import Event
from tests.workers.ledger import Books

_STATES = {
    "invoice.partially_paid": ("unpaid", "partial"),
    "invoice.processing": ("processing", None),
    "invoice.paid": ("paid", None),
    "invoice.overpaid": ("paid", "over"),
    "invoice.expired": ("expired", None),
    "invoice.canceled": ("canceled", None),
    "invoice.paid_late": (None, "late"),
}
_CLOSED = ("expired", "canceled")
"""The required state of `data.invoice` in an event of each type, or None for any state."""


class Told:
    """The events of one invoice, in order."""

    def __init__(self, events: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.events = events
        self.types = " ".join(kind.removeprefix("invoice.") for kind, _ in events)

    @classmethod
    def of(cls, books: Books, invoice_id: str) -> "Told":
        """Read the events of an invoice."""
        with books.database.reading() as reader:
            rows = reader.execute(
                select(Event.type, Event.data)
                .where(Event.invoice_id == invoice_id)
                .order_by(Event.id)
            )
            return cls([(row.type, orjson.loads(row.data)) for row in rows])

    def wrong(self, replaced: Collection[str]) -> list[str]:
        """Return the errors that would mislead the reader.

        `replaced`: the hashes of blocks that an endpoint showed as dropped.
        """
        found: list[str] = []
        counted: dict[tuple[str, str, int], Decimal] = {}
        is_paid, has_reason, is_expired = False, False, False
        for number, (kind, data) in enumerate(self.events):
            invoice, payment = data["invoice"], data.get("payment")
            if payment is not None:
                key = (payment["block_hash"], payment["tx_hash"], payment["log_index"])
                if kind == "invoice.payment_received":
                    if key in counted:
                        found.append(f"{key} is received twice")
                    counted[key] = Decimal(payment["amount"])
                elif counted.pop(key, None) is None:
                    found.append(f"{key} is taken off and was never received")
                if kind == "invoice.payment_reorged":
                    has_reason = True
                    if payment["block_hash"] not in replaced:
                        found.append(f"{key} is taken off, and its block was never replaced")
            status, exception = _STATES.get(kind, (None, None))
            if status not in (None, invoice["status"]):
                found.append(f"{kind} shows {invoice['status']}")
            if exception not in (None, invoice["exception"]):
                found.append(f"{kind} shows {invoice['exception']}")
            is_expired = is_expired or kind == "invoice.expired"
            if kind == "invoice.paid_late" and invoice["status"] not in _CLOSED:
                found.append(f"paid_late shows {invoice['status']}")
            if kind == "invoice.paid_late" and not (is_expired or invoice["canceled_at"]):
                found.append("paid_late comes before expired")
            if kind == "invoice.paid":
                if is_paid:
                    found.append("paid comes twice without a reorganisation")
                is_paid = True
            if kind == "invoice.reorged":
                if not has_reason:
                    found.append("reorged comes without a payment that was taken off")
                is_paid = is_paid and invoice["status"] == "paid"
            if is_paid and invoice["status"] != "paid" and not self._goes_on(number):
                found.append(f"{kind} shows that paid was left, and nothing says so")
            if not self._goes_on(number) and sum(counted.values()) != _money(invoice):
                found.append(f"payments add up to {sum(counted.values())}, not {_money(invoice)}")
        return found

    def _goes_on(self, number: int) -> bool:
        """Return whether the next event belongs to the same change."""
        later = self.events[number + 1 : number + 2]
        return bool(later) and later[0][1]["invoice"] == self.events[number][1]["invoice"]


def _money(invoice: dict[str, Any]) -> Decimal:
    return Decimal(invoice["amount_paid"]) + Decimal(invoice["amount_pending"])
