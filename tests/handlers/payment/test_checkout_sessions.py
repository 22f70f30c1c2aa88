"""create_checkout_session: a page only for a payable invoice on a healthy chain."""

from datetime import datetime, timedelta

import pytest

from models.payment.checkout_sessions import find_checkout
from models.payment.settlement import cancel_invoice
from models.payment.tables import CheckoutSession
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PUBLIC_URL, FakeGateway
from tests.support.payment.factories import LIFETIME, Merchant, make_invoice, pay
from tests.support.payment.invoices import NO_SUCH_ID, checkout, count, error


@pytest.fixture
def invoice_id(database: Database, ada: Merchant, now: datetime) -> str:
    return database.run(lambda session: make_invoice(session, ada, now=now)).id


class TestCreateCheckoutSession:
    def test_returns_201_with_token_and_url(
        self, api: ContractClient, invoice_id: str, now: datetime
    ) -> None:
        response = checkout(api, invoice_id)
        assert response.status_code == 201
        token = response.json()["checkout_token"]
        assert response.json() == {
            "invoice_id": invoice_id,
            "checkout_token": token,
            "checkout_url": f"{PUBLIC_URL}/checkout/{token}",
            "expires_at": UtcMs.to_ms(now + LIFETIME),
        }

    def test_url_is_built_from_the_settings_whatever_the_host(
        self, api: ContractClient, invoice_id: str
    ) -> None:
        path = f"/v1/invoices/{invoice_id}/checkout-sessions"
        body = api.post(path, headers={"Host": "evil.example"}).json()
        assert body["checkout_url"].startswith(f"{PUBLIC_URL}/")

    def test_each_request_creates_a_session_and_all_are_valid(
        self, api: ContractClient, database: Database, invoice_id: str, now: datetime
    ) -> None:
        tokens = [checkout(api, invoice_id).json()["checkout_token"] for _ in range(2)]
        assert tokens[0] != tokens[1]
        with database.reading() as connection:
            views = [find_checkout(connection, token, now) for token in tokens]
        assert [view.invoice_id if view else None for view in views] == [invoice_id] * 2

    def test_session_ends_with_the_invoice(
        self, api: ContractClient, invoice_id: str, clock: FrozenClock, now: datetime
    ) -> None:
        clock.advance(seconds=1200)
        assert checkout(api, invoice_id).json()["expires_at"] == UtcMs.to_ms(now + LIFETIME)

    def test_session_lasts_at_most_half_an_hour(
        self, api: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        long = timedelta(hours=5)
        invoice = database.run(lambda s: make_invoice(s, ada, now=now, lifetime=long))
        expires_at = checkout(api, invoice.id).json()["expires_at"]
        assert expires_at == UtcMs.to_ms(now + timedelta(minutes=30))

    def test_partially_paid_invoice_is_accepted(
        self, api: ContractClient, database: Database, invoice_id: str, now: datetime
    ) -> None:
        pay(database, invoice_id, at=now, amount=1)
        assert checkout(api, invoice_id).status_code == 201

    @pytest.mark.parametrize("head", [100, 101], ids=["processing", "paid"])
    def test_returns_409_for_a_processing_or_paid_invoice(
        self, api: ContractClient, database: Database, invoice_id: str, now: datetime, head: int
    ) -> None:
        pay(database, invoice_id, at=now, head_number=head)
        assert error(checkout(api, invoice_id)) == (409, "invoice_not_payable", [])

    @pytest.mark.reaches("invoice_not_payable")
    def test_returns_409_for_an_expired_invoice(
        self, api: ContractClient, invoice_id: str, clock: FrozenClock
    ) -> None:
        clock.advance(seconds=1801)
        assert error(checkout(api, invoice_id)) == (409, "invoice_not_payable", [])

    @pytest.mark.reaches("chain_not_configured")
    def test_returns_503_without_an_endpoint_for_the_chain(
        self, api: ContractClient, database: Database, invoice_id: str, chain: FakeGateway
    ) -> None:
        chain.configured.clear()
        response = checkout(api, invoice_id)
        assert error(response) == (503, "chain_not_configured", [])
        assert int(response.headers["Retry-After"]) > 0
        assert count(database, CheckoutSession) == 0

    @pytest.mark.reaches("chain_unavailable")
    def test_returns_503_while_the_chain_is_unhealthy(
        self, api: ContractClient, database: Database, invoice_id: str, chain: FakeGateway
    ) -> None:
        chain.is_healthy = False
        response = checkout(api, invoice_id)
        assert error(response) == (503, "chain_unavailable", [])
        assert int(response.headers["Retry-After"]) > 0
        assert count(database, CheckoutSession) == 0
        chain.is_healthy = True
        assert checkout(api, invoice_id).status_code == 201

    def test_invoice_is_read_again_after_the_chain_has_responded(
        self,
        api: ContractClient,
        database: Database,
        ada: Merchant,
        invoice_id: str,
        chain: FakeGateway,
        now: datetime,
    ) -> None:
        def cancel_meanwhile() -> None:
            database.run(
                lambda s: cancel_invoice(s, project_id=ada.id, invoice_id=invoice_id, now=now)
            )

        chain.before_answer.append(cancel_meanwhile)
        assert error(checkout(api, invoice_id)) == (409, "invoice_not_payable", [])
        assert count(database, CheckoutSession) == 0

    def test_hidden_equals_absent(
        self, client: ContractClient, ben: Merchant, invoice_id: str
    ) -> None:
        for unknown in (invoice_id, NO_SUCH_ID):
            response = checkout(client.with_key(ben.key), unknown)
            assert error(response) == (404, "invoice_not_found", [])

    def test_returns_422_for_an_invalid_id(self, api: ContractClient) -> None:
        assert error(checkout(api, "nonsense"))[:2] == (422, "invalid_request")

    def test_rejects_missing_credentials(self, client: ContractClient, invoice_id: str) -> None:
        assert checkout(client, invoice_id).status_code == 401
