"""export_invoices: lines, limits and early ends of an export."""

import csv
import io
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy.orm import Session

import specs
from handlers.payment import invoices
from models.payment import bookkeeping, keys
from models.payment.bookkeeping import COLUMNS
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant, make_invoice, pay

PATH = "/v1/invoices.csv"
ORDERS = ("order-1", "=1+1", "+1", "@SUM(A1)", "\t=1", 'a "b", c\nd', "zwölf")
FORMULAS = ("\n=1", "\r=1", "  =1", "\u3000=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201")


@pytest.fixture
def invoice_ids(database: Database, ada: Merchant, now: datetime) -> list[str]:
    """Create an invoice for each of `ORDERS`, oldest first. The first is overpaid."""

    def work(session: Session) -> list[str]:
        times = (now + timedelta(seconds=second) for second in range(len(ORDERS)))
        return [
            make_invoice(session, ada, now=at, external_order_id=order).id
            for at, order in zip(times, ORDERS, strict=True)
        ]

    made = database.run(work)
    pay(database, made[0], at=now, amount=12_500_001, head_number=200)
    return made


def export(api: ContractClient, **query: Any) -> list[dict[str, str]]:
    answer = api.get(f"{PATH}?{urlencode(query, doseq=True)}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].partition(";")[0] == "text/csv"
    text = answer.content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_has_a_line_for_each_invoice(api: ContractClient, invoice_ids: list[str]) -> None:
    rows = export(api)
    assert [row["invoice"] for row in rows] == invoice_ids[::-1]
    assert [*rows[0]] == [*COLUMNS]
    paid = rows[-1]
    read = api.get(f"/v1/invoices/{invoice_ids[0]}").json()
    assert paid["status"] == "paid"
    assert paid["amount_paid"] == "12.500001"
    assert paid["amount_paid_atoms"] == read["amount_paid"]
    assert paid["transactions"] == read["payments"][0]["tx_hash"]


def test_no_cell_is_a_formula(api: ContractClient, invoice_ids: list[str]) -> None:
    orders = [row["order"] for row in export(api, order="asc")]
    assert orders == ["order-1", "'=1+1", "'+1", "'@SUM(A1)", "'\t=1", 'a "b", c\nd', "zwölf"]


def test_file_is_utf_8_for_spreadsheets(api: ContractClient, invoice_ids: list[str]) -> None:
    answer = api.get(PATH)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.content.startswith(b"\xef\xbb\xbfinvoice,order,")


@pytest.mark.parametrize("order", FORMULAS)
def test_disguised_formula_is_inert(order: str) -> None:
    assert bookkeeping._inert(order) == f"'{order}"


def test_semicolon_does_not_begin_a_cell() -> None:
    assert bookkeeping._line(["a;=1", "b,", "c"]) == '"a;=1","b,",c\r\n'


def test_file_has_a_name(api: ContractClient, invoice_ids: list[str]) -> None:
    answer = api.get(PATH)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="invoices.csv"'
    assert answer.headers["Cache-Control"] == "no-store"


def test_empty_list(api: ContractClient) -> None:
    assert api.get(PATH).text == bookkeeping.BOM + ",".join(COLUMNS) + "\r\n"


@pytest.mark.parametrize("at_once", [1, 3, 7, 100])
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"order": "asc"},
        {"status": ["unpaid", "expired"]},
        {"exception": "over"},
        {"external_order_id": "=1+1"},
        {"updated_from": 0, "order": "asc", "payment_method_id": "tusd-local"},
    ],
    ids=str,
)
def test_export_equals_the_list(
    api: ContractClient,
    invoice_ids: list[str],
    query: dict[str, Any],
    at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bookkeeping, "AT_ONCE", at_once)
    listed = api.get(f"/v1/invoices?{urlencode(query, doseq=True)}").json()["data"]
    assert listed
    assert [row["invoice"] for row in export(api, **query)] == [each["id"] for each in listed]


def test_hides_other_projects(
    client: ContractClient, invoice_ids: list[str], ben: Merchant
) -> None:
    assert export(client.with_key(ben.key)) == []
    assert client.get(PATH).status_code == 401


def test_rejects_unknown_filters_and_page_parameters(api: ContractClient) -> None:
    for query in ("limit=1", "cursor=AAAA", "status=open", "order=up", "order=asc&order=asc"):
        answer = api.get(f"{PATH}?{query}")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


@pytest.mark.reaches("too_many_invoices")
def test_too_many_lines_are_rejected_before_the_first(
    api: ContractClient, invoice_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoices, "MAX_EXPORTED", len(invoice_ids))
    assert len(export(api)) == len(invoice_ids)
    monkeypatch.setattr(invoices, "MAX_EXPORTED", len(invoice_ids) - 1)
    answer = api.get(PATH)
    assert answer.status_code == 422
    assert answer.json() == {
        "code": "too_many_invoices",
        "message": f"More than {len(invoice_ids) - 1} invoices match these filters; export them in "
        "parts, using created_from and created_to.",
        "request_id": answer.headers["Request-Id"],
        "details": [],
    }
    assert len(export(api, status="unpaid")) == len(invoice_ids) - 1


def test_too_many_bytes_end_the_response(
    api: ContractClient, invoice_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bookkeeping, "AT_ONCE", 1)
    whole = len(api.get(PATH).content)
    monkeypatch.setattr(invoices, "MAX_EXPORTED_BYTES", whole)
    assert len(export(api)) == len(invoice_ids)
    monkeypatch.setattr(invoices, "MAX_EXPORTED_BYTES", whole - 1)
    check_cut_off(api)


def test_document_names_both_limits() -> None:
    operation = specs.load("payment-events")["paths"][PATH]["get"]
    assert f"More than {invoices.MAX_EXPORTED:,} invoices" in operation["description"]
    schema = operation["responses"]["200"]["content"]["text/csv"]["schema"]
    assert schema["maxLength"] == invoices.MAX_EXPORTED_BYTES


def test_revoked_key_ends_the_response(
    api: ContractClient,
    database: Database,
    ada: Merchant,
    now: datetime,
    invoice_ids: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bookkeeping, "AT_ONCE", 1)
    read = bookkeeping.read_lines

    def read_and_revoke(*values: Any, **named: Any) -> Any:
        result = read(*values, **named)
        monkeypatch.setattr(bookkeeping, "read_lines", read)
        key_id = ada.key.split("_")[2]
        database.run(lambda s: keys.revoke_key(s, key_id=key_id, now=now))
        return result

    monkeypatch.setattr(bookkeeping, "read_lines", read_and_revoke)
    check_cut_off(api)


def check_cut_off(api: ContractClient) -> None:
    """Check that an export begins and is incomplete."""
    with pytest.raises(AssertionError) as cut:
        api.get(PATH)
    assert cut.traceback[-1].path.parts[-3:] == ("httpx", "_transports", "asgi.py")
