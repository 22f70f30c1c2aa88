"""/dashboard in headless Chromium with the real service: a merchant watches a shop."""

from __future__ import annotations

import csv
import io
import secrets
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from adapters.webhooks.sender import Received
from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wire.webhooks import Webhooks
from handlers.payment.wiring import build_service
from models.payment.settlement import apply_settlement
from models.payment.tables import ApiKey, Event, Invoice
from models.payment.webhooks.vault import WebhookVault
from pages import payment
from settings import Settings
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd.db import Clock, Database
from tests.live.running_server import free_port
from tests.pages.browser import Browser
from tests.pages.layout import check_layout, check_print
from tests.pages.names import names, shows
from tests.pages.shopkeeper import Shopkeeper
from tests.pages.stage import running
from tests.support.contract import operations_of
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import (
    Merchant,
    make_endpoint,
    make_invoice,
    make_key,
    make_merchant,
    make_method,
    pay,
    set_head,
)
from tests.support.receivers import TAKEN, ScriptedReceivers
from tests.support.service_pages import build_pages
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

CLOCK = Clock()
VAULT = WebhookVault(b"the secret of these tests, 32 bytes or more")
SHOP = "https://shop.example/webhooks"
UNPAID = "Unpaid"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def service(sqlite_url: str, port: int) -> Service:
    settings = Settings(
        database_urls={"payment": sqlite_url},
        public_url=f"http://127.0.0.1:{port}",
        rate_limits=False,
        validate_responses=True,
    )
    webhooks = Webhooks(vault=VAULT, sender=ScriptedReceivers())
    adapters = PaymentAdapters(chain=FakeGateway(), webhooks=webhooks)
    return build_service(settings, clock=CLOCK, adapters=adapters)


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Database]:
    """The database of the service, opened as by a worker."""
    database = Database(sqlite_url)
    yield database
    database.dispose()


@pytest.fixture
def base(service: Service, port: int) -> Iterator[str]:
    pages = build_pages(
        documents=service.addresses, own=[lambda app: payment.install_for(app, service)]
    )
    with running(build_app([service], pages=pages), port=port) as address:
        yield address
    service.database.dispose()


@pytest.fixture
def ada(store: Database) -> Merchant:
    return store.run(lambda session: make_merchant(session, now=CLOCK.now()))


@pytest.fixture
def keeper(browser: Browser, base: str) -> Iterator[Shopkeeper]:
    yield Shopkeeper(browser, base)
    browser.open("about:blank")  # a poll would keep the server running


@pytest.fixture
def shop(base: str, ada: Merchant) -> Iterator[httpx.Client]:
    """The backend of the shop."""
    with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {ada.key}"}) as client:
        yield client


@pytest.fixture
def order(shop: httpx.Client) -> Callable[..., str]:
    """Return a function that creates an invoice for an order and returns its id."""

    def create(name: str, amount: str = "12.5") -> str:
        creation = {"external_order_id": name, "attempt_no": 1, "amount": amount}
        created = shop.post(
            "/v1/invoices",
            json=creation | {"payment_method_id": "tusd-local"},
            headers={"Idempotency-Key": secrets.token_hex(8)},
        )
        assert created.status_code == 201, created.text
        return str(created.json()["id"])

    return create


def cancel(shop: httpx.Client, invoice_id: str) -> None:
    headers = {"Idempotency-Key": f"cancel-{invoice_id}"}
    answer = shop.post(f"/v1/invoices/{invoice_id}/cancel", headers=headers)
    assert answer.status_code == 200, answer.text


def confirm(store: Database, invoice_id: str) -> None:
    """Mine a block, which confirms the payment."""
    now = CLOCK.now()

    def mine(session: Session) -> None:
        set_head(session, head_number=101, at=now)
        apply_settlement(session, invoice_id, head_number=101, checkpoint_time=now, now=now)

    store.run(mine)


def test_payment_is_shown_from_order_to_confirmation(
    keeper: Shopkeeper,
    service: Service,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
) -> None:
    cancel(shop, order("order-1"))
    order("order-2", "0.000001")
    keeper.open()
    keeper.sign_in("prk_test_wrong")
    keeper.see("#sign-in-refusal", "The server does not accept this key")
    assert not keeper.browser.find("#dashboard").is_displayed()
    keeper.browser.console()  # the browser also reports that 401 as an error
    keeper.sign_in(ada.key)
    keeper.has_rows(
        ("order-2", UNPAID, "0.000001 TUSD"),
        ("order-1", "Canceled", "12.5 TUSD"),
    )
    keeper.see("#count", "2 invoices")
    keeper.browser.run("window.isSamePage = true")

    # An invoice appears immediately after its creation.
    invoice_id = order("order-3", "12.5")
    keeper.see("#invoices .order", "order-3")
    assert keeper.browser.text("#announce") == "order-3: Created"
    keeper.choose("order-3")
    assert keeper.browser.text("#invoice-title") == "12.5 TUSD"
    assert keeper.browser.driver.title == "order-3 · Unpaid"
    assert keeper.browser.driver.current_url.endswith(f"/dashboard#invoice/{invoice_id}")
    assert keeper.browser.run("return document.activeElement.id") == "invoice-title"
    keeper.see("#no-payments", "No payments were detected.")
    assert "Still to pay 12.5 TUSD" in keeper.lines("#facts > div")

    # Its payment is detected and confirmed, in the list and in the details.
    payment = pay(store, invoice_id, at=CLOCK.now(), block_number=100)
    keeper.see("#invoice-state", "Processing")
    keeper.has_rows(
        ("order-3", "Processing", "12.5 TUSD"),
        ("order-2", UNPAID, "0.000001 TUSD"),
        ("order-1", "Canceled", "12.5 TUSD"),
    )
    [row] = keeper.lines("#payments tr")
    assert row.startswith(
        f"12.5 TUSD Being confirmed 1 of 2 confirmations {payment.tx_hash} in block 100 from 0x"
    )
    confirm(store, invoice_id)
    keeper.see("#invoice-state", "Paid")
    keeper.see("#invoice-text", "Fulfill the order.")
    keeper.see("#payments", "2 of 2")
    assert keeper.rows()[0] == ("order-3", "Paid", "12.5 TUSD")
    facts = keeper.lines("#facts > div")
    assert "Confirmed 12.5 TUSD" in facts
    assert not [fact for fact in facts if fact.startswith("Still to pay")]
    assert keeper.lines("#events .badge") == [
        "Created",
        "Payment received",
        "Processing",
        "Paid",
    ]
    ids = [code for code in keeper.lines("#events code") if code.startswith("evt_")]
    assert ids == sorted(ids)
    keeper.see("#no-endpoints", "Your project has no webhook endpoint.")
    moment = keeper.browser.find("#events time")
    assert (moment.get_attribute("title") or "").endswith(" UTC")
    assert keeper.browser.run("return window.isSamePage") is True

    # There were no errors, requests to other hosts, or stored data.
    operations = [
        path
        for document in service.documents
        for _, path in operations_of(document.content).values()
    ]
    keeper.leaves_no_trace(page="/dashboard", operations=operations, secret=ada.key)
    keeper.browser.find("#sign-out").click()
    keeper.see("#sign-in h1", "Merchant dashboard")
    assert keeper.browser.driver.current_url == f"{keeper.base}/dashboard"
    assert keeper.browser.driver.title == "Dashboard"
    assert keeper.browser.find("#key").get_property("value") == ""
    for told in ("order-3", invoice_id, payment.tx_hash, "12.5 TUSD"):
        assert told not in keeper.browser.driver.page_source
    assert keeper.browser.console() == []


def test_project_without_invoices_shows_how_to_create_one(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str]
) -> None:
    keeper.enter(ada.key)
    keeper.see("#none", "No invoices yet")
    assert not keeper.browser.find("#columns").is_displayed()
    order("order-1")
    keeper.lists("order-1")
    keeper.gone("#none")


def test_list_stays_filtered(
    keeper: Shopkeeper, shop: httpx.Client, ada: Merchant, order: Callable[..., str]
) -> None:
    canceled, open_one = order("order-1"), order("order-2")
    cancel(shop, canceled)
    keeper.enter(ada.key)
    keeper.lists("order-2", "order-1")
    keeper.tick("canceled")
    keeper.lists("order-1")
    keeper.tick("unpaid")
    keeper.lists("order-2", "order-1")
    keeper.tick("canceled")
    keeper.lists("order-2")

    # Changes are shown only if they match the filter.
    order("order-3")
    keeper.lists("order-3", "order-2")
    cancel(shop, open_one)
    keeper.lists("order-3")
    keeper.browser.find("#clear").click()
    keeper.lists("order-3", "order-2", "order-1")
    assert keeper.browser.run("return document.activeElement.id") == "order"

    # An invoice is found by a part of its ids.
    keeper.search("order-2")
    keeper.lists("order-2")
    order("order-4")
    keeper.browser.wait(lambda: keeper.browser.text("#announce") == "order-4: Created", "the event")
    keeper.lists("order-2")
    keeper.search("ORDER")
    keeper.lists("order-4", "order-3", "order-2", "order-1")
    keeper.search(open_one[4:20])
    keeper.lists("order-2")
    keeper.search("nothing")
    keeper.see("#none-found", "No invoices match these filters.")
    keeper.browser.find("#clear").click()
    keeper.lists("order-4", "order-3", "order-2", "order-1")
    day = "arguments[0].value = arguments[1];" + (
        "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))"
    )
    keeper.browser.run(day, keeper.browser.find("#until"), "2020-01-01")
    keeper.see("#none-found", "No invoices match these filters.")
    keeper.browser.run(day, keeper.browser.find("#until"), "")
    keeper.browser.run(day, keeper.browser.find("#since"), "2020-01-01")
    keeper.lists("order-4", "order-3", "order-2", "order-1")
    assert keeper.browser.console() == []


def test_filtered_list_can_be_exported(
    keeper: Shopkeeper,
    shop: httpx.Client,
    store: Database,
    ada: Merchant,
    order: Callable[..., str],
    tmp_path: Path,
) -> None:
    """Including invoices that are not loaded yet, and with a read-only key."""

    def make(session: Session) -> str:
        for number in range(30):
            make_invoice(session, ada, now=CLOCK.now(), external_order_id=f"=1+{number}")
        return make_key(session, ada.project, now=CLOCK.now(), scope="read")

    key = store.run(make)
    cancel(shop, order("order-1"))
    place = {"behavior": "allow", "downloadPath": str(tmp_path)}
    keeper.browser.command("Browser.setDownloadBehavior", **place)
    keeper.enter(key)
    keeper.see("#count", "The newest 20 invoices")
    keeper.tick("unpaid")
    keeper.see("#count", "The newest 20 invoices")
    keeper.browser.find("#export").click()
    saved = tmp_path / "invoices.csv"
    keeper.browser.wait(saved.exists, "the file")
    expected = shop.get("/v1/invoices.csv?status=unpaid").text
    assert saved.read_bytes().decode() == expected
    rows = list(csv.DictReader(io.StringIO(expected, newline="")))
    assert {row["order"] for row in rows} == {f"'=1+{number}" for number in range(30)}
    keeper.browser.wait(
        lambda: keeper.browser.text("#announce") == "The invoices are saved as CSV.", "the word"
    )
    assert keeper.browser.console() == []


def test_invoice_with_late_money_is_resolved(
    keeper: Shopkeeper,
    shop: httpx.Client,
    store: Database,
    ada: Merchant,
    order: Callable[..., str],
    tmp_path: Path,
) -> None:
    invoice_id = order("order-1")
    keeper.enter(ada.key)
    keeper.choose("order-1")
    keeper.see("#invoice-state", UNPAID)
    assert not keeper.browser.find("#resolve").is_displayed()
    cancel(shop, invoice_id)
    pay(store, invoice_id, at=CLOCK.now(), block_number=100, head_number=120)
    keeper.browser.wait(lambda: keeper.browser.find("#resolve").is_displayed(), "the button")
    keeper.browser.find("#resolve").click()
    keeper.browser.find("#note").send_keys("<b>By hand</b>")
    keeper.browser.find("#refund").send_keys("0x1", Keys.ENTER)
    keeper.see("#resolution-refusal", "/body/refund_tx_hash")
    keeper.browser.find("#refund").clear()
    keeper.browser.find("#refund").send_keys("0x" + "7c" * 32, Keys.ENTER)
    keeper.see("#resolution", "Refunded")
    keeper.see("#resolution", "<b>By hand</b>")
    keeper.see("#events .badge", "Resolved")
    (listed,) = shop.get("/v1/invoices?resolved=true").json()["data"]
    assert listed["resolution"]["note"] == "<b>By hand</b>"
    place = {"behavior": "allow", "downloadPath": str(tmp_path)}
    keeper.browser.command("Browser.setDownloadBehavior", **place)
    pay(store, invoice_id, at=CLOCK.now(), amount=1, block_number=121, head_number=140)
    keeper.browser.wait(lambda: keeper.browser.text("#resolution") == "", "the end of it")
    keeper.browser.driver.back()
    keeper.browser.find("#export-payments").click()
    saved = tmp_path / "payments.csv"
    keeper.browser.wait(saved.exists, "the file")
    assert saved.read_bytes().decode() == shop.get("/v1/payments.csv").text


def test_filters_are_in_the_address_and_can_be_undone_with_back(
    keeper: Shopkeeper, shop: httpx.Client, ada: Merchant, order: Callable[..., str]
) -> None:
    cancel(shop, order("order-1"))
    order("order-2")
    keeper.enter(ada.key)
    keeper.lists("order-2", "order-1")
    keeper.tick("canceled")
    keeper.lists("order-1")
    assert keeper.browser.run("return location.hash") == "#invoices?status=canceled"
    keeper.choose("order-1")
    keeper.browser.find("#invoice .back").click()
    keeper.lists("order-1")
    keeper.browser.driver.back()
    keeper.browser.driver.back()
    keeper.browser.driver.back()
    keeper.lists("order-2", "order-1")

    keeper.browser.open("about:blank")
    keeper.enter(ada.key, "#invoices?search=DER-2&status=unpaid")
    keeper.lists("order-2")
    assert keeper.browser.find("#order").get_attribute("value") == "DER-2"
    assert keeper.browser.console() == []


def test_values_of_an_invoice_can_be_copied(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str]
) -> None:
    invoice = order("order-1")
    keeper.enter(ada.key)
    keeper.choose("order-1")
    named = "return [...document.querySelectorAll('#facts .copy-value')].map(it => it.ariaLabel)"
    names = ["order", "method", "deposit address", "token", "invoice"]
    assert keeper.browser.run(named) == [f"Copy: {name}" for name in names]
    keeper.browser.run(
        "window.copied = []; navigator.clipboard.writeText = async (t) => { copied.push(t); };"
    )
    keeper.browser.find_all("#facts .copy-value")[-1].click()
    keeper.browser.wait(lambda: keeper.browser.run("return copied[0]") == invoice, "the copy")
    assert keeper.browser.console() == []


def test_invoice_that_needs_attention_is_found(
    keeper: Shopkeeper, store: Database, ada: Merchant, order: Callable[..., str]
) -> None:
    """Including an invoice that needs attention while the page is open."""
    usual, over, later = (order(name) for name in ("usual", "over", "later"))
    pay(store, usual, at=CLOCK.now(), block_number=100, head_number=120)
    pay(store, over, at=CLOCK.now(), amount=99_000_000, block_number=101, head_number=120)
    keeper.enter(ada.key)
    keeper.lists("later", "over", "usual")
    keeper.browser.find("#unusual").click()
    keeper.lists("over")
    pay(store, later, at=CLOCK.now(), amount=1, block_number=102, head_number=120)
    keeper.lists("later", "over")
    keeper.browser.find("#clear").click()
    keeper.lists("later", "over", "usual")
    assert keeper.browser.console() == []


def test_older_invoices_are_loaded_on_demand(
    keeper: Shopkeeper, store: Database, ada: Merchant, order: Callable[..., str]
) -> None:
    now = CLOCK.now()

    def make(session: Session) -> list[str]:
        return [
            make_invoice(
                session,
                ada,
                now=now - timedelta(seconds=145 - number),
                external_order_id=f"old-{number:02}",
            ).id
            for number in range(145)
        ]

    made = store.run(make)
    keeper.enter(ada.key)
    keeper.see("#count", "The newest 20 invoices")
    order("order-1")
    keeper.see("#count", "The newest 21 invoices")
    pay(store, made[0], at=CLOCK.now())
    keeper.browser.wait(
        lambda: keeper.browser.text("#announce") == "old-00: Processing", "the event"
    )
    assert len(keeper.rows()) == 21, "an older invoice must be loaded with its page"
    keeper.browser.run("document.getElementById('more').scrollIntoView()")
    keeper.see("#count", "The newest 121 invoices")
    keeper.browser.run("document.getElementById('more').scrollIntoView()")
    keeper.see("#count", "146 invoices")
    keeper.gone("#more")
    found = dict((name, state) for name, state, _ in keeper.rows())
    assert found == {f"old-{n:02}": UNPAID for n in range(145)} | {
        "order-1": UNPAID,
        "old-00": "Processing",
    }


@pytest.fixture
def post(store: Database) -> Iterator[tuple[ScriptedReceivers, Callable[[], None]]]:
    """The receivers, and a function that runs the worker until there is no work."""
    receivers = ScriptedReceivers()
    posting = Posting(receivers, VAULT, CLOCK)
    worker = WebhookWorker(store, CLOCK, posting)

    def work() -> None:
        ends_at = time.monotonic() + 10
        while worker.try_at_once() or posting.count:
            assert time.monotonic() < ends_at
            time.sleep(0.002)

    yield receivers, work
    posting.close()


def test_deliveries_are_shown_with_the_response(
    keeper: Shopkeeper,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
) -> None:
    receivers, work = post
    for url in (SHOP, "https://books.example/hook"):
        store.run(lambda s, url=url: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=url))
    invoice_id = order("order-1")
    keeper.enter(ada.key)
    keeper.choose("order-1")
    keeper.see("#no-deliveries", "No event of this invoice was sent yet.")
    receivers.answer = Received(500, None, "out of order", None, 7)
    cancel(shop, invoice_id)
    work()
    keeper.see("#deliveries .badge", "Refused (500)")
    rows = keeper.lines("#deliveries tr")
    assert len(rows) == 2
    assert {SHOP in row for row in rows} == {True, False}
    assert all("Created" in row for row in rows), "the second event must wait for the first"
    keeper.browser.find("#deliveries summary").click()
    keeper.see("#deliveries pre", "out of order")

    keeper.browser.find("#to-webhooks").click()
    keeper.see("#endpoints h2", SHOP)
    keeper.see("#endpoints .badge", "Enabled")
    keeper.see("#endpoints .badge", "Refused (500)")
    assert keeper.browser.driver.title == "Webhooks · Dashboard"

    # Attempts cause no events. A new event makes the page read them.
    receivers.answer = TAKEN
    order("order-2")
    work()
    keeper.see("#endpoints .badge", "Delivered (204)")
    assert keeper.lines("#endpoints td[data-label=Event]")[0].startswith("Created evt_")

    # A receiver that is gone disables its endpoint, which causes an event.
    receivers.answer = Received(410, None, "", None, 7)
    order("order-3")
    work()
    keeper.see("#endpoints .badge", "Disabled: the receiver is gone (410)")
    assert "Webhook endpoint disabled" in keeper.browser.text("#announce")
    keeper.browser.driver.back()
    keeper.see("#invoice-title", "12.5 TUSD")
    assert keeper.browser.console() == []


def test_button_resends_an_event(
    keeper: Shopkeeper,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
) -> None:
    receivers, work = post
    endpoint = store.run(lambda s: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=SHOP))
    receivers.answer = Received(500, None, "", None, 7)
    order("order-1")
    work()
    keeper.enter(ada.key)
    keeper.choose("order-1")
    keeper.see("#deliveries .badge", "Refused (500)")
    keeper.browser.find("#deliveries button").click()
    keeper.browser.wait(
        lambda: keeper.browser.text("#announce") == "The event is being sent again.", "the word"
    )
    receivers.answer = TAKEN
    work()
    keeper.see("#deliveries .badge", "Delivered (204)")
    deliveries = shop.get(f"/v1/webhook-endpoints/{endpoint.id}/deliveries").json()["data"]
    assert [each["redelivered"] for each in deliveries] == [True, False]
    assert keeper.browser.console() == []


def test_test_invoice_is_created_once_and_its_checkout_opened(
    keeper: Shopkeeper, shop: httpx.Client, ada: Merchant
) -> None:
    keeper.enter(ada.key)
    keeper.see("#none", "No invoices yet")
    keeper.browser.find("#none [data-create]").click()
    keeper.see("#creation-title", "Create a test invoice")
    field = keeper.browser.find("#amount")
    for wrong, said in (
        ("12,5", "with a point"),
        ("0", "more than zero"),
        ("1.0000001", "6 decimals"),
        ("9" * 72, "too large"),
    ):
        field.clear()
        field.send_keys(wrong, Keys.ENTER)
        keeper.see("#creation-refusal", said)
    field.clear()
    field.send_keys("90071992547409.931234")
    keeper.see("#atoms", "90071992547409931234 atomic units")
    name = keeper.browser.find("#new-order").get_property("value")
    [here] = keeper.browser.driver.window_handles
    ActionChains(keeper.browser.driver).double_click(keeper.browser.find("#create")).perform()
    keeper.see("#invoice-title", "90\u202f071\u202f992\u202f547\u202f409.931234 TUSD")
    assert keeper.rows() == [(name, UNPAID, "90\u202f071\u202f992\u202f547\u202f409.931234 TUSD")]
    keeper.browser.wait(lambda: len(keeper.browser.driver.window_handles) == 2, "the other tab")
    [there] = set(keeper.browser.driver.window_handles) - {here}
    link = keeper.browser.find("#ready a")
    assert (link.get_attribute("rel"), link.get_attribute("target")) == ("noopener", "_blank")
    checkout = link.get_attribute("href")
    keeper.browser.driver.switch_to.window(there)
    try:
        keeper.browser.wait(lambda: keeper.browser.driver.current_url == checkout, "the checkout")
        keeper.see("h1", "90\u202f071\u202f992\u202f547\u202f409.931234")
        assert keeper.browser.run("return window.opener") is None
    finally:
        keeper.browser.driver.close()
        keeper.browser.driver.switch_to.window(here)
    assert len(shop.get("/v1/invoices").json()["data"]) == 1

    # A second invoice for the order is rejected, and the tab opened for it is closed.
    keeper.browser.find(".bar [data-create]").click()
    again = keeper.browser.find("#new-order")
    again.clear()
    again.send_keys(name, Keys.ENTER)
    keeper.see("#creation-refusal", "This attempt at the order already has an invoice")
    keeper.browser.wait(lambda: keeper.browser.driver.window_handles == [here], "no other tab")
    keeper.browser.find("#creation [data-dismiss]").click()
    keeper.gone("#creation")


def test_read_only_key_is_enough_to_watch(
    keeper: Shopkeeper,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
) -> None:
    key = store.run(lambda s: make_key(s, ada.project, now=CLOCK.now(), scope="read"))
    invoice_id = order("order-1")
    keeper.enter(key)
    keeper.choose("order-1")
    cancel(shop, invoice_id)
    keeper.see("#invoice-state", "Canceled")
    assert keeper.lines("#events .badge") == ["Created", "Canceled"]
    keeper.browser.find("#to-webhooks").click()
    keeper.see("#webhooks-title", "Webhooks")
    assert keeper.browser.console() == []
    assert not keeper.browser.find(".bar [data-create]").is_displayed()


def test_nothing_can_be_created_without_a_method(
    keeper: Shopkeeper, store: Database, service: Service, ada: Merchant
) -> None:
    service.adapters.chain.configured.clear()
    keeper.enter(ada.key)
    keeper.see("#none", "No invoices yet")
    keeper.browser.find("#none [data-create]").click()
    keeper.see("#no-methods", "No payment method of your project is available.")
    assert not keeper.browser.find("#create").is_enabled()


def test_new_method_is_available_immediately(
    keeper: Shopkeeper, store: Database, ada: Merchant
) -> None:
    keeper.enter(ada.key)
    keeper.see("#none", "No invoices yet")
    now = CLOCK.now()
    token = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512"
    facts: dict[str, Any] = {"method_id": "new", "token_symbol": "NEW", "token_address": token}
    store.run(lambda s: make_method(s, ada.project, now=now, **facts))
    store.run(
        lambda s: make_invoice(s, ada, now=now, external_order_id="x", payment_method_id="new")
    )
    keeper.has_rows(("x", UNPAID, "12.5 NEW"))


def test_revoked_key_signs_out(
    keeper: Shopkeeper, store: Database, ada: Merchant, order: Callable[..., str]
) -> None:
    order("order-1")
    keeper.enter(ada.key)
    keeper.lists("order-1")
    store.run(lambda s: s.execute(update(ApiKey).values(revoked_at=CLOCK.now())))
    store.run(lambda s: make_invoice(s, ada, now=CLOCK.now(), external_order_id="x"))
    keeper.see("#sign-in-refusal", "it was revoked")
    assert not keeper.browser.find("#dashboard").is_displayed()
    assert keeper.rows() == []


def test_lost_connection_is_reported_without_missing_events(
    keeper: Shopkeeper, shop: httpx.Client, ada: Merchant, order: Callable[..., str]
) -> None:
    invoice_id = order("order-1")
    keeper.enter(ada.key)
    keeper.choose("order-1")
    keeper.browser.connect(is_connected=False)
    cancel(shop, invoice_id)
    keeper.see("#offline", "The connection is lost.")
    keeper.browser.connect(is_connected=True)
    keeper.see("#invoice-state", "Canceled")
    assert keeper.lines("#events .badge") == ["Created", "Canceled"]
    keeper.gone("#offline")


def test_expired_events_are_not_needed(
    keeper: Shopkeeper,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
) -> None:
    """After a long sleep, the page reads all invoices again."""
    invoice_id = order("order-1")
    keeper.enter(ada.key)
    keeper.choose("order-1")
    keeper.browser.connect(is_connected=False)
    cancel(shop, invoice_id)
    order("order-2")
    store.run(lambda s: s.execute(delete(Event)))
    keeper.browser.run("const now = Date.now; Date.now = () => now() + 3_600_000")
    keeper.see("#offline", "The connection is lost.")
    keeper.browser.connect(is_connected=True)
    keeper.has_rows(("order-2", UNPAID, "12.5 TUSD"), ("order-1", "Canceled", "12.5 TUSD"))
    keeper.see("#invoice-state", "Canceled")
    keeper.see("#no-events", "The events of this invoice have expired.")


def test_address_opens_its_invoice_or_reports_that_there_is_none(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str]
) -> None:
    invoice_id = order("order-1")
    keeper.enter(ada.key, f"#invoice/{invoice_id}")
    keeper.see("#invoice-title", "12.5 TUSD")
    keeper.browser.run("location.hash = '#invoice/00000000-0000-4000-8000-000000000000'")
    keeper.see("#trouble", "There is no such invoice in this project")
    keeper.gone("#invoice")
    assert keeper.browser.driver.current_url.endswith("/dashboard#invoices")


def test_keyboard_alone_is_sufficient(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str]
) -> None:
    order("order-1")
    keeper.browser.show(width=390, height=844, dark=False)
    keeper.enter(ada.key)
    keeper.lists("order-1")
    active = keeper.browser.driver.switch_to
    for _ in range(12):
        active.active_element.send_keys(Keys.TAB)
        if "#invoice/" in (active.active_element.get_attribute("href") or ""):
            break
    active.active_element.send_keys(Keys.ENTER)
    keeper.see("#invoice-title", "12.5 TUSD")
    keeper.gone("#all")
    active.active_element.send_keys(Keys.SHIFT, Keys.TAB)
    active.active_element.send_keys(Keys.ENTER)
    keeper.lists("order-1")
    keeper.gone("#invoice")
    assert "order-1" in active.active_element.text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off(
    keeper: Shopkeeper,
    store: Database,
    ada: Merchant,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
    width: int,
    dark: bool,
) -> None:
    _, work = post
    url = f"https://shop.example/{'x' * 300}"
    store.run(lambda s: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=url))
    keeper.browser.show(width=width, height=844, dark=dark)
    order("order-" + "9" * 140, "9" * 71)
    pay(store, order("order-2"), at=CLOCK.now())
    work()
    keeper.enter(ada.key)
    for show in (
        lambda: keeper.see("#invoices .order", "order-999"),
        lambda: keeper.choose("order-2"),
        lambda: keeper.browser.run("location.hash = '#webhooks'"),
    ):
        show()
        assert keeper.browser.run("return document.documentElement.scrollWidth") == width
        wide = (
            "return [...document.querySelectorAll('#dashboard *')].filter(e => e.checkVisibility())"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"
        )
        assert keeper.browser.run(wide) == []
    keeper.see("#endpoints h2", "https://shop.example/xxx")
    assert keeper.browser.console() == []


def test_names_of_orders_are_shown_unchanged(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str]
) -> None:
    """Generated ids of orders that the document allows, in the list and in the details."""
    orders = names(20, seed=23, longest=150)
    for name in orders:
        order(name)
    keeper.enter(ada.key)
    for width in (1180, 390):
        keeper.browser.show(width=width, dark=False)
        shown = shows(keeper.browser, "#invoices .order", orders, base=keeper.base)
        assert shown == len(orders)
    keeper.browser.show(width=1180, dark=False)
    for place in range(len(orders)):
        keeper.browser.find_all("#invoices a")[place].click()
        name = keeper.browser.find_all("#invoices .order")[place].get_property("textContent")
        assert shows(keeper.browser, "#facts dd .copyable code", [str(name)], base=keeper.base)


def test_invoices_are_found_by_amount_transaction_and_method(
    keeper: Shopkeeper, store: Database, ada: Merchant, order: Callable[..., str]
) -> None:
    store.run(lambda s: make_method(s, ada.project, now=CLOCK.now(), method_id="second"))
    store.run(
        lambda s: make_invoice(
            s, ada, now=CLOCK.now(), external_order_id="other", payment_method_id="second"
        )
    )
    order("order-1", "12.5")
    paid = order("order-2", "1234.25")
    payment = pay(store, paid, at=CLOCK.now(), block_number=100, amount=7_250_000)
    order("order-12", "112.5")
    keeper.enter(ada.key)
    keeper.lists("order-12", "order-2", "order-1", "other")
    for text, found in (
        ("12.5", ["order-1", "other"]),
        ("12,50 tusd", ["order-1", "other"]),
        ("1 234.25", ["order-2"]),
        ("7.25", ["order-2"]),
        ("12.5 EUR", []),
        (payment.tx_hash, ["order-2"]),
        ("order-1", ["order-12", "order-1"]),
    ):
        keeper.search(text)
        keeper.lists(*found)
    keeper.browser.find("#clear").click()
    keeper.browser.find("#by-method [value=second]").click()
    keeper.lists("other")
    assert keeper.browser.run("return location.hash") == "#invoices?method=second"
    keeper.browser.find("#clear").click()
    keeper.lists("order-12", "order-2", "order-1", "other")
    assert keeper.browser.console() == []


def test_oldest_invoices_are_sorted_by_the_api(
    keeper: Shopkeeper, store: Database, ada: Merchant
) -> None:
    """Even if the page has not loaded all invoices, and with newer invoices."""

    def make(session: Session) -> None:
        for number in range(30):
            at = CLOCK.now() - timedelta(minutes=30 - number)
            make_invoice(session, ada, now=at, external_order_id=f"order-{number:02}")

    store.run(make)
    keeper.enter(ada.key)
    keeper.see("#count", "The newest 20 invoices")
    keeper.browser.find("#sort [value=asc]").click()
    keeper.see("#count", "The oldest 20 invoices")
    keeper.lists(*(f"order-{number:02}" for number in range(20)))
    store.run(lambda s: make_invoice(s, ada, now=CLOCK.now(), external_order_id="order-30"))
    keeper.browser.wait(lambda: "order-30" in keeper.browser.text("#announce"), "the event")
    assert len(keeper.rows()) == 20
    keeper.browser.run("document.getElementById('more').scrollIntoView()")
    keeper.lists(*(f"order-{number:02}" for number in range(31)))
    assert keeper.browser.console() == []


def test_read_only_key_has_no_buttons_that_write(
    keeper: Shopkeeper,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
) -> None:
    """Every visible button of every view is pressed, and none sends a request that would be
    rejected.
    """
    _, work = post
    store.run(lambda s: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=SHOP))
    key = store.run(lambda s: make_key(s, ada.project, now=CLOCK.now(), scope="read"))
    canceled = order("order-1")
    cancel(shop, canceled)
    pay(store, canceled, at=CLOCK.now(), block_number=100, head_number=120)
    unpaid = order("order-2")
    work()
    keeper.enter(key)
    keeper.see("#read-only", "Read-only key")
    keeper.see("#project", "Ada's Books")
    keeper.browser.run(
        "window.sent = []; const usual = window.fetch;"
        "window.fetch = (address, options) => {"
        " if ((options.method ?? 'GET') !== 'GET') sent.push(`${options.method} ${address}`);"
        " return usual(address, options); };"
        "window.open = (address) => sent.push(`open ${address}`);"
    )
    press = (
        "const pressed = [...document.querySelectorAll('button, [role=button]')]"
        ".filter((it) => it.checkVisibility() && it.id !== 'sign-out');"
        "for (const it of pressed) it.click();"
        "return [pressed.length, [...document.querySelectorAll('dialog[open]')].map(it => it.id)]"
    )
    views = ("#invoices", f"#invoice/{canceled}", f"#invoice/{unpaid}", "#webhooks")
    rows = ("#invoices a", "#deliveries tr", "#deliveries tr", "#endpoints td")
    for view, row in zip(views, rows, strict=True):
        keeper.browser.run("location.hash = arguments[0]", view)
        keeper.browser.wait(lambda row=row: bool(keeper.lines(row)), f"{row} of {view}")
        count, dialogs = keeper.browser.run(press)
        assert count > 0
        assert dialogs == [], view
    assert keeper.browser.run("return sent") == []

    # With a key that may write, the same views have buttons that write.
    keeper.enter(ada.key)
    for view, row in zip(views, rows, strict=True):
        keeper.browser.run("location.hash = arguments[0]", view)
        keeper.browser.wait(lambda row=row: bool(keeper.lines(row)), f"{row} of {view}")
        offered = keeper.lines("[data-writes], [data-writes] button")
        assert {"#invoices": "Create test invoice", views[1]: "Resolve"}.get(
            view, "Send again" if view == "#webhooks" else "Create a checkout link"
        ) in offered
    assert not keeper.browser.find("#read-only").is_displayed()


def test_related_objects_are_linked(
    keeper: Shopkeeper,
    store: Database,
    ada: Merchant,
    shop: httpx.Client,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
) -> None:
    _, work = post
    store.run(lambda s: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=SHOP))
    invoice_id = order("order-1")
    order("order-2")
    work()
    keeper.enter(ada.key)
    keeper.choose("order-1")
    # To a new checkout page, to the endpoint, to the invoice of an event, and to the order.
    keeper.browser.find("#new-checkout").click()
    keeper.see("#ready", "Open the checkout page")
    checkout = keeper.browser.find("#ready a").get_attribute("href") or ""
    assert httpx.get(checkout).status_code == 200
    assert keeper.browser.run("return document.activeElement.href") == checkout
    keeper.see("#deliveries a", SHOP)
    keeper.browser.find("#deliveries a").click()
    keeper.see("#endpoints td", "Created")
    keeper.browser.find_all("#endpoints td a")[-1].click()
    keeper.see("#facts", "order-1")
    assert keeper.browser.run("return location.hash") == f"#invoice/{invoice_id}"
    keeper.browser.find("#facts a").click()
    keeper.lists("order-1")
    keeper.browser.run("location.hash = '#event/evt_7fffffffffffffff'")
    keeper.see("#trouble", "event")
    keeper.lists("order-1")
    keeper.browser.console()  # the browser also reports that 404 as an error


def test_only_a_chain_with_an_explorer_is_linked(
    keeper: Shopkeeper, store: Database, ada: Merchant, order: Callable[..., str]
) -> None:
    local = order("order-1")
    known = order("order-2")
    payments = [pay(store, each, at=CLOCK.now(), block_number=100) for each in (local, known)]
    store.run(
        lambda s: s.execute(update(Invoice).where(Invoice.id == known).values(chain_id=11155111))
    )
    keeper.enter(ada.key)
    outside = (
        "return [...document.querySelectorAll('#invoice a[target=_blank]')]"
        ".filter(it => it.host !== location.host).map(it => [it.href, it.rel])"
    )
    keeper.choose("order-1")
    keeper.see("#payments", payments[0].tx_hash)
    assert keeper.browser.run(outside) == []
    keeper.choose("order-2")
    keeper.see("#payments", payments[1].tx_hash)
    links = keeper.browser.run(outside)
    sites = [link.removeprefix("https://sepolia.etherscan.io") for link, _ in links]
    assert [site.split("/")[1] for site in sites] == ["address", "token", "tx", "address"]
    assert sites[2] == f"/tx/{payments[1].tx_hash}"
    assert {rel for _, rel in links} == {"noopener noreferrer"}


def test_disabled_endpoint_has_no_resend_button(
    keeper: Shopkeeper,
    store: Database,
    ada: Merchant,
    shop: httpx.Client,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
) -> None:
    receivers, work = post
    endpoint = store.run(lambda s: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=SHOP))
    order("order-1")
    work()
    receivers.answer = Received(410, None, "", None, 7)
    order("order-2")
    work()
    assert shop.get(f"/v1/webhook-endpoints/{endpoint.id}").json()["status"] == "disabled"
    keeper.enter(ada.key, "#webhooks")
    keeper.see("#endpoints td", "endpoint disabled")
    assert "Send again" not in keeper.browser.text("#endpoints")


def test_phone_shows_invoices_before_filters(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str], shop: httpx.Client
) -> None:
    cancel(shop, order("order-1"))
    order("order-2")
    keeper.browser.show(width=390, height=844, dark=False)
    keeper.enter(ada.key)
    keeper.lists("order-2", "order-1")
    top = "return document.querySelector('#invoices li').getBoundingClientRect().top"
    assert keeper.browser.run(top) < 844 / 2
    keeper.browser.find("#unfold").click()
    assert keeper.browser.find("#unfold").get_attribute("aria-expanded") == "true"
    keeper.tick("canceled")
    keeper.lists("order-1")
    keeper.browser.find("#unfold").click()
    assert keeper.browser.find("#filter [value=canceled]").is_displayed(), (
        "the filter must be in use"
    )
    assert not keeper.browser.find("#unusual").is_displayed()


def test_printed_invoice_has_no_controls(
    keeper: Shopkeeper, store: Database, ada: Merchant, order: Callable[..., str]
) -> None:
    invoice_id = order("order-1")
    payment = pay(store, invoice_id, at=CLOCK.now(), block_number=100)
    keeper.enter(ada.key)
    keeper.choose("order-1")
    keeper.see("#payments", payment.tx_hash)
    keeper.browser.command("Emulation.setEmulatedMedia", media="print")
    try:
        assert keeper.lines("button, input, select, .bar, #all") == []
        assert any(payment.tx_hash in line for line in keeper.lines("#payments tr"))
        scrolls = (
            "return [...document.querySelectorAll('body, #dashboard *')].filter(it => "
            "it.checkVisibility() && it.scrollHeight > it.clientHeight + 1 && "
            "getComputedStyle(it).overflowY !== 'visible').map(it => it.id || it.className)"
        )
        assert keeper.browser.run(scrolls) == []
    finally:
        keeper.browser.command("Emulation.setEmulatedMedia", media="")


def test_signed_in_page_fits_every_width_and_paper(
    keeper: Shopkeeper, ada: Merchant, order: Callable[..., str]
) -> None:
    for number in range(30):
        order(f"order-{number}")
    order("o" * 150, "1234567890123.123456")
    keeper.enter(ada.key)
    keeper.choose("o" * 150)
    check_layout(keeper.browser)
    check_print(keeper.browser)
    keeper.browser.run("location.hash = '#webhooks'")
    keeper.see("#webhooks h1", "Webhooks")
    check_layout(keeper.browser)


def test_each_view_has_readable_texts_and_reachable_targets(
    keeper: Shopkeeper,
    store: Database,
    shop: httpx.Client,
    ada: Merchant,
    order: Callable[..., str],
    post: tuple[ScriptedReceivers, Callable[[], None]],
) -> None:
    receivers, work = post
    receivers.answer = Received(500, None, "out of order", None, 7)
    store.run(lambda s: make_endpoint(s, VAULT, ada, now=CLOCK.now(), url=SHOP))
    store.run(lambda s: make_method(s, ada.project, now=CLOCK.now(), method_id="second"))
    pay(store, order("order-1"), at=CLOCK.now(), amount=13_000_000, block_number=100)
    order("order-2")
    work()
    keeper.enter(ada.key)
    keeper.lists("order-2", "order-1")
    check_layout(keeper.browser)
    keeper.browser.show(width=1280, dark=False)
    keeper.choose("order-1")
    keeper.see("#deliveries td", "Refused (500)")
    check_layout(keeper.browser)
    keeper.browser.run("location.hash = '#webhooks'")
    keeper.see("#endpoints td", "Refused (500)")
    check_layout(keeper.browser)
