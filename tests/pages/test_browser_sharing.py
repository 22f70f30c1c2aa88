"""Pages of other origins in headless Chromium.

Pages of an allowed origin use the chat like its own pages, and read its errors. Pages of another
origin change and read nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse

from handlers.chat.wire.context import ChatAdapters
from handlers.chat.wiring import build_service
from settings import Settings
from specd._engine.serving.app import build_app
from specd.db import Clock
from tests.pages.browser import Browser
from tests.pages.stage import EMAIL, running
from tests.support.chat.people import KEYS, VAULT

CALL = """
const [method, address, key, fields, done] = arguments;
const headers = {Authorization: "Basic " + btoa(key)};
const body = fields && new URLSearchParams(fields);
fetch(address, {method, headers, body}).then(
  async (answer) => done({status: answer.status, id: answer.headers.get("Request-Id"),
                          body: await answer.json()}),
  (error) => done({error: error.name}),
);
"""


@dataclass(frozen=True)
class Sites:
    """The chat, and pages of an allowed and of another origin."""

    chat: str
    allowed: str
    other: str


async def show(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await HTMLResponse("<!doctype html><title>Other</title><body>")(scope, receive, send)


@pytest.fixture(scope="module")
def sites(place: Path, key: str) -> Iterator[Sites]:
    with ExitStack() as stack:
        allowed, other = (stack.enter_context(running(show)) for _ in range(2))
        settings = Settings(
            database_urls={"chat": f"sqlite:///{place}"},
            data_dir=place.parent,
            rate_limits=False,
            allowed_origins=frozenset((allowed,)),
        )
        adapters = replace(ChatAdapters.from_settings(settings), keys=KEYS, vault=VAULT)
        service = build_service(settings, clock=Clock(), adapters=adapters)
        chat = stack.enter_context(running(build_app([service])))
        yield Sites(chat, allowed, other)


def call(
    browser: Browser, sites: Sites, key: str, method: str, path: str, fields: Any = None
) -> Any:
    address = f"{sites.chat}/api/v1{path}"
    return browser.driver.execute_async_script(CALL, method, address, f"{EMAIL}:{key}", fields)


def test_page_of_an_allowed_origin_reads_and_writes(
    browser: Browser, sites: Sites, key: str
) -> None:
    """The page puts the credentials into a header, so each request has a preflight."""
    browser.open(f"{sites.allowed}/")
    message = {"type": "direct", "to": f'["{EMAIL}"]', "content": "From another origin"}
    sent = call(browser, sites, key, "POST", "/messages", message)
    assert (sent["status"], sent["body"]["result"]) == (200, "success")
    assert sent["id"]
    path = f"/messages/{sent['body']['id']}"
    read = call(browser, sites, key, "GET", f"{path}?apply_markdown=false")
    assert read["body"]["message"]["content"] == "From another origin"
    changed = call(browser, sites, key, "PATCH", path, {"content": "Changed"})
    assert (changed["status"], changed["body"]["result"]) == (200, "success")


@pytest.mark.parametrize(
    ("status", "method", "path", "wrong_key"),
    [
        (400, "GET", "/messages/0", False),
        (401, "GET", "/users/me", True),
        (404, "GET", "/nothing", False),
        (405, "PUT", "/users/me", False),
    ],
)
def test_page_of_an_allowed_origin_reads_errors(
    browser: Browser,
    sites: Sites,
    key: str,
    status: int,
    method: str,
    path: str,
    wrong_key: bool,
) -> None:
    browser.open(f"{sites.allowed}/")
    answer = call(browser, sites, "wrong" if wrong_key else key, method, path)
    assert (answer["status"], answer["body"]["result"]) == (status, "error")
    assert answer["body"]["msg"]


@pytest.mark.parametrize(("method", "path"), [("GET", "/users/me"), ("PATCH", "/settings")])
def test_page_of_another_origin_reads_nothing(
    browser: Browser, sites: Sites, key: str, method: str, path: str
) -> None:
    browser.open(f"{sites.other}/")
    fields = {"full_name": "Taken"} if method == "PATCH" else None
    assert call(browser, sites, key, method, path, fields) == {"error": "TypeError"}
    browser.open(f"{sites.allowed}/")
    assert call(browser, sites, key, "GET", "/users/me")["body"]["full_name"] == "Ada"
