"""The invoices of a project, a page at a time, newest first.

A page is found by an index of the project's, whatever filters there are: each status is looked up
by itself, or the order. An invoice whose time is over counts as expired before the worker has said
so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Table,
    and_,
    func,
    literal,
    or_,
    select,
    tuple_,
    type_coerce,
    union_all,
)

from models.payment import lifecycle
from models.payment.cursors import Position, read_cursor, write_cursor
from models.payment.invoice_view import InvoiceView, read_invoices
from models.payment.tables import Invoice, Payment
from models.types import UtcMs

MOST_PAYMENTS = 5000
"""Of all invoices of a page together; a page of one invoice has as many as that has."""
_invoice = cast(Table, Invoice.__table__)
_payment = cast(Table, Payment.__table__)


@dataclass(frozen=True, slots=True)
class InvoiceFilter:
    """Which invoices of a project are listed; None and no status: all. Times are Unix milliseconds:
    from the first on, before the second.
    """

    project_id: str
    external_order_id: str | None = None
    statuses: frozenset[str] = frozenset()
    created_from: int | None = None
    created_to: int | None = None

    @property
    def fingerprint(self) -> list[str | int | None]:
        """What a cursor of the list is bound to."""
        single = (self.project_id, self.external_order_id, self.created_from, self.created_to)
        return ["invoices", *single, *sorted(self.statuses)]


@dataclass(frozen=True, slots=True)
class InvoicePage:
    """Some invoices, newest first. `next_cursor` is None at the end of the list."""

    invoices: list[InvoiceView]
    next_cursor: str | None


def list_invoices(
    connection: Connection,
    wanted: InvoiceFilter,
    *,
    cursor: str | None,
    limit: int,
    now: datetime,
) -> InvoicePage:
    """The page behind a cursor. Raises `InvalidCursor`."""
    after = None if cursor is None else read_cursor(cursor, wanted.fingerprint)
    found = _find(connection, wanted, after, limit=limit + 1, now=now)
    page = _fitting(connection, found[:limit])
    views = read_invoices(connection, [position.id for position in page], now=now)
    if wanted.statuses:  # one may have changed since it was found
        views = [view for view in views if view.status in wanted.statuses]
    is_last = len(page) == len(found)
    return InvoicePage(views, None if is_last else write_cursor(page[-1], wanted.fingerprint))


def _find(
    connection: Connection,
    wanted: InvoiceFilter,
    after: Position | None,
    *,
    limit: int,
    now: datetime,
) -> list[Position]:
    by_age = (_invoice.c.created_at.desc(), _invoice.c.id.desc())
    parts = [
        select(_invoice.c.created_at, _invoice.c.id)
        .where(*_conditions(wanted, after), *having)
        .order_by(*by_age)
        .limit(limit)
        .subquery()
        for having in _parts(wanted, now)
    ]
    together = union_all(*(select(part) for part in parts)).subquery()
    newest = select(together).order_by(together.c.created_at.desc(), together.c.id.desc())
    return [Position(*row) for row in connection.execute(newest.limit(limit))]


def _conditions(wanted: InvoiceFilter, after: Position | None) -> Iterator[ColumnElement[bool]]:
    created_ms = type_coerce(_invoice.c.created_at, BigInteger)  # no datetime holds them all
    yield _invoice.c.project_id == wanted.project_id
    if wanted.external_order_id is not None:
        yield _invoice.c.external_order_id == wanted.external_order_id
    if wanted.created_from is not None:
        yield created_ms >= wanted.created_from
    if wanted.created_to is not None:
        yield created_ms < wanted.created_to
    if after is not None:
        place = tuple_(literal(after.created_at, UtcMs), literal(after.id))
        yield tuple_(_invoice.c.created_at, _invoice.c.id) < place


def _parts(wanted: InvoiceFilter, now: datetime) -> list[tuple[ColumnElement[bool], ...]]:
    """The conditions on the status, apart as far as an index finds each part: an order has few
    invoices, and its own index finds those of all statuses.
    """
    parts = list(_of_statuses(wanted.statuses, now))
    if wanted.external_order_id is None or len(parts) == 1:
        return parts
    return [(or_(*(and_(*part) for part in parts)),)]


def _of_statuses(
    statuses: frozenset[str], now: datetime
) -> Iterator[tuple[ColumnElement[bool], ...]]:
    """The conditions of each stored status that counts as one of these now (see `status_at`)."""
    if not statuses:
        yield ()
        return
    for status in sorted(statuses - {lifecycle.UNPAID}):
        yield (_invoice.c.status == status,)
    is_over = _invoice.c.expires_at < now
    is_unpaid = _invoice.c.status == lifecycle.UNPAID
    if {lifecycle.UNPAID, lifecycle.EXPIRED} <= statuses:
        yield (is_unpaid,)
    elif lifecycle.UNPAID in statuses:
        yield (is_unpaid, ~is_over)
    elif lifecycle.EXPIRED in statuses:
        yield (is_unpaid, is_over)


def _fitting(connection: Connection, page: list[Position]) -> list[Position]:
    """The invoices from the first one on whose payments are not too many for one answer."""
    counted = select(_payment.c.invoice_id, func.count()).group_by(_payment.c.invoice_id)
    ids = [position.id for position in page]
    rows = connection.execute(counted.where(_payment.c.invoice_id.in_(ids)))
    counts = {invoice_id: count for invoice_id, count in rows}
    together = 0
    for at, position in enumerate(page):
        together += counts.get(position.id, 0)
        if at and together > MOST_PAYMENTS:
            return page[:at]
    return page
