"""Pages of other sites in headless Chromium, which sends credentials with their requests. None of
their forms has an effect.
"""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse

from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.pages.browser import Browser
from tests.pages.stage import EMAIL, running

URLENCODED = "application/x-www-form-urlencoded"
TYPES = (URLENCODED, "multipart/form-data", "text/plain")
RENAME = {"full_name": "Taken"}
SEND = {"type": "direct", "to": f'["{EMAIL}"]', "content": "Taken"}
FORMS = [
    (method, path, enctype, fields)
    for enctype in TYPES
    for method, path, fields in (
        ("post", "/messages", SEND),
        ("post", "/settings", {"method": "PATCH", **RENAME}),
        ("post", "/users/me", {"method": "DELETE"}),
        ("post", "/messages", {"method": "GET", "anchor": "newest", **SEND}),
        ("get", "/settings", {"method": "PATCH", **RENAME}),
        ("get", "/messages", {"method": "POST", **SEND}),
    )
    if method == "post" or enctype == URLENCODED
]
PLACE_FORM = """
const [method, action, enctype, fields] = arguments;
const form = document.createElement("form");
Object.assign(form, {method, action, enctype});
for (const [name, value] of Object.entries(fields))
  form.append(Object.assign(document.createElement("input"), {type: "hidden", name, value}));
"""
TOP_LEVEL = PLACE_FORM + "document.body.append(form); HTMLFormElement.prototype.submit.call(form);"
SANDBOXED = (
    PLACE_FORM
    + """
const frame = document.createElement("iframe");
frame.sandbox = "allow-scripts allow-forms";
frame.srcdoc = form.outerHTML
  + "<script>HTMLFormElement.prototype.submit.call(document.forms[0])<" + "/script>";
document.body.append(frame);
"""
)
SCRIPTED = """
const [method, action, enctype, fields] = arguments;
const body = enctype === "multipart/form-data" ? new FormData() : new URLSearchParams(fields);
if (body instanceof FormData) for (const [n, v] of Object.entries(fields)) body.append(n, v);
fetch(method === "get" ? action + "?" + new URLSearchParams(fields) : action,
  {method, mode: "no-cors", credentials: "include", body: method === "get" ? undefined : body});
"""


@dataclass
class Recorded:
    """An ASGI application that records its requests: (method, status, Origin, Sec-Fetch-Site)."""

    app: Any
    seen: list[tuple[str, int, str, str]] = field(default_factory=list)
    has_credentials: bool = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        status = 0

        async def note(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self.app(scope, receive, note)
        if scope["type"] == "http" and scope["path"].startswith("/api/v1/"):
            said = {name.decode(): value.decode() for name, value in scope["headers"]}
            self.has_credentials = "authorization" in said
            whence = (said.get("origin", ""), said.get("sec-fetch-site", ""))
            self.seen.append((scope["method"], status, *whence))


@pytest.fixture(scope="module")
def recorded(service: Service) -> Recorded:
    return Recorded(build_app([service]))


@pytest.fixture(scope="module")
def base(recorded: Recorded) -> Iterator[str]:
    with running(recorded) as address:
        yield address


@pytest.fixture(scope="module")
def sibling() -> Iterator[str]:
    """Another origin of the same site."""

    async def show(scope: Any, receive: Any, send: Any) -> None:
        page = HTMLResponse("<!doctype html><title>Other</title><body>")
        if scope["type"] == "http":
            await page(scope, receive, send)

    with running(show) as address:
        yield address


@pytest.fixture
def signed_in(browser: Browser, key: str) -> Iterator[Browser]:
    """A browser that sends Ada's email and key with every request."""
    basic = base64.b64encode(f"{EMAIL}:{key}".encode()).decode()
    browser.command("Network.enable")
    headers = {"Authorization": f"Basic {basic}"}
    browser.command("Network.setExtraHTTPHeaders", headers=headers)
    yield browser
    browser.command("Network.setExtraHTTPHeaders", headers={})


def version_of(file: Path, connection: sqlite3.Connection) -> Any:
    """Return a version that changes with every write to the database."""
    return connection.execute("PRAGMA data_version").fetchone()


@pytest.mark.parametrize(
    ("site", "script"),
    # A page of another site may only send requests that navigate.
    [("sibling", TOP_LEVEL), ("sibling", SANDBOXED), ("sibling", SCRIPTED), ("none", TOP_LEVEL)],
    ids=["sibling top", "sibling frame", "sibling fetch", "data top"],
)
def test_form_of_another_site_has_no_effect(
    signed_in: Browser,
    base: str,
    sibling: str,
    recorded: Recorded,
    place: Path,
    site: str,
    script: str,
) -> None:
    page = f"{sibling}/" if site == "sibling" else "data:text/html,<title>Other</title><body>"
    with closing(sqlite3.connect(place)) as connection:
        before = version_of(place, connection)
        signed_in.open(page)
        for method, path, enctype, fields in FORMS:
            if script is TOP_LEVEL:  # the page has navigated
                signed_in.open(page)
            recorded.seen.clear()
            signed_in.run(script, method, f"{base}/api/v1{path}", enctype, fields)
            signed_in.wait(lambda: recorded.seen, f"{method} {path} as {enctype}")
            (sent, status, origin, whence) = recorded.seen[0]
            place_of = (method, path, enctype, origin, whence)
            assert sent == method.upper()
            if method == "post":
                is_null = site == "none" or script is SANDBOXED
                assert origin == ("null" if is_null else sibling)
            # DevTools does not give these headers to frames of another origin.
            assert recorded.has_credentials or script is SANDBOXED
            assert whence in ("same-site", "cross-site"), place_of
            assert status in ((403,) if method == "post" else (200, 400, 401, 405)), place_of
        assert version_of(place, connection) == before


def test_page_of_the_service_changes_data(
    signed_in: Browser,
    base: str,
    recorded: Recorded,
    place: Path,
) -> None:
    """Without this, the test above could never fail."""
    with closing(sqlite3.connect(place)) as connection:
        before = version_of(place, connection)
        signed_in.open(f"{base}/api/v1/users/me")
        recorded.seen.clear()
        signed_in.run(SCRIPTED.replace("no-cors", "cors"), "post", f"{base}/api/v1/settings",
                      URLENCODED, {"method": "PATCH", "full_name": "Ada L"})  # fmt: skip
        signed_in.wait(lambda: recorded.seen, "the own page's request")
        assert recorded.seen == [("POST", 200, base, "same-origin")]
        assert version_of(place, connection) != before
