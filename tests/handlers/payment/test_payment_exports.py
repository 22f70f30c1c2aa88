"""export_payments: a line for each payment that counts, with its date."""

import csv
import io
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

import specs
from handlers.payment import invoices
from models.payment import bookkeeping, settlement
from models.payment.bookkeeping import PAYMENT_COLUMNS
from models.payment.invoice_view import InvoiceView
from models.payment.lifecycle import ORPHANED
from models.payment.tables import Payment
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.payment.factories import (
    LIFETIME,
    Merchant,
    make_invoice,
    make_payment,
    pay,
    set_head,
)

PATH = "/v1/payments.csv"
PARTS = (5_000_000, 1, 12_500_000)
SECOND = timedelta(seconds=1)


def export(api: ContractClient, **query: Any) -> list[dict[str, str]]:
    answer = api.get(f"{PATH}?{urlencode(query)}")
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))


@pytest.fixture
def partial(database: Database, ada: Merchant, now: datetime) -> InvoiceView:
    """An invoice that was paid in `PARTS`, a second apart, the last of them late."""
    invoice = database.run(lambda s: make_invoice(s, ada, now=now, external_order_id="=1+1"))
    for number, amount in enumerate(PARTS):
        at = now + LIFETIME + (number - 1) * SECOND
        pay(database, invoice.id, at=at, amount=amount, block_number=100 + number)
    return invoice


def test_late_and_partial_payments_have_a_date(
    api: ContractClient, partial: InvoiceView, now: datetime
) -> None:
    rows = export(api, order="asc")
    assert [*rows[0]] == [*PAYMENT_COLUMNS]
    assert [row["amount_atoms"] for row in rows] == [str(amount) for amount in PARTS]
    assert [row["amount"] for row in rows] == ["5", "0.000001", "12.5"]
    assert [row["late"] for row in rows] == ["false", "false", "true"]
    assert [row["received_at"] for row in rows] == [
        (now + LIFETIME + n * SECOND).strftime("%Y-%m-%d %H:%M:%S") for n in (-1, 0, 1)
    ]
    shown = api.get(f"/v1/invoices/{partial.id}").json()
    for row, payment in zip(rows, shown["payments"], strict=True):
        assert row["transaction"] == payment["tx_hash"]
        assert row["sender"] == payment["from"]
        assert (row["block"], row["block_hash"]) == (
            str(payment["block_number"]),
            payment["block_hash"],
        )
        assert row["status"] == payment["status"]
        assert (row["invoice"], row["order"], row["attempt"]) == (partial.id, "'=1+1", "1")
    total = int(shown["amount_paid"]) + int(shown["amount_pending"])
    assert sum(int(row["amount_atoms"]) for row in rows) == total


def test_filter_by_time_of_receipt(
    api: ContractClient, partial: InvoiceView, now: datetime
) -> None:
    at = UtcMs.to_ms(now + LIFETIME)
    assert [row["amount_atoms"] for row in export(api, received_from=at)] == ["12500000", "1"]
    assert [row["amount_atoms"] for row in export(api, received_to=at)] == ["5000000"]
    assert len(export(api, received_from=at, received_to=at + 1)) == 1
    assert export(api, received_from=at + 1, received_to=at + 1000) == []


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_pages_omit_and_repeat_nothing(
    api: ContractClient,
    database: Database,
    partial: InvoiceView,
    now: datetime,
    order: str,
    at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(3):  # with equal times
        pay(database, partial.id, at=now + LIFETIME, amount=7 + number, block_number=110 + number)
    all_lines = export(api, order=order)
    assert sorted(int(row["amount_atoms"]) for row in all_lines) == [1, 7, 8, 9, *PARTS[::2]]
    monkeypatch.setattr(bookkeeping, "AT_ONCE", at_once)
    assert export(api, order=order) == all_lines


def test_dropped_payment_is_omitted(
    api: ContractClient, database: Database, ada: Merchant, now: datetime
) -> None:
    invoice = database.run(lambda s: make_invoice(s, ada, now=now))
    payment = pay(database, invoice.id, at=now, amount=4)
    assert len(export(api)) == 1

    def drop(session: Session) -> None:
        session.execute(update(Payment).where(Payment.id == payment.id).values(status=ORPHANED))
        settlement.apply_settlement(
            session, invoice.id, head_number=101, checkpoint_time=now, now=now
        )

    database.run(drop)
    assert export(api) == []


def test_rows_of_an_earlier_release_are_listed(
    api: ContractClient, database: Database, ada: Merchant, now: datetime
) -> None:
    invoice = database.run(lambda s: make_invoice(s, ada, now=now))

    def by_the_older_server(session: Session) -> None:
        make_payment(session, invoice.id, at=now + SECOND, amount=3)
        set_head(session, head_number=100, at=now)

    pay(database, invoice.id, at=now, amount=2, block_number=99)
    pay(database, invoice.id, at=now + 2 * SECOND, amount=5, block_number=101)
    database.run(by_the_older_server)
    for order, amounts in (("asc", ["2", "3", "5"]), ("desc", ["5", "3", "2"])):
        assert [row["amount_atoms"] for row in export(api, order=order)] == amounts
    since = UtcMs.to_ms(now + SECOND)
    assert [row["amount_atoms"] for row in export(api, received_from=since)] == ["5", "3"]
    assert [row["amount_atoms"] for row in export(api, received_to=since)] == ["2"]


def test_hides_other_projects(client: ContractClient, partial: InvoiceView, ben: Merchant) -> None:
    assert export(client.with_key(ben.key)) == []


def test_file_is_utf_8_for_spreadsheets(api: ContractClient, partial: InvoiceView) -> None:
    answer = api.get(PATH)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="payments.csv"'
    assert answer.content.startswith(b"\xef\xbb\xbfreceived_at,amount,")


@pytest.mark.reaches("too_many_payments")
def test_too_many_lines_are_rejected_before_the_first(
    api: ContractClient, partial: InvoiceView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoices, "MAX_EXPORTED", len(PARTS))
    assert len(export(api)) == len(PARTS)
    monkeypatch.setattr(invoices, "MAX_EXPORTED", len(PARTS) - 1)
    answer = api.get(PATH)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_payments")
    assert "received_from" in answer.json()["message"]


def test_document_names_both_limits_and_all_columns() -> None:
    operation = specs.load("payment-events")["paths"][PATH]["get"]
    assert f"More than {invoices.MAX_EXPORTED:,} payments" in operation["description"]
    media = operation["responses"]["200"]["content"]["text/csv"]
    assert media["schema"]["maxLength"] == invoices.MAX_EXPORTED_BYTES
    first = media["examples"]["one"]["value"].partition("\r\n")[0]
    assert first.split(",") == [*PAYMENT_COLUMNS]
