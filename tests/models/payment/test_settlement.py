"""Changes of an invoice's row: stored values, appended events, and the winner of a race."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update
from structlog.testing import capture_logs

from models.payment.errors import InvoiceDoesNotExist, InvoiceNotCancelable
from models.payment.invoice_view import InvoiceView, access_invoice
from models.payment.settlement import apply_settlement, cancel_invoice
from models.payment.tables import InvoiceEvent, Payment
from specd.db import Database
from tests.support.payment.factories import Merchant, make_invoice, pay


@pytest.fixture
def invoice(database: Database, ada: Merchant, now: datetime) -> InvoiceView:
    return database.run(lambda session: make_invoice(session, ada, now=now))


def read(
    database: Database, merchant: Merchant, invoice: InvoiceView, now: datetime
) -> InvoiceView:
    with database.reading() as connection:
        return access_invoice(connection, project_id=merchant.id, invoice_id=invoice.id, now=now)


def events(database: Database) -> list[tuple[str, str | None, str, str]]:
    with database.reading() as connection:
        columns = (
            InvoiceEvent.kind,
            InvoiceEvent.from_status,
            InvoiceEvent.to_status,
            InvoiceEvent.exception,
        )
        return [
            tuple(row) for row in connection.execute(select(*columns).order_by(InvoiceEvent.id))
        ]


def settle(database: Database, invoice: InvoiceView, *, head: int, now: datetime) -> None:
    database.run(
        lambda session: apply_settlement(
            session, invoice.id, head_number=head, checkpoint_time=now, now=now
        )
    )


def orphan(database: Database) -> None:
    database.run(lambda session: session.execute(update(Payment).values(status="orphaned")))


class TestApplySettlement:
    def test_each_step_appends_its_event(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        pay(database, invoice.id, at=now, amount=500_000, block_number=100)
        pay(database, invoice.id, at=now, amount=12_000_000, block_number=101)
        settle(database, invoice, head=102, now=now)
        assert events(database) == [
            ("created", None, "unpaid", "none"),
            ("partial", "unpaid", "unpaid", "partial"),
            ("processing", "unpaid", "processing", "none"),
            ("paid", "processing", "paid", "none"),
        ]

    def test_unchanged_invoice_appends_nothing(
        self, database: Database, ada: Merchant, invoice: InvoiceView, now: datetime
    ) -> None:
        pay(database, invoice.id, at=now)
        before = read(database, ada, invoice, now)
        settle(database, invoice, head=100, now=now + timedelta(seconds=5))
        assert read(database, ada, invoice, now) == before
        assert len(events(database)) == 2

    def test_event_contains_the_amounts(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        pay(database, invoice.id, at=now, amount=2**255)
        with database.reading() as connection:
            facts = connection.execute(
                select(InvoiceEvent.facts).order_by(InvoiceEvent.id.desc()).limit(1)
            ).scalar_one()
        assert json.loads(facts) == {
            "amount_paid": "0",
            "amount_pending": str(2**255),
            "head_number": 100,
        }

    def test_reorganization_of_a_paid_invoice_is_flagged(
        self, database: Database, ada: Merchant, invoice: InvoiceView, now: datetime
    ) -> None:
        pay(database, invoice.id, at=now, head_number=105)
        orphan(database)
        with capture_logs() as lines:
            settle(database, invoice, head=105, now=now)
        assert lines == [
            {
                "event": "paid_invoice_reorged",
                "log_level": "error",
                "invoice": invoice.id,
                "status": "unpaid",
            }
        ]
        view = read(database, ada, invoice, now)
        assert (view.status, view.exception, view.amount_paid) == ("unpaid", "reorged", 0)
        assert [(p.status, p.confirmations) for p in view.payments] == [("orphaned", 0)]

    def test_invoice_expires_permanently_after_the_chain_was_read_past_the_expiry(
        self, database: Database, ada: Merchant, invoice: InvoiceView, now: datetime
    ) -> None:
        later = now + timedelta(minutes=31)
        settle(database, invoice, head=100, now=later)
        assert read(database, ada, invoice, now).status == "expired", "stored, not computed"
        assert events(database)[-1] == ("expired", "unpaid", "expired", "none")

    def test_totals_beyond_uint256_are_accepted(
        self, database: Database, ada: Merchant, invoice: InvoiceView, now: datetime
    ) -> None:
        largest = 2**256 - 1
        for block in range(100, 112):
            pay(database, invoice.id, at=now, amount=largest, block_number=block, head_number=200)
        assert read(database, ada, invoice, now).amount_paid == 12 * largest

    def test_unknown_invoice_is_not_found(self, database: Database, now: datetime) -> None:
        with pytest.raises(InvoiceDoesNotExist):
            database.run(
                lambda s: apply_settlement(s, "nobody", head_number=1, checkpoint_time=now, now=now)
            )


class TestCancelAgainstPayment:
    def test_exactly_one_wins(self, database: Database, ada: Merchant, now: datetime) -> None:
        """The cancellation and the watcher's transaction start together, twenty times."""

        def cancel(invoice_id: str) -> bool:
            try:
                database.run(
                    lambda s: cancel_invoice(s, project_id=ada.id, invoice_id=invoice_id, now=now)
                )
            except InvoiceNotCancelable:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            for _ in range(20):
                invoice = database.run(lambda session: make_invoice(session, ada, now=now))
                paying = pool.submit(pay, database, invoice.id, at=now, head_number=105)
                canceling = pool.submit(cancel, invoice.id)
                paying.result()
                view = read(database, ada, invoice, now)
                expected = ("canceled", "late") if canceling.result() else ("paid", "none")
                assert (view.status, view.exception) == expected
