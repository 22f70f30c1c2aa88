"""The front page / lists the pages for users, and /#narrow/... opens in /chat."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pages import payment
from pages.chat import add_chat
from tests.pages.browser import Browser
from tests.pages.stage import serving
from tests.support.service_pages import build_pages

DOCUMENTS = {"payment": "/v1/openapi", "chat": "/api/v1/openapi"}


def test_front_page_names_each_page_and_reference() -> None:
    settings: Any = SimpleNamespace(dashboard_page=True, public_url="", wallet_rpc_urls={})
    service: Any = SimpleNamespace(settings=settings, database=None, clock=None, adapters=None)
    own = [add_chat, lambda app: payment.install_for(app, service)]
    client = build_pages(documents=DOCUMENTS, own=own).test_client()
    page = client.get("/").text
    for link in ("/chat", "/dashboard", "/docs", "/docs/payment", "/docs/chat"):
        assert f'href="{link}"' in page
        assert client.get(link).status_code == 200
    assert "checkout_url" in page


def test_icon_has_its_usual_address() -> None:
    answer = build_pages(documents={}).test_client().get("/favicon.ico")
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")
    answer.close()


def test_front_page_omits_pages_that_are_not_served() -> None:
    page = build_pages(documents=DOCUMENTS).test_client().get("/").text
    assert '"/chat"' not in page
    assert "front.js" not in page


@pytest.fixture
def base() -> Iterator[str]:
    with serving(build_pages(documents=DOCUMENTS, own=[add_chat])) as address:
        yield address


def test_link_to_a_conversation_opens_in_chat(browser: Browser, base: str) -> None:
    narrow = "#narrow/channel/1-stage/topic/castle/near/42"
    browser.open(f"{base}/{narrow}")
    expected = f"{base}/chat{narrow}"
    browser.wait(lambda: browser.driver.current_url == expected, "the page of the chat")
    browser.open(f"{base}/#other")
    assert browser.text("h1") == "What this server offers"
