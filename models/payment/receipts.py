"""The payments of a project in order of receipt, one line of the books for each.

The time of receipt is when the service stored the payment (`detected_at`), so a new payment never
adds a line to a past period, even if its block is older. A payment is left out while its block is
dropped by a reorganization; if the block returns, the payment keeps its first time of
receipt. An index finds a page regardless of the number of payments.
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
"""Rows whose project is null, which are few. The same index finds them."""

_ALL = 2**62
"""A limit that makes a subquery keep its order, and so use the index."""


@dataclass(frozen=True, slots=True)
class ReceiptFilter:
    """Filter of a project's payments; None means no filter. Times are Unix milliseconds: from the
    first (inclusive) to the second (exclusive). `is_ascending` puts the oldest first.
    """

    project_id: str
    received_from: int | None = None
    received_to: int | None = None
    is_ascending: bool = False


class Position(NamedTuple):
    """The position of a payment in the list: Unix milliseconds and the row id."""

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
        """The position of the payment in the list."""
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
    """Return up to `limit` payments after a position."""
    places = _find(connection, wanted, after, limit=limit)
    rows = connection.execute(_READ.where(_its.id.in_([place.id for place in places])))
    read = {receipt.id: receipt for receipt in read_rows(Receipt, rows)}
    return [read[place.id] for place in places]


def require_at_most(connection: Connection, wanted: ReceiptFilter, most: int) -> None:
    """Raise `TooManyPayments` if more than `most` payments match."""
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
