"""Paged lists of invoices equal the result of sorting and filtering all invoices in memory."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations, product
from typing import Any

import pytest
from sqlalchemy import Connection, update

from models.payment import lifecycle
from models.payment.errors import InvalidCursor
from models.payment.invoice_list import InvoiceFilter, list_invoices
from models.payment.invoice_view import InvoiceView, access_invoice
from models.payment.tables import Invoice
from specd.db import Database, UtcMs
from tests.support.marks import in_all
from tests.support.payment.factories import Merchant, make_invoice, make_method

COUNT = 60
STATUSES = [(), ("unpaid",), ("expired",), ("unpaid", "expired"), ("paid", "canceled")]
EXCEPTIONS = [(), ("late",), ("over", "partial")]
OTHERS: list[dict[str, str]] = [{}, {"payment_method_id": "other"}, {"external_order_id": "o-1"}]
TIMES = [(), ("created_from",), ("created_to",), ("updated_from",), ("created_to", "updated_from")]
COMBINATIONS = [*product(STATUSES, EXCEPTIONS, OTHERS, TIMES)]
ANOTHER: dict[str, Any] = {
    "statuses": frozenset({"processing"}), "exceptions": frozenset({"reorged"}),
    "payment_method_id": "third", "external_order_id": "o-9",
    "created_from": 1, "created_to": 1, "updated_from": 1,
}  # fmt: skip
"""A value for each filter that matches no invoice of the combinations."""
EVERY = 4
"""The daily run tests this fraction of the combinations, in which each pair of values occurs."""
each_or_some = pytest.mark.parametrize("every", [EVERY, in_all(1)])


def test_samples_contain_each_pair_of_values() -> None:
    for first, second in combinations(range(4), 2):
        pairs = [(str(each[first]), str(each[second])) for each in COMBINATIONS]
        assert {*pairs[::EVERY]} == {*pairs}


@pytest.fixture
def invoice_ids(database: Database, ada: Merchant, now: datetime) -> list[str]:
    """Invoices of all kinds, several with the same time; some have expired without being marked."""
    chance = random.Random(27)

    def work(session: Any) -> list[str]:
        make_method(session, ada, now=now, method_id="other")
        return [_make(session, number) for number in range(COUNT)]

    def _make(session: Any, number: int) -> str:
        made = make_invoice(
            session,
            ada,
            now=now - timedelta(seconds=chance.randrange(10)),
            external_order_id=f"o-{number % 3}",
            attempt_no=number + 1,
            payment_method_id=chance.choice(["tusd-local", "other"]),
        )
        status = chance.choice([*lifecycle.STATUSES, lifecycle.UNPAID])
        changed_at = made.created_at + timedelta(seconds=chance.randrange(5))
        values = {
            "status": status,
            "exception": chance.choice(lifecycle.EXCEPTIONS),
            "updated_at": changed_at,
            "expires_at": now + timedelta(seconds=chance.randrange(-6, 6)),
            "paid_at": changed_at if status == lifecycle.PAID else None,
            "canceled_at": changed_at if status == lifecycle.CANCELED else None,
        }
        session.execute(update(Invoice).where(Invoice.id == made.id).values(**values))
        return made.id

    return database.run(work)


def filters(now: datetime, every: int) -> Iterator[InvoiceFilter]:
    """Yield filters in both orders: all combinations, or a sample of them."""
    moment = UtcMs.to_ms(now - timedelta(seconds=4))
    for (statuses, exceptions, other, times), is_ascending in product(
        COMBINATIONS[::every], (False, True)
    ):
        yield InvoiceFilter(
            "",
            statuses=frozenset(statuses),
            exceptions=frozenset(exceptions),
            is_ascending=is_ascending,
            **other,
            **dict.fromkeys(times, moment),
        )


def by_hand(views: list[InvoiceView], wanted: InvoiceFilter) -> list[str]:
    """Return the ids of a list, computed from all rows."""

    def is_listed(view: InvoiceView) -> bool:
        created, updated = UtcMs.to_ms(view.created_at), UtcMs.to_ms(view.updated_at)
        return (
            (not wanted.statuses or view.status in wanted.statuses)
            and (not wanted.exceptions or view.exception in wanted.exceptions)
            and wanted.payment_method_id in (None, view.payment_method_id)
            and wanted.external_order_id in (None, view.external_order_id)
            and (wanted.created_from is None or created >= wanted.created_from)
            and (wanted.created_to is None or created < wanted.created_to)
            and (wanted.updated_from is None or updated >= wanted.updated_from)
        )

    def place(view: InvoiceView) -> tuple[datetime, str]:
        return (view.created_at if wanted.updated_from is None else view.updated_at, view.id)

    listed = sorted(filter(is_listed, views), key=place, reverse=not wanted.is_ascending)
    return [view.id for view in listed]


def page_by_page(db: Connection, wanted: InvoiceFilter, *, limit: int, now: datetime) -> list[str]:
    found, cursor = [], None
    while True:
        page = list_invoices(db, wanted, cursor=cursor, limit=limit, now=now)
        found += [view.id for view in page.invoices]
        cursor = page.next_cursor
        if cursor is None:
            return found


@each_or_some
def test_pages_match_their_filters(
    database: Database, ada: Merchant, now: datetime, invoice_ids: list[str], every: int
) -> None:
    lengths = set()
    with database.reading() as db:
        views = [
            access_invoice(db, project_id=ada.id, invoice_id=each, now=now) for each in invoice_ids
        ]
    for number, each in enumerate(filters(now, every)):
        wanted = replace(each, project_id=ada.id)
        expected = by_hand(views, wanted)
        limit = (7, 3, 100)[number % 3]
        with database.reading() as db:  # reading is limited in time
            assert page_by_page(db, wanted, limit=limit, now=now) == expected, wanted
        lengths.add(len(expected))
    assert {0, COUNT} < lengths
    assert len(lengths) > 10


@each_or_some
def test_cursor_is_valid_for_its_list_only(
    database: Database, ada: Merchant, now: datetime, invoice_ids: list[str], every: int
) -> None:
    lists = [replace(each, project_id=ada.id) for each in filters(now, every)]
    cursors = []
    for each in lists:
        with database.reading() as db:  # reading is limited in time
            cursors.append(list_invoices(db, each, cursor=None, limit=1, now=now).next_cursor)
    assert sum(cursor is not None for cursor in cursors) > len(lists) / 2
    for position, cursor in enumerate(cursors):
        query = lists[position]
        others = [replace(query, is_ascending=not query.is_ascending)]
        others += [replace(query, **{name: value}) for name, value in ANOTHER.items()]
        if cursor is None:
            continue
        with database.reading() as db:
            for other in others:
                with pytest.raises(InvalidCursor):
                    list_invoices(db, other, cursor=cursor, limit=1, now=now)
