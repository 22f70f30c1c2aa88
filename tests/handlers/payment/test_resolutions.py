"""resolve_invoice: invoices that can be resolved, the result, and changes that undo it."""

import csv
import io
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

import specs
from models.payment import settlement
from models.payment.lifecycle import ORPHANED
from models.payment.resolutions import REASONS
from models.payment.tables import InvoiceEvent, Payment
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import LIFETIME, Merchant, make_invoice, pay

HASH = "0x" + "7C" * 32
PART = 5_000_000
AFTER = LIFETIME + timedelta(seconds=1)


class Stage:
    """An invoice of Ada's and actions on it."""

    def __init__(
        self, api: ContractClient, database: Database, clock: FrozenClock, ada: Merchant
    ) -> None:
        self.api, self.database, self.clock = api, database, clock
        self.start = clock.now()
        self.id = database.run(lambda session: make_invoice(session, ada, now=self.start)).id
        self.block = 100

    def pay(self, amount: int = 12_500_000, *, late: bool = False, head: int | None = None) -> Any:
        self.block += 1
        at = self.start + (AFTER if late else timedelta())
        return pay(
            self.database,
            self.id,
            at=at,
            amount=amount,
            block_number=self.block,
            head_number=self.block + 50 if head is None else head,
        )

    def settle(self, at: datetime) -> None:
        self.database.run(
            lambda session: settlement.apply_settlement(
                session, self.id, head_number=200, checkpoint_time=at, now=at
            )
        )

    def expire(self) -> None:
        self.settle(self.start + AFTER)

    def cancel(self) -> None:
        headers = {"Idempotency-Key": "cancel-it"}
        assert self.api.post(f"/v1/invoices/{self.id}/cancel", headers=headers).status_code == 200

    def drop(self, payment_id: int) -> None:
        def work(session: Session) -> None:
            change = update(Payment).where(Payment.id == payment_id)
            session.execute(change.values(status=ORPHANED))

        self.database.run(work)
        self.settle(self.clock.now())

    def resolve(self, **body: Any) -> Any:
        return self.api.post(
            f"/v1/invoices/{self.id}/resolution", json={"reason": "accepted"} | body
        )

    @property
    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.get("/v1/events?limit=100").json()["data"]
        return found

    @property
    def listed(self) -> dict[str, Any]:
        ((found,),) = (self.api.get("/v1/invoices").json()["data"],)
        return dict(found)


@pytest.fixture
def stage(api: ContractClient, database: Database, clock: FrozenClock, ada: Merchant) -> Stage:
    return Stage(api, database, clock, ada)


def expire_by_the_clock(stage: Stage) -> None:
    stage.pay(PART)
    stage.clock.advance(seconds=AFTER.total_seconds())


def expire_with_a_part(stage: Stage) -> None:
    stage.pay(PART)
    stage.expire()


def pay_late(stage: Stage) -> None:
    stage.expire()
    stage.pay(late=True)


def pay_canceled(stage: Stage) -> None:
    stage.cancel()
    stage.pay(PART)


def lose_money(stage: Stage) -> None:
    payment = stage.pay()
    stage.clock.advance(seconds=AFTER.total_seconds())
    stage.drop(payment.id)


CASES: dict[str, tuple[Callable[[Stage], Any], bool]] = {
    "unpaid": (lambda stage: None, False),
    "a part": (lambda stage: stage.pay(PART), False),
    "processing": (lambda stage: stage.pay(head=101), False),
    "expired by the clock": (expire_by_the_clock, False),
    "expired without money": (lambda stage: stage.expire(), False),
    "canceled without money": (lambda stage: stage.cancel(), False),
    "paid": (lambda stage: stage.pay(), True),
    "overpaid": (lambda stage: stage.pay(12_500_001), True),
    "expired with a part": (expire_with_a_part, True),
    "expired, late": (pay_late, True),
    "canceled, late": (pay_canceled, True),
    "expired, reorged": (lose_money, True),
}


@pytest.mark.parametrize("name", [name for name, (_, may) in CASES.items() if may])
def test_finished_invoice_with_money_is_resolved(stage: Stage, name: str) -> None:
    CASES[name][0](stage)
    before = stage.api.get(f"/v1/invoices/{stage.id}").json()
    stage.clock.advance(seconds=1)
    answer = stage.resolve(reason="refunded", note="By hand", refund_tx_hash=HASH)
    assert answer.status_code == 200, answer.text
    at = UtcMs.to_ms(stage.clock.now())
    resolution = {
        "reason": "refunded",
        "note": "By hand",
        "refund_tx_hash": HASH.lower(),
        "resolved_at": at,
    }
    invoice = before | {"updated_at": at, "resolution": resolution}
    assert answer.json() == invoice
    assert stage.listed == invoice
    assert stage.api.get(f"/v1/invoices/{stage.id}/metadata").json()["resolution"] == resolution
    event = stage.events[-1]
    assert (event["type"], event["data"]) == ("invoice.resolved", {"invoice": invoice})
    assert stage.api.get(f"/v1/invoices/{stage.id}").json() == before | {"updated_at": at}
    text = stage.api.get("/v1/invoices.csv").content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["resolution"], row["resolution_note"]) == ("refunded", "By hand")
    assert row["refund_transaction"] == HASH.lower()
    for resolved, count in (("true", 1), ("false", 0)):
        page = stage.api.get(f"/v1/invoices?resolved={resolved}").json()
        assert len(page["data"]) == count


@pytest.mark.reaches("invoice_not_resolvable")
@pytest.mark.parametrize("name", [name for name, (_, may) in CASES.items() if not may])
def test_open_invoice_or_invoice_without_money_is_rejected(stage: Stage, name: str) -> None:
    CASES[name][0](stage)
    count = len(stage.events)
    answer = stage.resolve()
    assert (answer.status_code, answer.json()["code"]) == (409, "invoice_not_resolvable")
    assert len(stage.events) == count
    assert "resolution" not in stage.listed


def test_equal_resolution_changes_nothing(stage: Stage) -> None:
    stage.pay()
    first = stage.resolve(note="x").json()
    count = len(stage.events)
    stage.clock.advance(seconds=1)
    assert stage.resolve(note="x").json() == first
    assert len(stage.events) == count
    other = stage.resolve(reason="written_off").json()
    assert other["resolution"]["reason"] == "written_off"
    assert other["resolution"]["note"] == ""
    assert len(stage.events) == count + 1


@pytest.mark.parametrize("change", ["more", "less"])
def test_new_payment_removes_the_resolution(stage: Stage, database: Database, change: str) -> None:
    stage.expire()
    payment = stage.pay(late=True)
    stage.resolve(reason="refunded", refund_tx_hash=HASH)
    count = len(stage.events)
    if change == "more":
        stage.pay(7, late=True)
    else:
        stage.drop(payment.id)
    event = stage.events[count]
    kind = "received" if change == "more" else "reorged"
    assert event["type"] == f"invoice.payment_{kind}"
    assert "resolution" not in event["data"]["invoice"]
    assert "resolution" not in stage.listed
    with database.reading() as reader:
        facts = reader.execute(
            select(InvoiceEvent.facts).where(InvoiceEvent.kind == "resolved")
        ).scalar_one()
    assert json.loads(facts)["refund_tx_hash"] == HASH.lower(), "the bookkeeping keeps it"


def test_confirmations_keep_the_resolution(stage: Stage) -> None:
    stage.expire()
    stage.pay(late=True, head=101)
    stage.resolve()
    stage.settle(stage.start + AFTER)
    assert stage.listed["payments"][0]["status"] == "confirmed"
    assert stage.listed["resolution"]["reason"] == "accepted"


def test_reasons_are_those_of_the_document(stage: Stage) -> None:
    schema = specs.load("payment-events")["components"]["schemas"]["ResolutionReason"]
    assert schema["enum"] == list(REASONS)
    stage.pay()
    for body in ({"reason": "gone"}, {"note": "n" * 501}, {"refund_tx_hash": "0x1"}, {"x": 1}):
        answer = stage.resolve(**body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), body
