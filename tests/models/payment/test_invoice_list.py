"""Lists of invoices and events read an index of the project's, whatever filters there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Connection, event

from models.database import Database
from models.payment.event_list import EventFilter, list_events
from models.payment.invoice_list import InvoiceFilter, list_invoices
from tests.support.payment.factories import Merchant, make_invoice


@contextmanager
def planning(connection: Connection, plans: list[str]) -> Iterator[None]:
    """Notes the plan of each SELECT of SQLite."""

    def explain(_: Connection, cursor: Any, statement: str, parameters: Any, *__: Any) -> None:
        if statement.startswith("SELECT"):
            own = cursor.connection.cursor()
            own.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.append("\n".join(str(row[-1]) for row in own.fetchall()))

    event.listen(connection.engine, "before_cursor_execute", explain)
    try:
        yield
    finally:
        event.remove(connection.engine, "before_cursor_execute", explain)


@pytest.fixture
def database(sqlite_url: str) -> Iterator[Database]:
    opened = Database(sqlite_url)
    yield opened
    opened.dispose()


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "ix_invoice_listed (project_id=?"),
        ({"created_from": 1, "created_to": 2}, "ix_invoice_listed (project_id=?"),
        ({"statuses": {"paid"}}, "ix_invoice_listed_by_status (project_id=? AND status=?"),
        ({"statuses": {"expired", "unpaid"}}, "ix_invoice_listed_by_status (project_id=? AND st"),
        ({"external_order_id": "x"}, "ix_invoice_listed_by_order (project_id=? AND external_"),
        (
            {"external_order_id": "x", "statuses": {"paid"}},
            "ix_invoice_listed_by_order (project_id=? AND external_order_id=?",
        ),
        (
            {"external_order_id": "x", "statuses": {"paid", "expired"}},
            "ix_invoice_listed_by_order (project_id=? AND external_order_id=?",
        ),
    ],
)
def test_a_page_of_invoices(
    database: Database, ada: Merchant, now: datetime, filters: dict[str, Any], index: str
) -> None:
    if "statuses" in filters:
        filters = {**filters, "statuses": frozenset(filters["statuses"])}
    plans: list[str] = []
    with database.reading() as connection, planning(connection, plans):
        list_invoices(connection, InvoiceFilter(ada.id, **filters), cursor=None, limit=2, now=now)
    assert f"SEARCH invoice USING COVERING INDEX {index}" in plans[0].replace(
        "USING INDEX", "USING COVERING INDEX"
    )
    assert "SCAN invoice" not in plans[0]


def test_the_next_page_begins_at_its_place(
    database: Database, ada: Merchant, now: datetime
) -> None:
    for _ in range(3):
        database.run(lambda session: make_invoice(session, ada, now=now))
    wanted = InvoiceFilter(ada.id)
    with database.reading() as connection:
        first = list_invoices(connection, wanted, cursor=None, limit=2, now=now)
        plans: list[str] = []
        with planning(connection, plans):
            list_invoices(connection, wanted, cursor=first.next_cursor, limit=2, now=now)
    assert "ix_invoice_listed (project_id=? AND (created_at,id)<(?,?))" in plans[0]


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "ix_event_listed (project_id=? AND id>?)"),
        (
            {"types": frozenset({"invoice.paid"})},
            "ix_event_listed_by_type (project_id=? AND type=? AND id>?)",
        ),
        ({"invoice_id": "x"}, "ix_event_listed_by_invoice (invoice_id=? AND id>?)"),
    ],
)
def test_a_page_of_events(
    database: Database, ada: Merchant, filters: dict[str, Any], index: str
) -> None:
    plans: list[str] = []
    with database.reading() as connection, planning(connection, plans):
        list_events(connection, EventFilter(ada.id, **filters), after=1, limit=2)
    assert index in plans[0]
