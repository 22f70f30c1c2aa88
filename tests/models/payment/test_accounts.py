"""Events alone account for every atom: each state of an invoice with each possible step.

The states and the steps to them come from the life cycle (`stories`). The merchant here reads only
events.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.payment.settlement import apply_settlement, cancel_invoice
from models.payment.tables import Event, Invoice, Payment
from specd.db import Database
from tests.support.payment.factories import Merchant, make_invoice, make_payment
from tests.support.payment.states import STATES
from tests.support.payment.stories import EXPIRY, START, STEPS, State, Story, find_stories

AddressedEvent = Mapping[str, Any]
"""Type and data of one event."""


class Stage:
    """Plays a story on a database: writes what the watcher would write, and settles after each
    step.
    """

    def __init__(self, database: Database, merchant: Merchant) -> None:
        self.story = Story()
        self._database, self._merchant = database, merchant
        self._rows: list[int] = []
        self.invoice_id = database.run(self._open)

    def _open(self, session: Session) -> str:
        lifetime = EXPIRY - START
        made = make_invoice(
            session, self._merchant, now=START, amount="0.001", lifetime=lifetime
        )  # 1,000 atoms
        return made.id

    def play(self, step: str) -> None:
        was_canceled = self.story.canceled_at is not None
        STEPS[step](self.story)
        if self.story.canceled_at is not None and not was_canceled:
            self._database.run(self._cancel)
        self._database.run(self._write)
        self.story.settle()

    def _cancel(self, session: Session) -> None:
        cancel_invoice(session, project_id=self._merchant.id, invoice_id=self.invoice_id, now=START)

    def _write(self, session: Session) -> None:
        for at, each in enumerate(self.story.payments):
            if at == len(self._rows):
                row = make_payment(
                    session,
                    self.invoice_id,
                    at=each.block_timestamp,
                    amount=each.amount,
                    block_number=each.block_number,
                    block_hash=f"{self.invoice_id} {each.block_hash}"[-66:],
                    tx_hash=f"{self.invoice_id} {each.tx_hash}"[-66:],
                    status=each.status,
                )
                self._rows.append(row.id)
            elif each.status == "orphaned":
                self._set(session, at, "orphaned")
            else:
                self._set(session, at, "pending", where=Payment.status == "orphaned")
        apply_settlement(
            session,
            self.invoice_id,
            head_number=self.story.head,
            checkpoint_time=self.story.checkpoint,
            now=self.story.now,
        )

    def _set(self, session: Session, at: int, status: str, where: Any = True) -> None:
        change = update(Payment).where(Payment.id == self._rows[at], where).values(status=status)
        session.execute(change.execution_options(synchronize_session=False))

    def told(self) -> list[AddressedEvent]:
        with self._database.reading() as connection:
            rows = connection.execute(
                select(Event.type, Event.data)
                .where(Event.invoice_id == self.invoice_id)
                .order_by(Event.id)
            ).all()
        return [{"type": row.type, **orjson.loads(row.data)} for row in rows]

    def stored(self) -> tuple[State, int]:
        with self._database.reading() as connection:
            row = connection.execute(
                select(
                    Invoice.status,
                    Invoice.exception,
                    Invoice.amount_paid,
                    Invoice.amount_pending,
                ).where(Invoice.id == self.invoice_id)
            ).one()
        return (row.status, row.exception), row.amount_paid + row.amount_pending


def account(told: list[AddressedEvent]) -> Counter[tuple[str, str, int]]:
    """Return the merchant's balance of each transfer: received amounts minus reorganized ones."""
    held: Counter[tuple[str, str, int]] = Counter()
    for event in told:
        if event["type"] in ("invoice.payment_received", "invoice.payment_reorged"):
            payment = event["payment"]
            key = (payment["block_hash"], payment["tx_hash"], payment["log_index"])
            is_received = event["type"] == "invoice.payment_received"
            assert (payment["status"] == "orphaned") is not is_received
            held[key] += int(payment["amount"]) if is_received else -int(payment["amount"])
            assert payment in event["invoice"]["payments"]
    return held


@pytest.mark.parametrize("state", sorted(STATES), ids=" ".join)
def test_events_alone_reproduce_the_sums(database: Database, ada: Merchant, state: State) -> None:
    for step in STEPS:
        stage = Stage(database, ada)
        arrivals = 0
        for each in (*find_stories()[state], step):
            before = stage.story.status
            stage.play(each)
            arrivals += before != "paid" and stage.story.status == "paid"
            told = stage.told()
            held = account(told)
            sums = told[-1]["invoice"]
            assert stage.stored() == (stage.story.state, stage.story.received), (state, step)
            assert sum(held.values()) == stage.story.received, (state, step)
            assert set(held.values()) <= {0, *(p.amount for p in stage.story.payments)}
            assert int(sums["amount_paid"]) + int(sums["amount_pending"]) == stage.story.received
            assert (sums["status"], sums["exception"]) == stage.story.state, (state, step)
        kinds = [event["type"] for event in told]
        assert kinds.count("invoice.paid") == arrivals, (state, step, kinds)
        for place, kind in enumerate(kinds):
            if kind == "invoice.overpaid":
                assert "invoice.paid" in kinds[:place], (state, step, kinds)


class TestOneSettlement:
    def test_events_have_a_fixed_order(self, database: Database, ada: Merchant) -> None:
        """Dropped payments come first, then new payments, then the change of the invoice."""
        stage = Stage(database, ada)
        stage.play("all")
        stage.play("confirmations")
        before = len(stage.told())
        stage.story.drop(0)
        stage.story.pay(1200)
        stage.story.pay(100)
        stage.play("confirmations")
        told = stage.told()[before:]
        assert [(e["type"], e.get("payment", {}).get("amount")) for e in told] == [
            ("invoice.payment_reorged", "1000"),
            ("invoice.payment_received", "1200"),
            ("invoice.payment_received", "100"),
            ("invoice.overpaid", None),
        ]
        assert {orjson.dumps(event["invoice"]) for event in told} == {
            orjson.dumps(told[0]["invoice"])
        }, "every event shows the invoice after the change"

    def test_settlement_without_change_has_no_events(
        self, database: Database, ada: Merchant
    ) -> None:
        stage = Stage(database, ada)
        stage.play("all")
        before = len(stage.told())
        stage.play("the chain's time goes back")
        assert len(stage.told()) == before

    def test_moved_payment_is_reported_with_unchanged_sums(
        self, database: Database, ada: Merchant
    ) -> None:
        stage = Stage(database, ada)
        stage.play("a part")
        before = len(stage.told())
        stage.play("another block")
        kinds = [event["type"] for event in stage.told()[before:]]
        assert kinds == ["invoice.payment_reorged", "invoice.payment_received"]


def test_event_size_is_limited_with_many_payments(
    database: Database, ada: Merchant, now: datetime
) -> None:
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))

    def work(session: Session) -> None:
        for number in range(60):
            make_payment(session, invoice.id, at=now, amount=2**256 - 1, block_number=100 + number)
        apply_settlement(session, invoice.id, head_number=300, checkpoint_time=now, now=now)

    database.run(work)
    with database.reading() as connection:
        rows = connection.execute(
            select(Event.type, Event.data, Event.size).order_by(Event.id)
        ).all()
    told = [orjson.loads(row.data) for row in rows]
    assert max(row.size for row in rows) < 16 * 1024
    received = [e for e in told if "payment" in e]
    assert len(received) == 60
    for each in received:
        shown = [payment["block_number"] for payment in each["invoice"]["payments"]]
        assert shown == list(range(140, 160)), "the newest"
        assert each["invoice"]["payments_omitted"] == 40
    assert [each["payment"]["block_number"] for each in received] == list(range(100, 160))
    assert told[-1]["invoice"]["status"] == "paid"


def test_first_settlement_is_reported_once(
    database: Database, ada: Merchant, now: datetime
) -> None:
    """The second settlement finds no change."""
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))

    def work(session: Session) -> None:
        for number in range(5):
            make_payment(session, invoice.id, at=now, amount=1, block_number=100 + number)
        for _ in range(2):
            apply_settlement(session, invoice.id, head_number=100, checkpoint_time=now, now=now)

    database.run(work)
    with database.reading() as connection:
        kinds = connection.scalars(select(Event.type).order_by(Event.id)).all()
    assert Counter(kinds) == {
        "invoice.created": 1,
        "invoice.payment_received": 5,
        "invoice.partially_paid": 1,
    }
