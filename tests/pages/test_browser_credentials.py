"""A page of an allowed origin in headless Chromium, whose session with a service is a cookie,
reads, writes and reads errors.

A page of another origin cannot do this with the same cookie.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.responses import HTMLResponse

from specd import Context, Cors
from specd._engine.http.browsers import Origins
from specd._engine.openapi.union import Document
from specd._engine.serving.app import build_app
from tests.pages.browser import Browser
from tests.pages.stage import running
from tests.specd.engine.services import ANYTHING, document, module, operation, shop_service

SESSION = "s-1"
CALL = """
const [method, address, body, done] = arguments;
const headers = body ? {"Content-Type": "application/json"} : {};
fetch(address, {method, headers, credentials: "include", body: body && JSON.stringify(body)}).then(
  async (answer) => done({status: answer.status, id: answer.headers.get("Request-Id"),
                          body: await answer.json()}),
  (error) => done({error: error.name}),
);
"""
FORM = """
const [action, done] = arguments;
const body = new URLSearchParams({text: "Sent by a form"});
fetch(action, {method: "POST", mode: "no-cors", credentials: "include", body})
  .then(() => done(), () => done());
"""


@dataclass
class Sites:
    """The service, pages of an allowed and of another origin, and the stored notes."""

    service: str
    allowed: str
    other: str
    notes: list[str] = field(default_factory=list)


def check_session(key: str) -> str | None:
    return "ada" if key == SESSION else None


async def show(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await HTMLResponse("<!doctype html><title>Other</title><body>")(scope, receive, send)


@pytest.fixture
def sites() -> Iterator[Sites]:
    notes: list[str] = []

    def sign_in(ctx: Context) -> Any:
        return {}, 200, {"Set-Cookie": f"session={SESSION}; HttpOnly; Path=/"}

    def list_notes(ctx: Context) -> Any:
        return {"notes": notes, "actor": ctx.actor}

    def add_note(ctx: Context, **fields: Any) -> Any:
        notes.append(fields.get("text") or fields["body"]["text"])
        return {}, 201

    def fail(ctx: Context) -> Any:
        raise RuntimeError

    text = {
        "schema": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string"}},
        }
    }
    content = {"application/json": text, "application/x-www-form-urlencoded": text}
    scheme = {"type": "apiKey", "in": "cookie", "name": "session",
              "x-apikeyInfoFunc": f"{__name__}.check_session"}  # fmt: skip
    signed_in = {"security": [{"session": []}]}
    described = document(
        {
            "/session": {"post": operation("sign_in")},
            "/notes": {
                "get": operation("list_notes", **signed_in),
                "put": operation("add_note", requestBody={"content": content}, **signed_in),
                "post": {
                    **operation("add_note", requestBody={"content": content}, **signed_in),
                    "operationId": "post_note",
                },
            },
            "/fault": {"get": operation("fail", responses=ANYTHING)},
        },
        securitySchemes={"session": scheme},
    )
    with ExitStack() as stack:
        allowed, other = (stack.enter_context(running(show)) for _ in range(2))
        handlers = module(
            "things",
            sign_in=sign_in,
            list_notes=list_notes,
            add_note=add_note,
            post_note=lambda ctx, **fields: add_note(ctx, **fields),
            fail=fail,
        )
        service = shop_service(
            documents=[Document("notes", described)],
            handlers=handlers,
            origins=Origins("http://notes.example", cors=Cors([allowed])),
        )
        address = stack.enter_context(running(build_app([service])))
        yield Sites(f"{address}/shop", allowed, other, notes)


def call(browser: Browser, address: str, method: str, body: Any = None) -> Any:
    return browser.driver.execute_async_script(CALL, method, address, body)


def test_page_of_an_allowed_origin_uses_its_cookie(browser: Browser, sites: Sites) -> None:
    browser.open(f"{sites.allowed}/")
    notes = f"{sites.service}/notes"
    assert call(browser, notes, "GET")["status"] == 401
    assert call(browser, f"{sites.service}/session", "POST")["status"] == 200
    assert call(browser, notes, "PUT", {"text": "Mine"})["status"] == 201
    read = call(browser, notes, "GET")
    assert read["body"] == {"notes": ["Mine"], "actor": "ada"}
    assert read["id"]
    browser.driver.execute_async_script(FORM, notes)
    assert sites.notes == ["Mine", "Sent by a form"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nothing", None, 404, "NotFound"),
        ("DELETE", "/notes", None, 405, "MethodNotAllowed"),
        ("PUT", "/notes", {"text": "x" * 70_000}, 413, "BodyTooLarge"),
        ("PUT", "/notes", {"text": 1}, 422, "InvalidRequest"),
        ("GET", "/fault", None, 500, "Bug"),
    ],
)
def test_page_of_an_allowed_origin_reads_the_body_of_an_error(
    browser: Browser, sites: Sites, method: str, path: str, body: Any, status: int, code: str
) -> None:
    browser.open(f"{sites.allowed}/")
    call(browser, f"{sites.service}/session", "POST")
    answer = call(browser, f"{sites.service}{path}", method, body)
    assert (answer["status"], answer["body"]["code"]) == (status, code)
    assert answer["id"] == answer["body"]["request_id"]


def test_page_of_another_origin_cannot_use_the_cookie(browser: Browser, sites: Sites) -> None:
    browser.open(f"{sites.allowed}/")
    call(browser, f"{sites.service}/session", "POST")
    browser.open(f"{sites.other}/")
    notes = f"{sites.service}/notes"
    for method, body in (("GET", None), ("PUT", {"text": "Taken"}), ("POST", {"text": "Taken"})):
        assert call(browser, notes, method, body) == {"error": "TypeError"}
    browser.driver.execute_async_script(FORM, notes)
    assert sites.notes == []
    browser.open(f"{sites.allowed}/")
    assert call(browser, notes, "GET")["body"] == {"notes": [], "actor": "ada"}
