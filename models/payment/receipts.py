"""The payments of a project in the order of their receipt: a line of the books for each.

A payment is received when the service stores it (`detected_at`). So a period that is over gets no
further lines, also if the block of a payment is older. Payments whose block a reorganization has
dropped are left out. An index finds a page, however many payments there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select, union_all

from models.payment.errors import TooManyPayments
from models.payment.lifecycle import ORPHANED
from models.payment.tables import Invoice, Payment
from models.ranges import FIRST, LAST, IndexRange, Place, without_index
from models.rows import columns_of, read_rows
from specd.db import UtcMs, table_of

_its = table_of(Payment).c
_invoice = table_of(Invoice).c
_LISTED = IndexRange([_its.project_id], [_its.detected_at, _its.id])
_UNOWNED = IndexRange(
    [without_index(_invoice.project_id)], [without_index(_its.detected_at), without_index(_its.id)]
)
"""Rows without a project of their own, which are few. The same index finds them."""

_ALL = 2**62
"""A limit that keeps the order in a subquery, and so the index."""


@dataclass(frozen=True, slots=True)
class ReceiptFilter:
    """Which payments of a project are listed; None: all. Times are Unix milliseconds: from the
    first on, before the second. `is_ascending`: the oldest comes first.
    """

    project_id: str
    received_from: int | None = None
    received_to: int | None = None
    is_ascending: bool = False


class Position(NamedTuple):
    """The place of a payment in the list: Unix milliseconds and the number of its row."""

    detected_at: int
    id: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A payment that counts, with its invoice. The amount is in atoms."""

    id: int
    detected_at: datetime
    amount: int
    from_address: str
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str
    block_timestamp: datetime
    status: str
    late: bool
    chain_id: int
    invoice_id: str
    external_order_id: str
    attempt_no: int
    payment_method_id: str
    token_symbol: str
    token_address: str
    decimals: int
    deposit_address: str
    metadata_json: str | None

    @property
    def position(self) -> Position:
        """The place of the payment in the list."""
        return Position(UtcMs.to_ms(self.detected_at), self.id)


_OF_PAYMENT = columns_of(Receipt, Payment)
_OF_INVOICE = [
    column
    for column in columns_of(Receipt, Invoice)
    if column.name not in {column.name for column in _OF_PAYMENT}
]
_READ = select(*_OF_PAYMENT, *_OF_INVOICE).join_from(
    Payment, Invoice, _invoice.id == _its.invoice_id
)


def list_receipts(
    connection: Connection, wanted: ReceiptFilter, *, after: Position | None, limit: int
) -> Sequence[Receipt]:
    """Return the payments behind a place, at most `limit`."""
    places = _find(connection, wanted, after, limit=limit)
    rows = connection.execute(_READ.where(_its.id.in_([place.id for place in places])))
    read = {receipt.id: receipt for receipt in read_rows(Receipt, rows)}
    return [read[place.id] for place in places]


def require_at_most(connection: Connection, wanted: ReceiptFilter, most: int) -> None:
    """Raise `TooManyPayments` if more payments are listed."""
    if len(_find(connection, wanted, None, limit=most + 1)) > most:
        raise TooManyPayments(most=most)


def _find(
    connection: Connection, wanted: ReceiptFilter, after: Position | None, *, limit: int
) -> list[Position]:
    since: Place = FIRST if wanted.received_from is None else (wanted.received_from,)
    end: Place = LAST if wanted.received_to is None else (wanted.received_to,)
    behind: Place | None = None
    if after is not None and wanted.is_ascending:
        behind = after
    elif after is not None:
        end = min(end, after)
    order = _LISTED.ascending if wanted.is_ascending else _LISTED.descending
    owned = _LISTED.rows(wanted.project_id, since=since, behind=behind, before=end)
    columns = (without_index(_its.detected_at).label("detected_at"), _its.id)
    counts = without_index(_its.status) != ORPHANED
    listed = select(*columns).where(owned, counts).order_by(*order).limit(limit).subquery()
    without = select(_its.id).where(_its.project_id.is_(None)).order_by(*_LISTED.ascending)
    unowned = (
        select(*columns)
        .join_from(Payment, Invoice, _invoice.id == _its.invoice_id)
        .where(
            _its.id.in_(without.limit(_ALL)),
            _UNOWNED.rows(wanted.project_id, since=since, behind=behind, before=end),
            counts,
        )
        .subquery()
    )
    union = union_all(select(listed), select(unowned)).subquery()
    place = [union.c.detected_at, union.c.id]
    by = place if wanted.is_ascending else [each.desc() for each in place]
    return read_rows(Position, connection.execute(select(*place).order_by(*by).limit(limit)))
