"""The tolerance of a project: invoices that it completes, and where it is shown."""

import csv
import io
from datetime import datetime

import pytest

from models.payment import projects
from models.payment.errors import InvalidTolerance
from models.payment.projects import MAX_TOLERANCE_PPM, check_tolerance, write_tolerance
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant, make_invoice, pay

AMOUNT = 12_500_000
MISSING = 12_500
"""0.1 % of the amount."""


def set_tolerance(database: Database, ada: Merchant, text: str) -> None:
    ppm = check_tolerance(text)
    database.run(lambda session: projects.set_tolerance(session, project_id=ada.id, ppm=ppm))


@pytest.mark.parametrize(
    ("arrived", "status", "exception", "tolerated"),
    [
        (AMOUNT - MISSING - 1, "unpaid", "partial", 0),
        (AMOUNT - MISSING, "paid", "none", MISSING),
        (AMOUNT - 1, "paid", "none", 1),
        (AMOUNT, "paid", "none", 0),
        (AMOUNT + 1, "paid", "over", 0),
    ],
)
def test_small_missing_amount_is_tolerated(
    api: ContractClient,
    database: Database,
    ada: Merchant,
    now: datetime,
    arrived: int,
    status: str,
    exception: str,
    tolerated: int,
) -> None:
    set_tolerance(database, ada, "0.1%")
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))
    pay(database, invoice.id, at=now, amount=arrived, head_number=200)
    (listed,) = api.get("/v1/invoices").json()["data"]
    assert (listed["status"], listed["exception"]) == (status, exception)
    shown = str(tolerated) if tolerated else None
    assert listed.get("amount_tolerated") == shown
    notes = api.get(f"/v1/invoices/{invoice.id}/metadata").json()
    assert notes.get("amount_tolerated") == shown
    events = api.get("/v1/events").json()["data"]
    paid = [event for event in events if event["type"] == "invoice.paid"]
    assert len(paid) == (status == "paid")
    assert all(event["data"]["invoice"].get("amount_tolerated") == shown for event in paid)
    text = api.get("/v1/invoices.csv").content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["amount_tolerated_atoms"] == str(tolerated)
    read = api.get(f"/v1/invoices/{invoice.id}").json()
    assert "amount_tolerated" not in read
    assert int(read["amount_remaining"]) == max(0, AMOUNT - arrived)


def test_remainder_may_still_arrive(
    api: ContractClient, database: Database, ada: Merchant, now: datetime
) -> None:
    set_tolerance(database, ada, "0.1%")
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))
    pay(database, invoice.id, at=now, amount=AMOUNT - 1, head_number=200)
    pay(database, invoice.id, at=now, amount=1, block_number=101, head_number=201)
    (listed,) = api.get("/v1/invoices").json()["data"]
    assert (listed["status"], listed["exception"]) == ("paid", "none")
    assert "amount_tolerated" not in listed
    types = [event["type"] for event in api.get("/v1/events").json()["data"]]
    assert types.count("invoice.paid") == 1
    assert types[-1] == "invoice.payment_received"


def test_default_is_zero(
    api: ContractClient, database: Database, ada: Merchant, now: datetime
) -> None:
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))
    set_tolerance(database, ada, "10%")
    pay(database, invoice.id, at=now, amount=AMOUNT - 1, head_number=200)
    (listed,) = api.get("/v1/invoices").json()["data"]
    assert (listed["status"], listed["exception"]) == ("unpaid", "partial"), "it was set later"


@pytest.mark.parametrize(
    ("text", "ppm"),
    [("0.1%", 1000), ("none", 0), ("0%", 0), ("0.0001 %", 1), ("10%", 100_000), ("2.50%", 25_000)],
)
def test_percentage_is_exact(text: str, ppm: int) -> None:
    assert check_tolerance(text) == ppm
    assert check_tolerance(write_tolerance(ppm)) == ppm


@pytest.mark.parametrize(
    "text",
    ["0.1", "", "%", "10.0001%", "99%", "-1%", "0.00001%", "0,1%", "\u0661%", "0.1%\n", "1e1%"],
)
def test_other_text_is_rejected(text: str) -> None:
    with pytest.raises(InvalidTolerance):
        check_tolerance(text)
    assert MAX_TOLERANCE_PPM == 100_000
