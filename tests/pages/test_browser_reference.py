"""/docs/<document> in headless Chromium: users find operations and send requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import jsonify, request
from flask.typing import ResponseReturnValue
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.pages.browser import Browser
from tests.pages.reference_steps import authorize, open_operation, open_reference, send
from tests.pages.stage import serving
from tests.support.service_pages import build_pages

KEY = "prk_test_0badcafe_mXq7vT2bKd0LrNw5yHcZ9sPgJ4uAiEo1FxR8tWkV3nQ"
EXAMPLE_KEY = "0a9b6c1e-8d4f-4a53-b7de-94c1f2a6e385"

HEAVY = ("/static/swagger-ui/swagger-ui-bundle.js", "/static/swagger-ui/swagger-ui.css")

TOP = "return Math.round(document.querySelector(arguments[0]).getBoundingClientRect().top)"

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Payment", "version": "0.2.1", "description": "## Errors\n\nA *manual*."},
    "servers": [{"url": "/"}],
    "security": [{"bearerAuth": []}],
    "tags": [{"name": "payment_methods", "description": "What a shopper can pay with"}],
    "paths": {
        "/v1/payment-methods": {
            "get": {
                "tags": ["payment_methods"],
                "operationId": "list_payment_methods",
                "summary": "List the payment methods",
                "responses": {"200": {"description": "The methods"}},
            }
        },
        "/v1/payouts": {
            "post": {
                "tags": ["payment_methods"],
                "operationId": "create_payout",
                "summary": "Create a payout",
                "parameters": [
                    {
                        "name": "Idempotency-Key",
                        "in": "header",
                        "required": True,
                        "schema": {"type": "string"},
                        "example": EXAMPLE_KEY,
                    }
                ],
                "responses": {"201": {"description": "The payout"}},
            }
        },
    },
    "components": {"securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer"}}},
}


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """The pages, with a service of one operation that requires the key."""
    app = build_pages(documents={"payment": "/v1/openapi"}, contents={"payment": DOCUMENT})

    def list_payment_methods() -> ResponseReturnValue:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return jsonify(code="unauthorized"), 401
        return jsonify(environment="test", methods=[])

    def create_payout() -> ResponseReturnValue:
        return jsonify(key=request.headers["Idempotency-Key"]), 201

    app.add_url_rule("/v1/payouts", "create_payout", create_payout, methods=["POST"])
    app.add_url_rule("/v1/openapi.json", "document", lambda: DOCUMENT)
    app.add_url_rule("/v1/payment-methods", "list_payment_methods", list_payment_methods)
    with serving(app) as address:
        yield address


class TestReference:
    def test_loads_swagger_ui_and_the_document_only_for_an_operation(
        self, browser: Browser, base: str
    ) -> None:
        open_reference(browser, base)
        assert browser.text("h1") == "Payment 0.2.1"
        lines = [line.text.split() for line in browser.find_all(".operation summary")]
        assert lines[0][:2] == ["GET", "/v1/payment-methods"]
        heavy = [f"{base}/v1/openapi.json", *(f"{base}{it}" for it in HEAVY)]
        requested = browser.requested()
        assert [url for url in requested if url.startswith(tuple(heavy))] == []
        open_operation(browser, "list_payment_methods")
        requested += browser.requested()
        for address in heavy:
            assert len([url for url in requested if url.startswith(address)]) == 1
        assert [url for url in requested if not url.startswith(f"{base}/")] == []
        assert browser.console() == []

    def test_link_to_an_operation_opens_it(self, browser: Browser, base: str) -> None:
        browser.open(f"{base}/docs/payment#/payment_methods/create_payout")
        opened = ".operation[open][data-name=create_payout] .btn.execute"
        browser.wait(lambda: browser.find_all(opened), "the operation to open")
        browser.run("location.hash = '#/payment_methods/list_payment_methods'")
        opened = ".operation[open][data-name=list_payment_methods] .btn.execute"
        browser.wait(lambda: browser.find_all(opened), "the next operation")
        assert len(browser.find_all(".operation[open]")) == 1
        assert browser.console() == []

    def test_reload_draws_an_operation_that_could_not_be_loaded(
        self, browser: Browser, base: str
    ) -> None:
        open_reference(browser, base)
        browser.connect(is_connected=False)
        browser.run("document.querySelector('.operation').open = true")
        failed = "Reload the page to try again."
        browser.wait(lambda: failed in browser.text(".operation .panel"), "the failure")
        browser.connect(is_connected=True)
        open_reference(browser, base)
        open_operation(browser, "list_payment_methods")

    def test_request_is_sent_with_the_entered_key_which_is_then_forgotten(
        self, browser: Browser, base: str
    ) -> None:
        open_reference(browser, base)
        open_operation(browser, "create_payout")
        authorize(browser, KEY)
        open_operation(browser, "list_payment_methods")
        status, body = send(browser)
        assert status == "200"
        assert '"environment": "test"' in body
        requested = browser.requested()
        assert f"{base}/v1/payment-methods" in requested
        assert [url for url in requested if not url.startswith(f"{base}/")] == []
        assert browser.console() == []

        open_reference(browser, base)
        open_operation(browser, "list_payment_methods")
        assert send(browser)[0] == "401"
        stored = "return [localStorage.length, sessionStorage.length, document.cookie]"
        assert browser.run(stored) == [0, 0, ""]

    def test_example_is_replaced_by_a_new_idempotency_key(
        self, browser: Browser, base: str
    ) -> None:
        open_reference(browser, base)
        open_operation(browser, "create_payout")
        field = "[data-param-name='Idempotency-Key'] input"
        assert browser.find(field).get_attribute("value") == EXAMPLE_KEY
        keys = [json.loads(send(browser)[1])["key"] for _ in range(2)]
        assert len({EXAMPLE_KEY, *keys}) == 3
        browser.find(field).clear()
        browser.find(field).send_keys("my-own-key-1")
        assert json.loads(send(browser)[1]) == {"key": "my-own-key-1"}

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_operation_has_the_colors_of_the_page(
        self, browser: Browser, base: str, dark: bool
    ) -> None:
        browser.show(width=390, dark=dark)
        open_reference(browser, base)
        open_operation(browser, "list_payment_methods")
        assert browser.run("return document.documentElement.matches('.dark-mode')") is dark

    def test_operations_are_listed_without_javascript(self, browser: Browser, base: str) -> None:
        browser.command("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(f"{base}/docs/payment")
        assert "Without JavaScript" in browser.find("#reference noscript").text
        assert len([it for it in browser.find_all(".operation summary") if it.is_displayed()]) == 2
        link = browser.driver.find_element(By.LINK_TEXT, "/v1/openapi.yaml")
        assert link.get_attribute("href") == f"{base}/v1/openapi.yaml"


class TestContents:
    def test_headings_and_operations_are_listed_and_stay_visible(
        self, browser: Browser, base: str
    ) -> None:
        browser.show(width=1280, dark=False)
        open_reference(browser, base)
        links = browser.find_all("#contents a")
        texts = [link.text for link in links]
        assert texts == [
            "Errors",
            "payment methods",
            "List the payment methods",
            "Create a payout",
        ]
        browser.run("scrollTo(0, document.body.scrollHeight)")
        assert browser.run(TOP, "#contents") >= 0
        links[2].click()
        opened = ".operation[open][data-name=list_payment_methods] .btn.execute"
        browser.wait(lambda: browser.find_all(opened), "the operation to open")
        assert browser.console() == []

    def test_search_finds_an_operation_by_words_and_opens_it(
        self, browser: Browser, base: str
    ) -> None:
        browser.show(width=1280, dark=False)
        open_reference(browser, base)
        browser.find("#search").send_keys("PAYOUTS post")
        assert browser.text("#found") == "1 operation found"
        shown = [link.text for link in browser.find_all("#contents a") if link.is_displayed()]
        assert shown == ["payment methods", "Create a payout"]
        browser.find("#search").send_keys(Keys.ENTER)
        listed = [it.text for it in browser.find_all(".operation code") if it.is_displayed()]
        assert listed == ["/v1/payouts"]
        opened = ".operation[open][data-name=create_payout] .btn.execute"
        browser.wait(lambda: browser.find_all(opened), "the operation to open")
        browser.find("#search").send_keys(" nothing")
        assert browser.text("#found") == "0 operations found"
        assert browser.console() == []

    def test_contents_are_collapsed_on_a_phone(self, browser: Browser, base: str) -> None:
        browser.show(width=390, dark=False)
        open_reference(browser, base)
        assert browser.run("return document.querySelector('#contents').open") is False
        assert browser.run("return document.documentElement.scrollWidth") == 390
        browser.find("#contents summary").click()
        browser.find_all("#contents a")[0].click()
        assert browser.run("return document.querySelector('#contents').open") is False
        assert browser.run(TOP, "#errors") >= 0
        assert browser.console() == []
