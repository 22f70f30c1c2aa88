"""pay_invoice and expire_invoice: invoices, amounts, ways of paying and waiting times."""

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
import pytest

from models.payment.settlement import cancel_invoice
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import LIFETIME, Merchant, make_invoice, pay, set_head
from tests.support.payment.invoices import error

HELPERS = "/v1/test-helpers/invoices"
AMOUNT = 12_500_000
Send = Callable[..., httpx.Response]


@pytest.fixture
def invoice_id(database: Database, ada: Merchant, now: datetime) -> str:
    return database.run(lambda session: make_invoice(session, ada, now=now)).id


@pytest.fixture
def send(api: ContractClient, invoice_id: str) -> Send:
    """Pay the invoice."""
    return lambda **body: api.post(f"{HELPERS}/{invoice_id}/payments", json=body)


class TestPayInvoice:
    def test_pays_the_full_amount_immediately(
        self, send: Send, payment_app: PaymentApp, invoice_id: str
    ) -> None:
        answer = send()
        assert answer.status_code == 201
        (transaction,) = answer.json()["transactions"]
        assert transaction["amount"] == str(AMOUNT)
        assert transaction["block_number"] == 129
        invoice = answer.json()["invoice"]
        assert (invoice["id"], invoice["status"]) == (invoice_id, "unpaid"), (
            "it is not detected yet"
        )
        ((to, sent),) = payment_app.development.sent
        assert (to, sent.tx_hash) == (invoice["deposit_address"], transaction["tx_hash"])

    def test_body_is_optional(self, api: ContractClient, invoice_id: str) -> None:
        answer = api.post(f"{HELPERS}/{invoice_id}/payments")
        assert [each["amount"] for each in answer.json()["transactions"]] == [str(AMOUNT)]

    def test_pays_the_remainder(self, send: Send) -> None:
        amounts = [
            answer.json()["transactions"][0]["amount"]
            for answer in (send(amount="5"), send(amount="rest"))
        ]
        assert amounts == ["5000000", "7500000"]

    def test_pays_an_amount_in_several_transfers_from_another_payer(self, send: Send) -> None:
        transactions = send(amount="0.000010", transfers=3, payer=4).json()["transactions"]
        assert [each["amount"] for each in transactions] == ["3", "3", "4"]
        assert {each["from"] for each in transactions} == {f"0x{4:040x}"}

    def test_zero_amount_is_not_split(self, send: Send) -> None:
        transactions = send(amount="0.000002", transfers=3).json()["transactions"]
        assert [each["amount"] for each in transactions] == ["1", "1"]

    def test_pays_late_after_moving_the_clock(
        self, send: Send, payment_app: PaymentApp, clock: FrozenClock
    ) -> None:
        clock.advance(seconds=60)
        invoice = send(late=True).json()["invoice"]
        assert invoice["expires_at"] == UtcMs.to_ms(clock.now())
        assert payment_app.development.newest.time_s * 1000 > invoice["expires_at"]

    def test_mines_the_confirmations_and_waits_as_requested(
        self, send: Send, payment_app: PaymentApp
    ) -> None:
        invoice = send(confirmations=3, wait_s=0).json()["invoice"]
        assert payment_app.development.newest.number == 128 + 3
        assert invoice["payments"] == []

    @pytest.mark.reaches("nothing_due")
    def test_rejects_a_remainder_of_zero(self, send: Send) -> None:
        assert send().status_code == 201
        assert error(send(amount="rest")) == (409, "nothing_due", [])

    def test_rejects_an_amount_of_zero(self, send: Send) -> None:
        assert error(send(amount="0")) == (422, "invalid_amount", ["/body/amount"])

    def test_invoice_of_another_project_is_not_found(
        self, client: ContractClient, ben: Merchant, invoice_id: str, payment_app: PaymentApp
    ) -> None:
        answer = client.with_key(ben.key).post(f"{HELPERS}/{invoice_id}/payments", json={})
        assert error(answer) == (404, "invoice_not_found", [])
        assert payment_app.development.sent == []


class TestExpireInvoice:
    def expire(self, api: ContractClient, invoice_id: str) -> httpx.Response:
        return api.post(f"{HELPERS}/{invoice_id}/expire", json={"wait_s": 0})

    def test_expires_the_invoice_and_moves_the_chain(
        self, api: ContractClient, invoice_id: str, payment_app: PaymentApp, now: datetime
    ) -> None:
        invoice = self.expire(api, invoice_id).json()
        assert (invoice["expires_at"], invoice["expiry_final"]) == (UtcMs.to_ms(now), False)
        assert payment_app.development.newest.time_s * 1000 > invoice["expires_at"]

    def test_chain_without_a_clock_expires_by_itself(
        self, api: ContractClient, invoice_id: str, payment_app: PaymentApp, now: datetime
    ) -> None:
        payment_app.development.refusal = "rejects anvil_mine: Method not found"
        assert self.expire(api, invoice_id).json()["expires_at"] == UtcMs.to_ms(now)

    def test_received_payment_stays_on_time(
        self, api: ContractClient, database: Database, invoice_id: str, now: datetime
    ) -> None:
        ahead = now + timedelta(seconds=30)
        pay(database, invoice_id, at=ahead, amount=1)
        assert self.expire(api, invoice_id).json()["expires_at"] == UtcMs.to_ms(ahead)

    def test_expired_invoice_is_unchanged(
        self, api: ContractClient, invoice_id: str, clock: FrozenClock, now: datetime
    ) -> None:
        clock.advance(seconds=3600)
        invoice = self.expire(api, invoice_id).json()
        assert (invoice["status"], invoice["expires_at"]) == (
            "expired",
            UtcMs.to_ms(now + LIFETIME),
        )

    @pytest.mark.reaches("invoice_not_expirable")
    def test_rejects_an_invoice_that_is_not_unpaid(
        self, api: ContractClient, database: Database, ada: Merchant, invoice_id: str, now: datetime
    ) -> None:
        database.run(
            lambda session: cancel_invoice(
                session, project_id=ada.id, invoice_id=invoice_id, now=now
            )
        )
        assert error(self.expire(api, invoice_id)) == (409, "invoice_not_expirable", [])

    def test_invoice_of_another_project_is_not_found(
        self, client: ContractClient, ben: Merchant, invoice_id: str, database: Database
    ) -> None:
        database.run(lambda session: set_head(session, head_number=1, at=ben.project.created_at))
        answer = self.expire(client.with_key(ben.key), invoice_id)
        assert error(answer) == (404, "invoice_not_found", [])
