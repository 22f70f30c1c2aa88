"""The trace context of a request is stored with the events that it causes."""

import pytest
from sqlalchemy import select

from models.payment.tables import Event
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.invoices import ORDER, PATH, create

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def stored(database: Database) -> list[str | None]:
    """Return the trace contexts of all events, in order."""
    with database.reading() as reader:
        return list(reader.execute(select(Event.traceparent).order_by(Event.id)).scalars())


@pytest.mark.parametrize("header", [TRACEPARENT, TRACEPARENT.upper(), "x" * 8000])
def test_well_formed_context_is_stored(
    header: str, api: ContractClient, database: Database
) -> None:
    headers = {"Idempotency-Key": "traced-order-1", "traceparent": header}
    answer = api.post(PATH, json=ORDER, headers=headers)
    assert answer.status_code == 201
    assert stored(database) == [TRACEPARENT if header == TRACEPARENT else None]


def test_next_request_does_not_inherit_the_context(api: ContractClient, database: Database) -> None:
    headers = {"Idempotency-Key": "traced-order-1", "traceparent": TRACEPARENT}
    api.post(PATH, json=ORDER, headers=headers)
    create(api, external_order_id="order-2")
    assert stored(database) == [TRACEPARENT, None]
