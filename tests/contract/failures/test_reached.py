"""Each error code is reached by a test with a mark, which `tests/conftest.py` verifies. Codes
without a test elsewhere are reached here.
"""

from __future__ import annotations

import ast
import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from specd.db import Database
from tests.contract.failures.page import SERVICES
from tests.support.app import ServiceApp
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import Merchant

TESTS = Path(__file__).parents[2]


def promised() -> Iterator[str]:
    """Yield the codes in every `pytest.mark.reaches(...)` of the suite."""
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text()
        if "mark.reaches" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.reaches":
                yield from (ast.literal_eval(code) for code in node.args)


def test_every_code_is_reached_by_a_test() -> None:
    codes = {f.code or str(f.status) for listed in SERVICES.values() for f in listed()}
    assert set(promised()) == codes


@contextmanager
def impatient(app: ServiceApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reduce the time limit for bodies of the service from fifteen seconds to a moment."""
    monkeypatch.setattr("specd._engine.http.answering._LINGER_SECONDS", 0.02)
    patience = app.service.body_timeout_s
    object.__setattr__(app.service, "body_timeout_s", 0.02)
    try:
        yield
    finally:
        object.__setattr__(app.service, "body_timeout_s", patience)


class Never(httpx.AsyncByteStream):
    """A body that never arrives."""

    def __aiter__(self) -> Never:
        return self

    async def __anext__(self) -> bytes:
        await asyncio.Event().wait()
        return b""


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestPayment:
    @pytest.mark.reaches("request_timeout")
    def test_missing_body_times_out(
        self, payment_app: PaymentApp, ada: Merchant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        headers = {
            "Host": "service.test",
            "Authorization": f"Bearer {ada.key}",
            "Idempotency-Key": "key-of-nothing",
            "Content-Type": "application/json",
            "Content-Length": "9",
        }
        request = httpx.Request(
            "POST", "http://service.test/v1/invoices", headers=headers, stream=Never()
        )
        with impatient(payment_app, monkeypatch):
            [answer] = payment_app.send(request)
        assert (answer.status_code, answer.json()["code"]) == (408, "request_timeout")
        assert answer.headers["Link"] == '</docs/payment/errors#request_timeout>; rel="help"'


@pytest.mark.parametrize("chat_filled", ["sqlite"], indirect=True)
class TestChat:
    @pytest.mark.reaches("REQUEST_TIMEOUT")
    def test_missing_body_times_out(
        self, chat_app: ChatApp, chat: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent = chat.build("POST", "/users/me/status", {"status_text": "x"})
        names = ("host", "authorization", "content-type", "content-length")
        headers = {name: sent.headers[name] for name in names}
        request = httpx.Request("POST", sent.url, headers=headers, stream=Never())
        with impatient(chat_app, monkeypatch):
            [answer] = chat_app.send(request)
        assert (answer.status_code, answer.json()["code"]) == (408, "REQUEST_TIMEOUT")
        assert answer.headers["Link"] == '</docs/chat/errors#REQUEST_TIMEOUT>; rel="help"'

    @pytest.mark.reaches("HEADERS_TOO_LARGE")
    def test_headers_that_are_too_long(self, chat: ChatClient) -> None:
        answer = chat.request("GET", "/users/me", headers={"X-Long": "x" * 70_000})
        assert (answer.status_code, answer.json()["code"]) == (431, "HEADERS_TOO_LARGE")

    @pytest.mark.reaches("URI_TOO_LONG")
    def test_url_that_is_too_long(self, chat: ChatClient) -> None:
        answer = chat.request("GET", "/users/me?x=" + "x" * 9_000)
        assert (answer.status_code, answer.json()["code"]) == (414, "URI_TOO_LONG")

    @pytest.mark.reaches("UNSUPPORTED_MEDIA_TYPE")
    def test_compressed_form(self, chat: ChatClient) -> None:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip"}
        answer = chat.request("POST", "/users/me/status", content=b"status_text=x", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
        assert "application/x-www-form-urlencoded" in answer.json()["msg"]
        assert answer.headers["Accept-Encoding"] == "identity"

    @pytest.mark.reaches("500")
    def test_bug(self, chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("models.chat.people.statuses.change_status", None)
        answer = chat.request("POST", "/users/me/status", {"status_text": "x"})
        assert (answer.status_code, answer.json()) == (
            500,
            {"result": "error", "msg": "Internal server error"},
        )
        assert answer.headers["Link"] == '</docs/chat/errors#500>; rel="help"'

    @pytest.mark.impatient
    @pytest.mark.reaches("DATABASE_UNAVAILABLE")
    def test_locked_database(
        self, chat: ChatClient, chat_filled: tuple[str, object], chat_database: Database
    ) -> None:
        path = chat_filled[0].removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = chat.request("POST", "/users/me/status", {"status_text": "x"})
        assert (answer.status_code, answer.json()["code"]) == (503, "DATABASE_UNAVAILABLE")
        assert answer.headers["Retry-After"] == "1"
