"""How many payments of one invoice are written down.

Whoever knows a deposit address can send it as many transfers as they like, of one atom each; every
answer shows them and every settlement reads them. So an invoice takes `MOST_PAYMENTS` of any size,
and after those only what is worth a thousandth of what it asks for: more rows then cost whoever
makes them more than the invoice.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from models.payment.tables import Invoice, Payment

MOST_PAYMENTS = 1_000
DUST_PART = 1_000
"""What is less than so small a part of an invoice's amount is dust."""

PARAMETERS = 500


@dataclass(slots=True)
class Room:
    """How many more payments of an invoice are written down whatever they are, and what is dust
    after those.
    """

    left: int
    least: int

    def takes(self, amount: int) -> bool:
        """Is a transfer of so many atoms written down?"""
        return self.left > 0 or amount >= self.least


def find_rooms(session: Session, invoice_ids: Collection[str]) -> dict[str, Room]:
    """Invoice -> its room; one statement for however many payments there are."""
    rooms: dict[str, Room] = {}
    ids = sorted(invoice_ids)
    count = (
        select(func.count())
        .where(Payment.invoice_id == Invoice.id)
        .correlate(Invoice)
        .scalar_subquery()
    )
    for start in range(0, len(ids), PARAMETERS):
        some = Invoice.id.in_(ids[start : start + PARAMETERS])
        for invoice_id, amount, known in session.execute(
            select(Invoice.id, Invoice.amount, count).where(some)
        ):
            rooms[invoice_id] = Room(MOST_PAYMENTS - known, -(-amount // DUST_PART))
    return rooms
