"""Work of a merchant at /dashboard and of a shopper on checkout pages, ten tasks each.

The tasks are done with the mouse, or with the keyboard alone. The console must be empty, except for
requests that the browser reports as failed, and axe-core, if given, must find nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from sqlalchemy.orm import Session

from adapters.webhooks.sender import Received
from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wire.webhooks import Webhooks
from handlers.payment.wiring import build_service
from models.payment.settlement import apply_settlement
from models.payment.webhooks.vault import WebhookVault
from pages import payment
from pages.checkout import TEXTS
from settings import Settings
from specd._db import migrate
from specd._engine.serving.app import build_app
from specd.db import Clock, Database
from specd.errors import DatabaseUnavailable
from tests.live.daily_chat import Day, Person
from tests.live.running_server import free_port
from tests.pages.browser import Browser
from tests.pages.stage import (
    DEPOSIT,
    PAGE,
    PAID,
    PARTIAL,
    PROCESSING,
    START,
    URI,
    Stage,
    running,
    serving,
)
from tests.pages.wallet import INJECTED, Wallet, by_method
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import (
    Merchant,
    make_endpoint,
    make_invoice,
    make_merchant,
    pay,
    set_head,
)
from tests.support.receivers import TAKEN, ScriptedReceivers
from tests.support.service_pages import build_pages
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

CLOCK = Clock()
MAX_TABS = 80
SHOP = "https://shop.example/cart"
HASH = "0x" + "5f" * 32


class Actor(Person):
    """A user of the mouse or of the keyboard alone."""

    def __init__(self, browser: Browser, base: str, day: Day, *, by_keyboard: bool) -> None:
        super().__init__(browser, base, day)
        self.by_keyboard = by_keyboard

    def press_key(self, *keys: str) -> None:
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def reach(self, selector: str) -> None:
        """Focus an element with Tab, or click it."""
        seen = (
            "return [...document.querySelectorAll(arguments[0])].some(it => it.checkVisibility())"
        )
        self.browser.wait(lambda: self.browser.run(seen, selector), selector)
        if not self.by_keyboard:
            [first, *_] = [it for it in self.browser.find_all(selector) if it.is_displayed()]
            self.browser.run("arguments[0].scrollIntoView({block: 'center'})", first)
            first.click()
            return
        for _ in range(MAX_TABS):
            if self.browser.run("return document.activeElement.matches(arguments[0])", selector):
                return
            self.press_key(Keys.TAB)
        raise AssertionError(f"Tab does not reach {selector}")

    def act(self, selector: str, key: str = Keys.ENTER) -> None:
        """Press a button, a link or a box."""
        self.reach(selector)
        if self.by_keyboard:
            self.press_key(key)

    def write(self, selector: str, text: str) -> None:
        """Replace the text of a field, and press Enter."""
        self.reach(selector)
        ActionChains(self.browser.driver).key_down(Keys.CONTROL).send_keys("a").key_up(
            Keys.CONTROL
        ).send_keys(text, Keys.ENTER).perform()

    def copies(self, selector: str, text: str) -> None:
        self.browser.run(
            "window.copied = []; navigator.clipboard.writeText = async (t) => { copied.push(t); };"
        )
        self.act(selector)
        self.browser.wait(lambda: self.browser.run("return copied[0]") == text, f"copy of {text}")


@dataclass
class Shop:
    """A shop with the real service. It controls what happens outside the browser."""

    base: str
    store: Database
    merchant: Merchant
    receivers: ScriptedReceivers
    work: Callable[[], None]
    downloads: Path

    def create(self, order: str, amount: str = "12.5") -> str:
        def make(session: Session) -> str:
            facts = {"external_order_id": order, "amount": amount}
            return make_invoice(session, self.merchant, now=CLOCK.now(), **facts).id  # type: ignore[arg-type]

        return self.store.run(make)

    def confirm(self, invoice_id: str) -> None:
        now = CLOCK.now()

        def mine(session: Session) -> None:
            set_head(session, head_number=101, at=now)
            apply_settlement(session, invoice_id, head_number=101, checkpoint_time=now, now=now)

        self.store.run(mine)


@contextmanager
def shop(folder: Path) -> Iterator[Shop]:
    url = f"sqlite:///{folder}/payment.db"
    migrate.upgrade(url, "payment")
    port = free_port()
    settings = Settings(
        database_urls={"payment": url}, public_url=f"http://127.0.0.1:{port}", rate_limits=False
    )
    vault = WebhookVault(b"the secret of these days, 32 bytes or more")
    receivers = ScriptedReceivers()
    adapters = PaymentAdapters(
        chain=FakeGateway(), webhooks=Webhooks(vault=vault, sender=receivers)
    )
    service = build_service(settings, clock=CLOCK, adapters=adapters)
    store = Database(url)
    merchant = store.run(lambda session: make_merchant(session, now=CLOCK.now()))
    store.run(lambda s: make_endpoint(s, vault, merchant, now=CLOCK.now(), url=SHOP))
    posting = Posting(receivers, vault, CLOCK)
    worker = WebhookWorker(store, CLOCK, posting)

    def work() -> None:
        ends_at = time.monotonic() + 10
        while worker.try_at_once() or posting.count:
            assert time.monotonic() < ends_at
            time.sleep(0.002)

    own = [lambda app: payment.install_for(app, service)]  # type: ignore[arg-type]
    pages = build_pages(documents=service.addresses, own=own)
    try:
        with running(build_app([service], pages=pages), port=port) as base:
            yield Shop(base, store, merchant, receivers, work, folder)
    finally:
        posting.close()
        store.dispose()


# ----- A merchant -----


def signs_in(ada: Ada, shop: Shop) -> None:
    """Sign in, first with a wrong key."""
    shop.create("order-1")
    ada.browser.open(f"{shop.base}/dashboard")
    ada.see("#sign-in h1", "Merchant dashboard")
    ada.write("#key", "prk_test_wrong")
    ada.see("#sign-in-refusal", "does not accept this key")
    ada.book(is_down=True)
    ada.look()
    ada.write("#key", shop.merchant.key)
    ada.see("#invoices .order", "order-1")
    if ada.is_wide:
        ada.see("#project", "Ada's Books")
    ada.look()


def creates_an_invoice(ada: Ada, shop: Shop) -> None:
    ada.act(".bar [data-create]")
    ada.see("#creation-title", "Create a test invoice")
    ada.look()
    ada.write("#amount", "64.99")
    ada.see("#invoice-title", "64.99 TUSD")
    here = ada.browser.driver.current_window_handle
    ada.browser.wait(lambda: len(ada.browser.driver.window_handles) == 2, "the checkout page")
    for other in set(ada.browser.driver.window_handles) - {here}:
        ada.browser.driver.switch_to.window(other)
        ada.see("#amount", "64.99")
        ada.browser.driver.close()
    ada.browser.driver.switch_to.window(here)


def finds_by_amount_and_copies(ada: Ada, shop: Shop) -> None:
    invoice = shop.create("order-2", "1234.5")
    ada.goes_back()
    ada.write("#order", "1234,50")
    ada.lists("order-2")
    ada.act("#invoices a")
    ada.see("#invoice-title", "1234.5 TUSD")
    ada.copies('[aria-label="Copy: invoice"]', invoice)
    ada.look()


def watches_a_payment(ada: Ada, shop: Shop) -> None:
    invoice = shop.create("order-3")
    ada.goes_back()
    ada.write("#order", "order-3")
    ada.lists("order-3")
    ada.act("#invoices a")
    ada.see("#invoice-state", "Unpaid")
    pay(shop.store, invoice, at=CLOCK.now(), block_number=100)
    ada.see("#invoice-state", "Processing")
    shop.confirm(invoice)
    ada.see("#invoice-state", "Paid")
    ada.look()


def filters_and_shares(ada: Ada, shop: Shop) -> None:
    ada.goes_back()
    ada.act("#clear")
    ada.unfolds()
    ada.act("#filter [value=paid]", Keys.SPACE)
    ada.lists("order-3")
    assert ada.browser.run("return location.hash") == "#invoices?status=paid"
    ada.act("#clear")
    ada.see("#invoices .order", "order-1")
    ada.browser.driver.back()
    ada.lists("order-3")
    ada.act("#clear")


def gives_a_shopper_a_new_link(ada: Ada, shop: Shop) -> None:
    ada.write("#order", "order-2")
    ada.lists("order-2")
    ada.act("#invoices a")
    ada.act("#new-checkout")
    ada.see("#ready", "Open the checkout page")
    address = str(ada.browser.find("#ready code").text)
    ada.copies("#ready .copy-value", address)
    ada.look()


def resolves_an_invoice(ada: Ada, shop: Shop) -> None:
    invoice = shop.create("order-4")
    pay(shop.store, invoice, at=CLOCK.now(), amount=13_000_000, block_number=101, head_number=140)
    ada.goes_back()
    ada.write("#order", "order-4")
    ada.lists("order-4")
    ada.act("#invoices a")
    ada.see("#invoice-state", "Overpaid")
    ada.act("#resolve")
    ada.see("#resolution-title", "Resolve the invoice")
    ada.look()
    ada.write("#note", "Returned by hand")
    ada.see("#resolution", "Returned by hand")


def sends_a_webhook_again(ada: Ada, shop: Shop) -> None:
    shop.receivers.answer = Received(500, None, "out of order", None, 7)
    shop.create("order-5")
    shop.work()
    ada.goes_back()
    ada.act("#to-webhooks")
    ada.see("#endpoints .badge", "Refused (500)")
    ada.act("#endpoints summary")
    ada.see("#endpoints pre", "out of order")
    ada.look()
    ada.act("#endpoints td button")
    ada.browser.wait(
        lambda: ada.browser.text("#announce") == "The event is being sent again.", "the word"
    )
    shop.receivers.answer = TAKEN
    shop.work()
    ada.see("#endpoints .badge", "Delivered (204)")


def goes_from_a_delivery_to_its_invoice(ada: Ada, shop: Shop) -> None:
    ada.act("#endpoints td a")
    ada.see("#facts", "Deposit address")
    ada.see("#deliveries a", SHOP)
    ada.act("#facts a")
    ada.see("#invoices .order", "order-")


def exports_and_signs_out(ada: Ada, shop: Shop) -> None:
    """Export and sign out, with the network disconnected in between."""
    place = {"behavior": "allow", "downloadPath": str(shop.downloads)}
    ada.browser.command("Browser.setDownloadBehavior", **place)
    ada.act("#clear")
    ada.act("#export")
    ada.browser.wait((shop.downloads / "invoices.csv").exists, "the file")
    ada.browser.connect(is_connected=False)
    ada.see("#offline", "The connection is lost.")
    ada.look()
    ada.browser.connect(is_connected=True)
    ada.gone("#offline")
    ada.book(is_down=True)
    ada.act("#sign-out")
    ada.see("#sign-in h1", "Merchant dashboard")
    assert shop.merchant.key not in ada.browser.driver.page_source


MerchantTask = Callable[["Ada", Shop], None]


class Ada(Actor):
    """A merchant."""

    email = "merchant"

    @property
    def is_wide(self) -> bool:
        return bool(self.browser.run("return innerWidth > 800"))

    def goes_back(self) -> None:
        """Go from an open invoice to the list."""
        if self.browser.find("#invoice .back").is_displayed():
            self.act("#invoice .back")
            self.gone("#invoice")

    def unfolds(self) -> None:
        if self.browser.find("#unfold").is_displayed():
            self.act("#unfold")

    def lists(self, *orders: str) -> None:
        found = "return [...document.querySelectorAll('#invoices .order')].map(it => it.innerText)"
        self.browser.wait(lambda: self.browser.run(found) == list(orders), f"orders {orders}")


MERCHANT: Sequence[MerchantTask] = (
    signs_in,
    creates_an_invoice,
    finds_by_amount_and_copies,
    watches_a_payment,
    filters_and_shares,
    gives_a_shopper_a_new_link,
    resolves_an_invoice,
    sends_a_webhook_again,
    goes_from_a_delivery_to_its_invoice,
    exports_and_signs_out,
)


# ----- A shopper -----


class Ben(Actor):
    """A shopper, on the page of one invoice."""

    email = "shopper"

    def open(self, query: str = "") -> None:
        self.browser.open(f"{self.base}{PAGE}{query}")


ShopperTask = Callable[[Ben, Stage], None]


def reads_what_to_pay(ben: Ben, stage: Stage) -> None:
    ben.open()
    ben.see("#status-title", "Waiting for your payment")
    assert ben.browser.text("#amount") == "12.5"
    ben.look()


def reads_it_in_german(ben: Ben, stage: Stage) -> None:
    ben.act(".languages [lang=de]")
    ben.see("#status-title", TEXTS.languages["de"].entries["states.unpaid.title"])
    assert ben.browser.text("#amount") == "12,5"
    ben.look()
    ben.act(".languages [lang=en]")
    ben.see("#status-title", "Waiting for your payment")


def copies_address_and_amount(ben: Ben, stage: Stage) -> None:
    ben.copies("#copy-address", DEPOSIT)
    ben.see("#copy-address", "Copied")
    ben.copies("#copy-amount", "12.5")


def scans_the_code(ben: Ben, stage: Stage) -> None:
    assert ben.browser.decode_qr(".qr") == URI


def pays_with_a_wallet(ben: Ben, stage: Stage) -> None:
    """Pay after a refusal. Afterwards the page must not request money."""
    source = INJECTED % {"names": json.dumps(["Fox"]), "legacy": "false"}
    added = ben.browser.command("Page.addScriptToEvaluateOnNewDocument", source=source)
    ben.open()
    wallet = Wallet(
        ben.browser,
        by_method(
            {
                "eth_requestAccounts": ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
                "eth_chainId": hex(31337),
                "eth_sendTransaction": HASH,
                "eth_getTransactionReceipt": None,
            }
        ),
    )
    ben.see("#wallet-0", "Pay with Fox")
    ben.look()
    ben.act("#wallet-0")
    wallet.serve_until(lambda: ben.browser.find("#sent-box").is_displayed(), "the payment")
    assert ben.browser.text("#sent-hash") == HASH
    assert not ben.browser.find("#address").is_displayed()
    ben.look()
    ben.browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    ben.browser.run("sessionStorage.clear()")


def pays_a_part(ben: Ben, stage: Stage) -> None:
    stage.set(**PARTIAL)
    ben.open()
    ben.see("#status-title", "Part of the payment is here")
    ben.copies("#copy-amount", "7.5")
    ben.look()


def loses_the_network(ben: Ben, stage: Stage) -> None:
    ben.browser.connect(is_connected=False)
    ben.see("#offline", "The connection is lost.")
    ben.look()
    ben.browser.connect(is_connected=True)
    ben.gone("#offline")
    stage.failure = DatabaseUnavailable()
    ben.see("#offline", "The connection is lost.")
    stage.failure = None
    ben.gone("#offline")
    ben.book(is_down=True)


def watches_it_being_confirmed(ben: Ben, stage: Stage) -> None:
    stage.set(**PROCESSING)
    ben.see("#status-title", "Payment found, being confirmed")
    ben.look()
    stage.set(**PAID, transactions=(HASH,), success_url=SHOP)
    ben.see("#status-title", "Paid")
    ben.copies("#copy-hash-1", HASH)
    ben.look()


def asks_for_the_difference(ben: Ben, stage: Stage) -> None:
    stage.set(
        **{**PAID, "exception": "over", "amount_paid": 13_000_000, "amount_overpaid": 500_000}
    )
    ben.open()
    ben.see("#status-title", "0.5 TUSD more than due")
    ben.copies("#copy-invoice", "0f8c1c5e-2c44-4d1e-9a55-6f1f6f6f2a10")
    ben.look()


def comes_too_late(ben: Ben, stage: Stage) -> None:
    stage.set(session_expires_at=START - timedelta(seconds=1), cancel_url=SHOP)
    ben.open()
    ben.see("#status-title", "This checkout link has expired")
    ben.look()
    assert ben.browser.find_all("#address, .qr, #open") == []
    if ben.by_keyboard:
        ben.reach("#back")
    assert ben.browser.find("#back").get_attribute("href") == SHOP
    ben.book(is_down=True)


SHOPPER: Sequence[ShopperTask] = (
    reads_what_to_pay,
    reads_it_in_german,
    copies_address_and_amount,
    scans_the_code,
    pays_with_a_wallet,
    pays_a_part,
    loses_the_network,
    watches_it_being_confirmed,
    asks_for_the_difference,
    comes_too_late,
)


def _do(person: Any, tasks: Sequence[Callable[[Any, Any], None]], place: Any) -> Day:
    began = time.monotonic()
    for task in tasks:
        task(person, place)
        person.book(is_down=False)
        person.day.done.append(task.__name__)
    person.day.seconds = time.monotonic() - began
    return person.day  # type: ignore[no-any-return]


def live_as_merchant(
    browser: Browser,
    folder: Path,
    *,
    by_keyboard: bool,
    axe: str = "",
    tasks: Sequence[MerchantTask] = MERCHANT,
) -> Day:
    """Do the tasks of a merchant in the current window."""
    with shop(folder) as place:
        day = _do(Ada(browser, place.base, Day(axe), by_keyboard=by_keyboard), tasks, place)
        browser.open("about:blank")
    return day


def live_as_shopper(
    browser: Browser,
    *,
    by_keyboard: bool,
    axe: str = "",
    tasks: Sequence[ShopperTask] = SHOPPER,
) -> Day:
    """Do the tasks of a shopper in the current window."""
    stage = Stage()
    with serving(stage.build()) as base:
        day = _do(Ben(browser, base, Day(axe), by_keyboard=by_keyboard), tasks, stage)
        browser.open("about:blank")
    return day
