"""Every page at the usual widths: nothing overflows, texts have room, and targets are large enough.

A page is opened once and its window resized, so that a width costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import specs
from pages.chat import add_chat
from pages.payment import add_dashboard
from specd._composition import list_failures
from tests.pages.browser import Browser
from tests.pages.layout import check_layout
from tests.pages.reference_steps import open_operation, open_reference
from tests.pages.stage import PAGE, PARTIAL, PROCESSING, Stage, serving
from tests.pages.test_browser_reference import DOCUMENT
from tests.support.service_pages import build_pages
from wsgi import project


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    documents = {"payment": "/v1/openapi", "payment-events": "/v1/e", "payment-test": "/v1/t"}
    documents["chat"] = "/api/v1/openapi"
    failures = {each.name: list_failures(each) for each in project.services}
    own = [add_dashboard, add_chat]
    contents = {"payment": DOCUMENT, "chat": specs.load("chat")}
    app = build_pages(documents=documents, contents=contents, failures=failures, own=own)
    app.add_url_rule("/v1/openapi.json", "document", lambda: DOCUMENT)
    with serving(app) as address:
        yield address


PATHS = (
    *("/", "/docs", "/docs/chat", "/docs/payment/errors", "/docs/chat/errors"),
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
