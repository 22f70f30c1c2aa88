"""The invoices of a project, a page at a time, newest first.

An index finds a page, whatever filters there are: by transaction, by order, by deposit address, or
by each exception or status by itself. An invoice whose time is over counts as expired before the
worker settles it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    and_,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from models.base import table_of
from models.payment import lifecycle
from models.payment.cursors import Position, read_cursor, write_cursor
from models.payment.invoice_view import InvoiceView, read_invoices
from models.payment.tables import Invoice, Payment
from models.ranges import FIRST, LAST, IndexRange, aside
from models.rows import read_rows
from models.types import to_ms

MOST_PAYMENTS = 5000
"""The most payments in a page of several invoices."""
_invoice = table_of(Invoice)
_payment = table_of(Payment)
_its = _invoice.c
_AGE = (_its.created_at, _its.id)
_LISTED = IndexRange([_its.project_id], _AGE)
_LISTED_BY_ORDER = IndexRange([_its.project_id, _its.external_order_id], _AGE)
_LISTED_BY_ADDRESS = IndexRange([_its.project_id, _its.deposit_address], _AGE)
_LISTED_BY_EXCEPTION = IndexRange([_its.project_id, _its.exception], _AGE)
_PAID_AT_ONCE = IndexRange([aside(_its.project_id)], [aside(each) for each in _AGE])
"""Without an index: the payments of a transaction lead to its invoices."""
_LISTED_BY_STATUS = IndexRange([_its.project_id, _its.status], _AGE)
_IS_UNUSUAL = _its.exception != literal_column("'none'")
"""As in the partial index by exception, or neither database uses it."""


@dataclass(frozen=True, slots=True)
class InvoiceFilter:
    """Which invoices of a project are listed; None and an empty set: all. Times are Unix
    milliseconds: from the first on, before the second. The address has its EIP-55 checksum, and the
    hash of a transaction that paid is in lower case.
    """

    project_id: str
    external_order_id: str | None = None
    statuses: frozenset[str] = frozenset()
    created_from: int | None = None
    created_to: int | None = None
    exceptions: frozenset[str] = frozenset()
    deposit_address: str | None = None
    tx_hash: str | None = None

    @property
    def fingerprint(self) -> list[str | int | None]:
        """The filters, to which a cursor of the list is bound."""
        single = (self.project_id, self.external_order_id, self.created_from, self.created_to)
        unusual = [each for each in (self.deposit_address, self.tx_hash) if each is not None]
        unusual += sorted(self.exceptions)
        return ["invoices", *single, *sorted(self.statuses), *unusual]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a list: a range of one index, and the conditions on its rows."""

    index: IndexRange
    first: tuple[str, ...]
    having: Sequence[ColumnElement[bool]]


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
    """Return the page after a cursor. Raise `InvalidCursor`."""
    after = None if cursor is None else read_cursor(cursor, wanted.fingerprint)
    positions = _find(connection, wanted, after, limit=limit + 1, now=now)
    page = _fitting(connection, positions[:limit])
    views = read_invoices(connection, [position.id for position in page], now=now)
    if wanted.statuses:  # one may have changed since it was found
        views = [view for view in views if view.status in wanted.statuses]
    if wanted.exceptions:
        views = [view for view in views if view.exception in wanted.exceptions]
    is_last = len(page) == len(positions)
    return InvoicePage(views, None if is_last else write_cursor(page[-1], wanted.fingerprint))


def _find(
    connection: Connection,
    wanted: InvoiceFilter,
    after: Position | None,
    *,
    limit: int,
    now: datetime,
) -> list[Position]:
    parts = [_newest(part, wanted, after, limit=limit) for part in _parts(wanted, now)]
    union = union_all(*(select(part) for part in parts)).subquery()
    newest = select(union).order_by(union.c.created_at.desc(), union.c.id.desc())
    return read_rows(Position, connection.execute(newest.limit(limit)))


def _newest(
    part: _Part, wanted: InvoiceFilter, after: Position | None, *, limit: int
) -> FromClause:
    """Return the select of the newest invoices of a part."""
    least = FIRST if wanted.created_from is None else (wanted.created_from,)
    end: tuple[object, ...] = LAST if wanted.created_to is None else (wanted.created_to,)
    if after is not None:
        end = min(end, (to_ms(after.created_at), after.id))
    query = select(_its.created_at, _its.id).where(
        part.index.rows(*part.first, since=least, before=end), *part.having
    )
    return query.order_by(*part.index.descending).limit(limit).subquery()


def _parts(wanted: InvoiceFilter, now: datetime) -> Iterator[_Part]:
    """Yield the parts of the list. One filter chooses the index, the one that fewest pass; the
    others are conditions on its rows.
    """
    project_id, order, address = wanted.project_id, wanted.external_order_id, wanted.deposit_address
    of_status = list(_of_statuses(wanted.statuses, now))
    statuses = [and_(aside(_its.status) == each, *having) for each, having in of_status if each]
    of_any = [or_(*statuses)] if statuses else []
    exceptions = sorted(wanted.exceptions)
    unusual = [aside(_its.exception).in_(exceptions)] if exceptions else []
    at = [] if address is None else [aside(_its.deposit_address) == address]
    if wanted.tx_hash is not None:
        paid = select(_payment.c.invoice_id).where(_payment.c.tx_hash == wanted.tx_hash)
        of_order = [] if order is None else [aside(_its.external_order_id) == order]
        others = [*of_order, *at, *unusual, *of_any]
        yield _Part(_PAID_AT_ONCE, (project_id,), [_its.id.in_(paid), *others])
    elif order is not None:
        yield _Part(_LISTED_BY_ORDER, (project_id, order), [*at, *unusual, *of_any])
    elif address is not None:
        yield _Part(_LISTED_BY_ADDRESS, (project_id, address), [*unusual, *of_any])
    elif exceptions:
        for exception in exceptions:
            yield _Part(_LISTED_BY_EXCEPTION, (project_id, exception), [_IS_UNUSUAL, *of_any])
    else:
        for status, having in of_status:
            if status is None:
                yield _Part(_LISTED, (project_id,), having)
            else:
                yield _Part(_LISTED_BY_STATUS, (project_id, status), having)


def _of_statuses(
    statuses: frozenset[str], now: datetime
) -> Iterator[tuple[str | None, tuple[ColumnElement[bool], ...]]]:
    """Yield each stored status that counts as one of these now, and on which conditions."""
    if not statuses:
        yield None, ()
        return
    for status in sorted(statuses - {lifecycle.UNPAID}):
        yield status, ()
    is_over = aside(_invoice.c.expires_at) < to_ms(now)
    if {lifecycle.UNPAID, lifecycle.EXPIRED} <= statuses:
        yield lifecycle.UNPAID, ()
    elif lifecycle.UNPAID in statuses:
        yield lifecycle.UNPAID, (~is_over,)
    elif lifecycle.EXPIRED in statuses:
        yield lifecycle.UNPAID, (is_over,)


def _fitting(connection: Connection, page: list[Position]) -> list[Position]:
    """Return the first invoices, as many as have no more than `MOST_PAYMENTS` together."""
    query = select(_payment.c.invoice_id, func.count()).group_by(_payment.c.invoice_id)
    ids = [position.id for position in page]
    rows = connection.execute(query.where(_payment.c.invoice_id.in_(ids)))
    counts = {invoice_id: count for invoice_id, count in rows}
    total = 0
    for at, position in enumerate(page):
        total += counts.get(position.id, 0)
        if at and total > MOST_PAYMENTS:
            return page[:at]
    return page
