"""Every page at the usual widths: nothing overflows, text has room, and targets can be hit.

A page is opened once and its window resized, so that a width costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import specs
from handlers.chat.wire import failures as chat
from handlers.payment.wire import failures as payment
from pages.app import build_pages
from pages.chat import add_chat
from pages.payment import add_dashboard
from tests.pages.browser import Browser
from tests.pages.reference_steps import open_operation, open_reference
from tests.pages.stage import PAGE, PARTIAL, PROCESSING, Stage, serving
from tests.pages.test_browser_reference import DOCUMENT

WIDTHS = (390, 768, 1152, 1280, 1920)
MIN_TARGET = 24
"""Pixels of a target's side (WCAG 2.2, success criterion 2.5.8), unless it is a link in a line."""
MIN_TEXT = 200
"""Pixels of width of a paragraph with more than 60 letters."""

# Two frames: the page has laid itself out for the new width.
SETTLE = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
FAULTS = """
const [minTarget, minText] = arguments;
const faults = [];
const nameOf = (it) => `${it.tagName}#${it.id}.${it.className} "${it.innerText.slice(0, 30)}"`;
const isSeen = (it) => it.checkVisibility({visibilityProperty: true}) && !it.closest(".announce");
const wide = document.documentElement.scrollWidth;
if (wide > innerWidth) faults.push(`the page is ${wide} px wide in a window of ${innerWidth} px`);
for (const it of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
  const box = it.getBoundingClientRect();
  if (!isSeen(it) || box.width === 0) continue;
  const isInLine = it.tagName === "A" && getComputedStyle(it).display === "inline";
  const isInLabel = it.closest("label")?.getBoundingClientRect().height >= minTarget;
  if (!isInLine && !isInLabel && (box.width < minTarget || box.height < minTarget))
    faults.push(`${nameOf(it)} is a target of ${box.width} x ${box.height} px`);
}
for (const it of document.querySelectorAll("p, li, dd, td, .opblock")) {
  const texts = [...it.childNodes].filter((node) => node.nodeType === 3);
  const text = texts.map((node) => node.data).join("").trim();
  if (!isSeen(it) || (text.length <= 60 && !it.matches(".opblock"))) continue;
  const {width} = it.getBoundingClientRect();
  if (width < (it.matches(".opblock") ? Math.min(600, innerWidth - 80) : minText))
    faults.push(`${nameOf(it)} has ${Math.round(width)} px for its text`);
}
return faults;
"""


def check_layout(browser: Browser) -> None:
    """Check the open page at each width; report all faults together."""
    found = {}
    for width in WIDTHS:
        browser.show(width=width, dark=False)
        browser.driver.execute_async_script(SETTLE)
        faults = browser.run(FAULTS, MIN_TARGET, MIN_TEXT)
        if faults:
            found[width] = faults
    assert found == {}


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    documents = {"payment": "/v1/openapi", "payment-events": "/v1/e", "payment-test": "/v1/t"}
    documents["chat"] = "/api/v1/openapi"
    failures = {"payment": payment.list_failures(), "chat": chat.list_failures()}
    own = [add_dashboard, add_chat]
    contents = {"payment": DOCUMENT, "chat": specs.load("chat")}
    app = build_pages(documents=documents, contents=contents, failures=failures, own=own)
    app.add_url_rule("/v1/openapi.json", "document", lambda: DOCUMENT)
    with serving(app) as address:
        yield address


PATHS = (
    *("/docs", "/docs/payment/errors", "/docs/chat/errors"),
    *("/dashboard", "/chat", "/nothing"),
)


@pytest.mark.parametrize("path", PATHS)
def test_plain_page_fits(browser: Browser, base: str, path: str) -> None:
    browser.open(base + path)
    check_layout(browser)


def test_reference_fits(browser: Browser, base: str) -> None:
    open_reference(browser, base)
    open_operation(browser, "create_payout")
    check_layout(browser)


STATES: dict[str, dict[str, object]] = {
    "unpaid": {},
    "partial": PARTIAL,
    "processing": PROCESSING,
    "long": {"amount": 10**35, "amount_remaining": 10**35, "external_order_id": "o" * 134},
}


@pytest.mark.parametrize("state", STATES)
def test_checkout_fits(browser: Browser, stage: Stage, address: str, state: str) -> None:
    stage.set(**STATES[state])
    browser.open(address + PAGE)
    check_layout(browser)
