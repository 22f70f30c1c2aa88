"""`specd payment export` writes each invoice once, as CSV that is safe in spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sqlalchemy.orm import Session

from models.payment.bookkeeping import COLUMNS, PAYMENT_COLUMNS
from models.payment.lifecycle import ORPHANED
from specd.db import Database
from tests.cli.runner import Specd
from tests.support.payment.factories import (
    Merchant,
    make_hash,
    make_invoice,
    make_merchant,
    make_payment,
    pay,
)

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
ORDERS = ("order-1", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", 'a "b", c\nd', "zwölf", "ok=")
SPREADSHEET = shutil.which("soffice")
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"


@pytest.fixture
def ada(migrated: Specd, database: Database) -> Merchant:
    """A merchant with an invoice for each of `ORDERS`. The first invoice is overpaid."""

    def work(session: Session) -> tuple[Merchant, list[str]]:
        merchant = make_merchant(session, now=START)
        made = [
            make_invoice(
                session, merchant, now=START + timedelta(minutes=number), external_order_id=order
            ).id
            for number, order in enumerate(ORDERS)
        ]
        orphan = {"status": ORPHANED, "tx_hash": make_hash("transaction", 10**6)}
        make_payment(session, made[0], at=START, log_index=3, block_number=99, **orphan)
        return merchant, made

    merchant, made = database.run(work)
    pay(database, made[0], at=START, amount=12_500_001, head_number=200)
    return merchant


def read_csv(specd: Specd, merchant: Merchant, *words: str) -> list[dict[str, str]]:
    status, out, err = specd(
        "payment", "export", "--project", merchant.id, "--format", "csv", *words
    )
    assert (status, err) == (0, "")
    assert out.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(out[1:], newline="")))


def test_json_lines_match_the_invoices_of_the_api(specd: Specd, ada: Merchant) -> None:
    status, out, err = specd("payment", "export", "--project", ada.id)
    assert (status, err) == (0, "")
    invoices = [json.loads(line) for line in out.splitlines()]
    assert [invoice["external_order_id"] for invoice in invoices] == list(reversed(ORDERS))
    assert (invoices[-1]["status"], invoices[-1]["exception"]) == ("paid", "over")
    assert len(invoices[-1]["payments"]) == 2


def test_csv_has_a_line_for_each_invoice(specd: Specd, ada: Merchant) -> None:
    *others, paid = read_csv(specd, ada)
    assert list(paid) == list(COLUMNS)
    assert paid["amount"] == "12.5"
    assert paid["amount_paid"] == "12.500001"
    assert paid["amount_paid_atoms"] == "12500001"
    assert paid["amount_overpaid_atoms"] == "1"
    assert paid["created_at"] == "2026-11-21 12:00:00"
    assert paid["transactions"].count("0x") == 1, "orphaned payments must not count"
    assert len(others) == len(ORDERS) - 1


def test_csv_has_a_line_for_each_payment(specd: Specd, ada: Merchant) -> None:
    (row,) = read_csv(specd, ada, "--payments")
    assert list(row) == list(PAYMENT_COLUMNS)
    assert (row["amount"], row["amount_atoms"]) == ("12.500001", "12500001")
    assert (row["received_at"], row["order"]) == ("2026-11-21 12:00:00", "order-1")
    assert read_csv(specd, ada, "--payments", "--to", "2026-11-21T12:00:00Z") == []
    status, out, _ = specd("payment", "export", "--project", ada.id, "--payments")
    assert status == 0
    line = json.loads(out)
    assert (line["tx_hash"], line["amount"]) == (row["transaction"], row["amount_atoms"])


def test_order_names_are_never_formulas(specd: Specd, ada: Merchant) -> None:
    orders = [row["order"] for row in reversed(read_csv(specd, ada))]
    dangerous = ORDERS[1:6]
    assert orders == [ORDERS[0], *(f"'{order}" for order in dangerous), *ORDERS[6:]]


def test_period_limits_the_export(specd: Specd, ada: Merchant) -> None:
    rows = read_csv(specd, ada, "--from", "2026-11-21T12:01:00Z", "--to", "2026-11-21T12:03:00Z")
    assert [row["order"] for row in rows] == ["'+1", "'=1+1"]
    assert read_csv(specd, ada, "--from", "2026-11-22") == []


def test_pages_are_continuous(
    specd: Specd, ada: Merchant, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.payment.bookkeeping.AT_ONCE", 4)
    assert len({row["invoice"] for row in read_csv(specd, ada)}) == len(ORDERS)


def test_unknown_project_is_rejected(migrated: Specd) -> None:
    nobody = "00000000-0000-4000-8000-000000000000"
    assert "project" in migrated.refusal("payment", "export", "--project", nobody)


@pytest.mark.skipif(SPREADSHEET is None, reason="LibreOffice (libreoffice-calc-nogui) is not here")
def test_spreadsheet_shows_amounts_and_times(specd: Specd, ada: Merchant, tmp_path: Path) -> None:
    _, out, _ = specd("payment", "export", "--project", ada.id, "--format", "csv")
    (tmp_path / "invoices.csv").write_text(out, newline="")
    assert SPREADSHEET is not None
    subprocess.run(
        [SPREADSHEET, "--headless", f"-env:UserInstallation=file://{tmp_path}/profile",
         "--infilter=Text - txt - csv (StarCalc):44,34,76,1,,1033,false,true",
         "--convert-to", "fods", "--outdir", tmp_path, tmp_path / "invoices.csv"],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    rows = list(ElementTree.parse(tmp_path / "invoices.fods").iter(f"{TABLE}table-row"))
    rows = [row for row in rows if len(_cells(row)) >= len(COLUMNS)]
    assert len(rows) == 1 + len(ORDERS)
    paid = dict(zip(COLUMNS, _cells(rows[len(ORDERS)]), strict=False))
    assert paid["amount"].get(f"{OFFICE}value") == "12.5"
    assert paid["amount_paid"].get(f"{OFFICE}value") == "12.500001"
    assert paid["created_at"].get(f"{OFFICE}date-value") == "2026-11-21T12:00:00"
    formulas = [cell for row in rows for cell in _cells(row) if cell.get(f"{TABLE}formula")]
    assert formulas == []


def _cells(row: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the cells of a row, with repeated cells repeated."""
    return [
        cell
        for cell in row.iter(f"{TABLE}table-cell")
        for _ in range(min(int(cell.get(f"{TABLE}number-columns-repeated", 1)), 30))
    ]
