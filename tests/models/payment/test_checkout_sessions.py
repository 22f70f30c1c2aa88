"""Contents of the checkout page for a token."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from models.payment.checkout_sessions import CheckoutView, create_checkout_session, find_checkout
from models.payment.errors import InvoiceDoesNotExist, InvoiceNotPayable
from models.payment.invoice_view import InvoiceView
from specd.db import Database
from tests.support.payment.factories import (
    ADA_DEPOSITS,
    LIFETIME,
    TOKEN,
    Merchant,
    make_invoice,
    pay,
)


@pytest.fixture
def invoice(database: Database, ada: Merchant, now: datetime) -> InvoiceView:
    return database.run(lambda session: make_invoice(session, ada, now=now))


@pytest.fixture
def token(database: Database, ada: Merchant, invoice: InvoiceView, now: datetime) -> str:
    return open_session(database, ada, invoice.id, now)


def open_session(database: Database, merchant: Merchant, invoice_id: str, now: datetime) -> str:
    return database.run(
        lambda session: create_checkout_session(
            session, project_id=merchant.id, invoice_id=invoice_id, lifetime=LIFETIME, now=now
        )
    )[1]


class TestFindCheckout:
    def test_checkout_has_all_fields_of_the_page(
        self, database: Database, invoice: InvoiceView, token: str, now: datetime
    ) -> None:
        deposit = ADA_DEPOSITS[0]
        with database.reading() as connection:
            view = find_checkout(connection, token, now)
        assert view == CheckoutView(
            invoice_id=invoice.id,
            merchant="Ada's Books",
            external_order_id=invoice.external_order_id,
            status="unpaid",
            exception="none",
            amount=12_500_000,
            amount_paid=0,
            amount_pending=0,
            amount_remaining=12_500_000,
            amount_overpaid=0,
            decimals=6,
            token_symbol="TUSD",
            token_address=TOKEN,
            chain_id=31337,
            chain_name="Local test chain",
            deposit_address=deposit,
            payment_uri=f"ethereum:{TOKEN}@31337/transfer?address={deposit}&uint256=12500000",
            confirmations=0,
            confirmations_required=2,
            expires_at=now + LIFETIME,
            success_url=None,
            cancel_url=None,
            session_expires_at=now + LIFETIME,
            now=now,
        )

    def test_confirmations_are_those_of_the_youngest_payment(
        self, database: Database, invoice: InvoiceView, token: str, now: datetime
    ) -> None:
        pay(database, invoice.id, at=now, amount=1, block_number=100)
        pay(database, invoice.id, at=now, amount=1, block_number=104, head_number=105)
        with database.reading() as connection:
            view = find_checkout(connection, token, now)
        assert view is not None
        assert (view.confirmations, view.amount_paid, view.exception) == (2, 2, "partial")

    def test_ended_session_is_shown_as_ended(
        self, database: Database, token: str, now: datetime
    ) -> None:
        later = now + timedelta(hours=1)
        with database.reading() as connection:
            view = find_checkout(connection, token, later)
        assert view is not None
        assert (view.status, view.now > view.session_expires_at) == ("expired", True)

    def test_altered_token_is_not_found(
        self, database: Database, token: str, now: datetime
    ) -> None:
        altered = [
            "",
            token[:-1],
            token + "A",
            token + "\n",
            token.swapcase(),
            "A" * 43,
            "\u00fc" * 43,
        ]
        with database.reading() as connection:
            assert [find_checkout(connection, each, now) for each in altered] == [None] * 7

    def test_token_is_not_in_the_database(self, database: Database, token: str) -> None:
        with database.reading() as connection:
            row = connection.execute(text("SELECT * FROM checkout_session")).one()
        assert token not in str(row)


class TestCreateCheckoutSession:
    def test_unpayable_or_missing_invoice_is_rejected(
        self, database: Database, ada: Merchant, ben: Merchant, invoice: InvoiceView, now: datetime
    ) -> None:
        with pytest.raises(InvoiceDoesNotExist):
            open_session(database, ben, invoice.id, now)
        with pytest.raises(InvoiceNotPayable):
            open_session(database, ada, invoice.id, now + timedelta(hours=1))
