"""The invoices of a project, page by page, newest or oldest first.

An index finds a page for every combination of filters: by transaction, by order, by deposit
address, or by each exception or status alone, also for one payment method. With `updated_from` the
list is ordered by the last change, which separate indexes cover. An unpaid invoice past its expiry
counts as expired, and as changed at that time, even before the worker settles it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    and_,
    case,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from models.json import Json
from models.payment import lifecycle
from models.payment.cursors import Position, read_cursor, write_cursor
from models.payment.errors import TooManyInvoices
from models.payment.invoice_view import InvoiceView, read_invoices
from models.payment.tables import Invoice, Payment
from models.ranges import FIRST, LAST, IndexRange, Place, without_index
from models.rows import read_rows
from specd.db import UtcMs, table_of

MAX_PAYMENTS = 5000
"""The maximum number of payments in a page of several invoices."""
PAYMENT_LENGTH = 400
"""The number of metadata characters that count as one payment in a page."""
_invoice = table_of(Invoice)
_payment = table_of(Payment)
_its = _invoice.c
_AGE = (_its.created_at, _its.id)
_CHANGE = (_its.updated_at, _its.id)
_LISTED = IndexRange([_its.project_id], _AGE)
_LISTED_BY_ORDER = IndexRange([_its.project_id, _its.external_order_id], _AGE)
_LISTED_BY_ADDRESS = IndexRange([_its.project_id, _its.deposit_address], _AGE)
_LISTED_BY_EXCEPTION = IndexRange([_its.project_id, _its.exception], _AGE)
_LISTED_BY_STATUS = IndexRange([_its.project_id, _its.status], _AGE)
_LISTED_BY_METHOD = IndexRange([_its.project_id, _its.payment_method_id, _its.status], _AGE)
_CHANGED_BY_EXCEPTION = IndexRange([_its.project_id, _its.exception], _CHANGE)
_CHANGED_BY_STATUS = IndexRange([_its.project_id, _its.status], _CHANGE)
_IS_UNUSUAL = _its.exception != literal_column("'none'")
"""As in the partial indexes by exception; otherwise neither database uses them."""
_ANY = frozenset(lifecycle.STATUSES)
_ALL = 2**62
"""A limit that makes a subquery keep its order, and so use the index."""


@dataclass(frozen=True, slots=True)
class InvoiceFilter:
    """Filter of a project's invoices; None and empty sets mean no filter. Times are Unix
    milliseconds: from the first (inclusive) to the second (exclusive). The address has its EIP-55
    checksum. `tx_hash` is that of a payment, in lower case. `is_ascending` puts the oldest first,
    or, with `updated_from`, the one whose last change is oldest.
    """

    project_id: str
    external_order_id: str | None = None
    statuses: frozenset[str] = frozenset()
    created_from: int | None = None
    created_to: int | None = None
    exceptions: frozenset[str] = frozenset()
    deposit_address: str | None = None
    tx_hash: str | None = None
    payment_method_id: str | None = None
    updated_from: int | None = None
    is_ascending: bool = False
    is_resolved: bool | None = None

    @property
    def fingerprint(self) -> Json:
        """The list with its filters and order. A cursor is bound to it."""
        its = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if its["is_resolved"] is None:
            del its["is_resolved"]  # as in cursors of earlier releases
        sets = {"statuses": sorted(self.statuses), "exceptions": sorted(self.exceptions)}
        return ["invoices", {**its, **sets}]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a list: a range of one index, and conditions on its rows."""

    index: IndexRange
    first: tuple[str, ...]
    having: Sequence[ColumnElement[bool]]


@dataclass(frozen=True, slots=True)
class InvoicePage:
    """Some invoices in the order of the list. `next_cursor` is None at the end."""

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
    """Return the page after a cursor. Raise `InvalidCursor`.

    A page can contain fewer than `limit` invoices before the end: if they have many payments, or if
    an invoice changed after it was found.
    """
    after = None if cursor is None else read_cursor(cursor, wanted.fingerprint)
    positions = _find(connection, wanted, after, limit=limit + 1, now=now)
    page = _fitting(connection, positions[:limit])
    ids = [position.id for position in page]
    read = {view.id: view for view in read_invoices(connection, ids, now=now)}
    views = [read[each] for each in ids]
    if wanted.statuses:  # an invoice may have changed since it was found
        views = [view for view in views if view.status in wanted.statuses]
    if wanted.exceptions:
        views = [view for view in views if view.exception in wanted.exceptions]
    is_last = len(page) == len(positions)
    return InvoicePage(views, None if is_last else write_cursor(page[-1], wanted.fingerprint))


def require_at_most(
    connection: Connection, wanted: InvoiceFilter, most: int, *, now: datetime
) -> None:
    """Raise `TooManyInvoices` if more than `most` invoices match."""
    if len(_find(connection, wanted, None, limit=most + 1, now=now)) > most:
        raise TooManyInvoices(most=most)


def _find(
    connection: Connection,
    wanted: InvoiceFilter,
    after: Position | None,
    *,
    limit: int,
    now: datetime,
) -> list[Position]:
    parts = [_first_of(part, wanted, after, limit=limit) for part in _parts(wanted, now)]
    union = union_all(*(select(part) for part in parts)).subquery()
    place = [union.c.at, union.c.id]
    order = place if wanted.is_ascending else [each.desc() for each in place]
    return read_rows(Position, connection.execute(select(*place).order_by(*order).limit(limit)))


def _first_of(
    part: _Part, wanted: InvoiceFilter, after: Position | None, *, limit: int
) -> FromClause:
    """Return the select of the first invoices of a part after a position."""
    is_by_age = wanted.updated_from is None
    since = wanted.created_from if is_by_age else wanted.updated_from
    until = wanted.created_to if is_by_age else None
    least: Place = FIRST if since is None else (since,)
    end: Place = LAST if until is None else (until,)
    behind: Place | None = None
    if after is not None and wanted.is_ascending:
        behind = (after.at, after.id)
    elif after is not None:
        end = min(end, (after.at, after.id))
    query = select(part.index.ordered[0].label("at"), _its.id).where(
        part.index.rows(*part.first, since=least, behind=behind, before=end),
        *part.having,
        *_resolved(wanted),
        *([] if is_by_age else _created(wanted)),
    )
    order = part.index.ascending if wanted.is_ascending else part.index.descending
    return query.order_by(*order).limit(limit).subquery()


def _resolved(wanted: InvoiceFilter) -> Iterator[ColumnElement[bool]]:
    """Yield the condition on the resolution of invoices."""
    if wanted.is_resolved is not None:
        resolved_at = without_index(_its.resolved_at)
        yield resolved_at.is_not(None) if wanted.is_resolved else resolved_at.is_(None)


def _created(wanted: InvoiceFilter) -> Iterator[ColumnElement[bool]]:
    """Yield conditions on the creation time, for lists in another order."""
    if wanted.created_from is not None:
        yield without_index(_its.created_at) >= wanted.created_from
    if wanted.created_to is not None:
        yield without_index(_its.created_at) < wanted.created_to


def _parts(wanted: InvoiceFilter, now: datetime) -> Iterator[_Part]:
    """Yield the parts of the list. The most selective filter chooses the index. The others become
    conditions on its rows.
    """
    project_id, order, address = wanted.project_id, wanted.external_order_id, wanted.deposit_address
    method, exceptions = wanted.payment_method_id, sorted(wanted.exceptions)
    is_by_age = wanted.updated_from is None
    of_method = [] if method is None else [without_index(_its.payment_method_id) == method]
    of_status = list(_has_status(wanted.statuses, now))
    unusual = [without_index(_its.exception).in_(exceptions)] if exceptions else []
    at = [] if address is None else [without_index(_its.deposit_address) == address]
    few = [*of_method, *unusual, *of_status]
    if wanted.tx_hash is not None:
        paid = select(_payment.c.invoice_id).where(_payment.c.tx_hash == wanted.tx_hash)
        of_order = [] if order is None else [without_index(_its.external_order_id) == order]
        yield _sorted(wanted, now, [_its.id.in_(paid), *of_order, *at, *few])
    elif order is not None:
        yield _found(_LISTED_BY_ORDER, (project_id, order), wanted, now, [*at, *few])
    elif address is not None:
        yield _found(_LISTED_BY_ADDRESS, (project_id, address), wanted, now, few)
    elif exceptions:
        index = _LISTED_BY_EXCEPTION if is_by_age else _CHANGED_BY_EXCEPTION
        settled = [] if is_by_age else [~_changed_by_clock(now)]
        for exception in exceptions:
            its = [_IS_UNUSUAL, *settled, *of_method, *of_status]
            yield _Part(index, (project_id, exception), its)
        if not is_by_age:
            yield from _over(wanted, now, few)
    elif not is_by_age:
        for status, having in _of_statuses(wanted.statuses or _ANY, now):
            its = [*having, ~_changed_by_clock(now), *of_method]
            yield _Part(_CHANGED_BY_STATUS, (project_id, status), its)
        yield from _over(wanted, now, of_method)
    elif method is not None:
        for status, having in _of_statuses(wanted.statuses or _ANY, now):
            yield _Part(_LISTED_BY_METHOD, (project_id, method, status), having)
    elif wanted.statuses:
        for status, having in _of_statuses(wanted.statuses, now):
            yield _Part(_LISTED_BY_STATUS, (project_id, status), having)
    else:
        yield _Part(_LISTED, (project_id,), ())


def _found(
    index: IndexRange,
    first: tuple[str, ...],
    wanted: InvoiceFilter,
    now: datetime,
    having: Sequence[ColumnElement[bool]],
) -> _Part:
    """Return the part for a filter that matches few invoices. They are read in the order of the
    index, or found by it and sorted if the list is ordered by change.
    """
    if wanted.updated_from is None:
        return _Part(index, first, having)
    found = select(_its.id).where(index.rows(*first)).order_by(*index.ascending).limit(_ALL)
    return _sorted(wanted, now, [_its.id.in_(found), *having])


def _sorted(wanted: InvoiceFilter, now: datetime, having: Sequence[ColumnElement[bool]]) -> _Part:
    """Return a part that must be sorted because no index has its order; few rows match."""
    by = without_index(_its.created_at) if wanted.updated_from is None else _changed_at(now)
    index = IndexRange([without_index(_its.project_id)], [by, without_index(_its.id)])
    return _Part(index, (wanted.project_id,), having)


def _over(
    wanted: InvoiceFilter, now: datetime, having: Sequence[ColumnElement[bool]]
) -> Iterator[_Part]:
    """Yield the part of the unpaid invoices whose expiry is their last change."""
    if not wanted.statuses or lifecycle.EXPIRED in wanted.statuses:
        open_ = (wanted.project_id, lifecycle.UNPAID)
        yield _found(_LISTED_BY_STATUS, open_, wanted, now, [_changed_by_clock(now), *having])


def _is_over(now: datetime) -> ColumnElement[bool]:
    return without_index(_its.expires_at) < UtcMs.to_ms(now)


def _changed_by_clock(now: datetime) -> ColumnElement[bool]:
    """Return the condition that the expiry of an unpaid invoice is its last change."""
    is_later = without_index(_its.expires_at) > without_index(_its.updated_at)
    return and_(without_index(_its.status) == lifecycle.UNPAID, _is_over(now), is_later)


def _changed_at(now: datetime) -> ColumnElement[int]:
    """Return when an invoice last changed, like `InvoiceView.updated_at`."""
    by_clock = (_changed_by_clock(now), without_index(_its.expires_at))
    return case(by_clock, else_=without_index(_its.updated_at))


def _has_status(statuses: frozenset[str], now: datetime) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that an invoice has one of these statuses now."""
    if statuses:
        of_each = _of_statuses(statuses, now)
        yield or_(*(and_(without_index(_its.status) == each, *having) for each, having in of_each))


def _of_statuses(
    statuses: frozenset[str], now: datetime
) -> Iterator[tuple[str, tuple[ColumnElement[bool], ...]]]:
    """Yield each stored status that counts as one of these now, with its extra conditions."""
    for status in sorted(statuses - {lifecycle.UNPAID}):
        yield status, ()
    if {lifecycle.UNPAID, lifecycle.EXPIRED} <= statuses:
        yield lifecycle.UNPAID, ()
    elif lifecycle.UNPAID in statuses:
        yield lifecycle.UNPAID, (~_is_over(now),)
    elif lifecycle.EXPIRED in statuses:
        yield lifecycle.UNPAID, (_is_over(now),)


def _fitting(connection: Connection, page: list[Position]) -> list[Position]:
    """Return the first invoices whose payments total at most `MAX_PAYMENTS`, but at least one
    invoice. `PAYMENT_LENGTH` characters of metadata count as a payment.
    """
    query = select(_payment.c.invoice_id, func.count()).group_by(_payment.c.invoice_id)
    ids = [position.id for position in page]
    rows = connection.execute(query.where(_payment.c.invoice_id.in_(ids)))
    counts = Counter({invoice_id: count for invoice_id, count in rows})
    length = func.length(_its.metadata_json)
    for invoice_id, characters in connection.execute(
        select(_its.id, length).where(
            _its.id.in_(ids), without_index(_its.metadata_json).is_not(None)
        )
    ):
        counts[invoice_id] += characters // PAYMENT_LENGTH
    total = 0
    for at, position in enumerate(page):
        total += counts[position.id]
        if at and total > MAX_PAYMENTS:
            return page[:at]
    return page
