"""/docs/chat in headless Chromium with the real service: Basic credentials, forms, JSON arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from specd._composition import list_failures
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.pages.browser import Browser
from tests.pages.reference_steps import (
    authorize,
    choose_body,
    fill,
    open_operation,
    open_reference,
    send,
)
from tests.pages.stage import EMAIL, running
from tests.support.contract import operations_of
from tests.support.service_pages import build_pages
from wsgi import project

NAMELESS = """
return [...document.querySelectorAll(".operation[open] :is(input, select, textarea)")].filter(
  (it) => it.checkVisibility() && !it.labels.length && !it.ariaLabel && !it.placeholder
).map((it) => it.outerHTML);
"""
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def base(service: Service) -> Iterator[str]:
    pages = build_pages(
        documents={"chat": "/api/v1/openapi"},
        contents={"chat": service.document},
        failures={"chat": list_failures(project["chat"])},
    )
    with running(build_app([service], pages=pages)) as address:
        yield address


def outside(browser: Browser, base: str) -> list[str]:
    return [url for url in browser.requested() if not url.startswith(f"{base}/")]


def test_every_operation_is_listed_under_its_tag(
    browser: Browser, base: str, service: Service
) -> None:
    open_reference(browser, base, "chat")
    drawn = browser.run(
        "return [...document.querySelectorAll('.operation')].map(({dataset, id}) => ["
        " dataset.method.toUpperCase(), dataset.path, id])"
    )
    document: dict[str, Any] = dict(service.document)
    tags = {
        operation["operationId"]: operation["tags"][0]
        for item in document["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
    }
    assert sorted(drawn) == sorted(
        [method, path, f"/{tags[name]}/{name}"]
        for name, (method, path) in operations_of(document).items()
    )
    assert len(drawn) > 60
    assert browser.console() == []
    assert outside(browser, base) == []


def test_field_with_a_named_enumeration_is_text(browser: Browser, base: str) -> None:
    open_reference(browser, base, "chat")
    open_operation(browser, "send_message")
    choose_body(browser, FORM)
    drawn = browser.text("[data-property-name=type]")
    assert "One of direct, channel, stream, private." in drawn
    assert "JSON text" not in drawn
    assert "JSON text" in browser.text("[data-property-name=to]")
    open_operation(browser, "list_users")
    assert browser.run(NAMELESS) == [], "fields without an accessible name"


def test_form_with_a_json_array_is_sent_and_the_answer_shown(
    browser: Browser, base: str, key: str
) -> None:
    open_reference(browser, base, "chat")
    open_operation(browser, "subscribe")
    authorize(browser, EMAIL, key)
    choose_body(browser, FORM)
    fill(browser, "subscriptions", json.dumps([{"name": "stage"}, {"name": "foyer"}]))
    status, body = send(browser)
    assert status == "200"
    [subscribed] = json.loads(body)["subscribed"].values()
    assert subscribed == ["stage", "foyer"]
    sent = browser.text(".curl")
    assert "-d 'subscriptions=%5B%7B%22name%22" in sent, "must be sent as a form"
    assert "&" not in sent.partition("-d ")[2], "empty fields must not be sent"
    assert "request-id: " in browser.text(".live-responses-table div + div .microlight")

    open_operation(browser, "get_user_by_email")
    fill(browser, "email", EMAIL)
    status, body = send(browser)
    assert status == "200"
    assert json.loads(body)["user"]["full_name"] == "Ada"
    # A hint of the browser about the field of the user name, which belongs to Swagger UI.
    assert [line for line in browser.console() if "[DOM]" not in line] == []
    assert outside(browser, base) == []


def test_error_is_shown_with_a_link_to_its_row(browser: Browser, base: str, key: str) -> None:
    open_reference(browser, base, "chat")
    open_operation(browser, "update_message")
    authorize(browser, EMAIL, key)
    fill(browser, "message_id", "999")
    choose_body(browser, FORM)
    fill(browser, "content", "x")
    status, body = send(browser)
    assert (status, json.loads(body)["msg"]) == ("400", "Invalid message(s)")
    link = httpx.patch(f"{base}/api/v1/messages/999", auth=(EMAIL, key), data={"content": "x"})
    browser.console()  # the browser also reports a 400 as an error
    assert link.headers["Link"] == '</docs/chat/errors#invalid-message>; rel="help"'
    browser.open(f"{base}/docs/chat/errors#invalid-message")
    assert "Use ids that GET /messages returns to you." in browser.text("tr:target")
    assert browser.console() == []
    assert outside(browser, base) == []
