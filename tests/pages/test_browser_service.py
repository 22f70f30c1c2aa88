"""The pages in headless Chromium with the real service: its document, its database, its engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import httpx
import pytest
from sqlalchemy.orm import Session

from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wiring import build_service
from models.payment.checkout_sessions import CheckoutView, find_checkout
from models.payment.settlement import apply_settlement
from pages import checkout
from settings import Settings
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd.db import Clock, Database
from tests.pages.browser import Browser
from tests.pages.reference_steps import authorize, open_operation, open_reference, send
from tests.pages.stage import running
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import Merchant, make_invoice, make_merchant, pay, set_head
from tests.support.service_pages import build_pages

CLOCK = Clock()


@pytest.fixture
def service(sqlite_url: str) -> Service:
    settings = Settings(database_urls={"payment": sqlite_url}, validate_responses=True)
    adapters = PaymentAdapters(chain=FakeGateway())
    return build_service(settings, clock=CLOCK, adapters=adapters)


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Database]:
    """The database of the service, opened as by a worker."""
    database = Database(sqlite_url)
    yield database
    database.dispose()


@pytest.fixture
def base(service: Service, store: Database) -> Iterator[str]:
    def look_up(token: str) -> CheckoutView | None:
        with store.reading() as connection:
            return find_checkout(connection, token, CLOCK.now())

    own = partial(checkout.install, look_up=look_up, poll_ms=100)
    content = service.documents[0].content
    pages = build_pages(
        documents={"payment": "/v1/openapi"}, contents={"payment": content}, own=[own]
    )
    with running(build_app([service], pages=pages)) as address:
        yield address


@pytest.fixture
def merchant(store: Database) -> Merchant:
    return store.run(lambda session: make_merchant(session, now=CLOCK.now()))


def test_shopper_sees_the_confirmation_of_the_payment(
    browser: Browser, base: str, store: Database, merchant: Merchant
) -> None:
    now = CLOCK.now()
    invoice = store.run(lambda session: make_invoice(session, merchant, now=now))
    created = httpx.post(
        f"{base}/v1/invoices/{invoice.id}/checkout-sessions",
        headers={"Authorization": f"Bearer {merchant.key}"},
    )
    assert created.status_code == 201
    path = httpx.URL(created.json()["checkout_url"]).path
    assert path == f"/checkout/{created.json()['checkout_token']}"

    browser.open(f"{base}{path}")
    assert browser.text("h1") == "Amount to pay\n12.5 TUSD"
    assert browser.text("#address") == invoice.deposit_address
    assert browser.decode_qr(".qr") == invoice.payment_uri

    pay(store, invoice.id, at=now, block_number=100)
    browser.wait(lambda: "1 of 2" in browser.text("#status-text"), "the first confirmation")

    def mine(session: Session) -> None:
        set_head(session, head_number=101, at=now)
        apply_settlement(session, invoice.id, head_number=101, checkpoint_time=now, now=now)

    store.run(mine)
    browser.wait(lambda: browser.text("#status-title") == "Paid", "paid")
    assert merchant.key not in browser.driver.page_source
    assert browser.console() == []
    assert [url for url in browser.requested() if not url.startswith(f"{base}/")] == []

    altered = httpx.get(f"{base}{path[:-1]}{'A' if path[-1] != 'A' else 'B'}")
    assert altered.status_code == 404
    assert httpx.head(f"{base}{path}").status_code == 200
    refused = httpx.post(f"{base}{path}")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")


def test_developer_reads_the_document_and_sends_a_request(
    browser: Browser, base: str, service: Service, merchant: Merchant
) -> None:
    open_reference(browser, base)
    drawn = [element.text for element in browser.find_all(".operation summary code")]
    assert sorted(drawn) == sorted(
        path
        for path, item in service.documents[0].content["paths"].items()
        for verb in item
        if verb in ("get", "post")
    )
    open_operation(browser, "list_payment_methods")
    assert send(browser)[0] == "401"
    browser.console()  # the browser also reports that 401 as an error
    authorize(browser, merchant.key)
    status, body = send(browser)
    assert status == "200"
    assert '"id": "tusd-local"' in body
    assert browser.console() == []
    assert [url for url in browser.requested() if not url.startswith(f"{base}/")] == []
