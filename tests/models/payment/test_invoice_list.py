"""A page begins at its position in the index, not at the index's first row."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Connection, event

from models.payment.event_list import EventFilter, list_events
from models.payment.invoice_list import InvoiceFilter, list_invoices
from specd.db import Database
from tests.support.payment.factories import Merchant, make_invoice


@contextmanager
def planning(connection: Connection, plans: list[str]) -> Iterator[None]:
    """Yield the plans of SQLite's SELECT statements."""

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


@pytest.mark.parametrize("filters", [{}, {"created_from": 1}, {"created_to": 2**45}])
def test_next_page_begins_at_its_position(
    database: Database, ada: Merchant, now: datetime, filters: dict[str, int]
) -> None:
    for _ in range(3):
        database.run(lambda session: make_invoice(session, ada, now=now))
    wanted = InvoiceFilter(ada.id, **filters)
    with database.reading() as connection:
        first = list_invoices(connection, wanted, cursor=None, limit=2, now=now)
        plans: list[str] = []
        with planning(connection, plans):
            list_invoices(connection, wanted, cursor=first.next_cursor, limit=2, now=now)
    assert "AND (project_id,created_at,id)<(?,?,?))" in plans[0]


@pytest.mark.parametrize(
    ("filters", "place"),
    [
        ({}, "ix_event_listed (project_id=? AND id>?"),
        (
            {"types": frozenset({"invoice.paid"})},
            "ix_event_listed_by_type (project_id=? AND type=? AND id>?",
        ),
        ({"invoice_id": "x"}, "ix_event_listed_by_invoice (invoice_id=? AND id>?"),
    ],
)
def test_events_begin_at_their_position(
    database: Database, ada: Merchant, filters: dict[str, Any], place: str
) -> None:
    plans: list[str] = []
    with database.reading() as connection, planning(connection, plans):
        list_events(connection, EventFilter(ada.id, **filters), after=0, limit=2)
    assert any(place in plan for plan in plans)
