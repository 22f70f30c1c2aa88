"""What `/metrics` tells of the payment service besides its requests."""

import httpx

from models.database import Database
from tests.support.contract import HOST, ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import Merchant, make_invoice
from tests.support.payment.webhooks import create


def test_how_far_webhooks_are_behind(
    api: ContractClient,
    payment_app: PaymentApp,
    database: Database,
    ada: Merchant,
    clock: FrozenClock,
) -> None:
    create(api)
    database.run(lambda session: make_invoice(session, ada, now=clock.now()))
    clock.advance(seconds=42)
    (answer,) = payment_app.send(httpx.Request("GET", f"{HOST}/metrics"))
    lines = answer.text.splitlines()
    assert [line for line in lines if line.startswith("specd_webhook")] == [
        "specd_webhook_messages_due 0.0",
        "specd_webhook_oldest_seconds 42.0",
        "specd_webhook_endpoints_failing 0.0",
    ]
