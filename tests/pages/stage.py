"""A stage for the pages: an invoice whose facts a test can change, with a separate clock."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import uvicorn
from flask import Flask
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from models.payment.checkout_sessions import CheckoutView
from pages import checkout
from tests.support.service_pages import build_pages

START = datetime(2031, 5, 17, 9, 0, tzinfo=UTC)
EMAIL = "ada@local.example"
TOKEN = "tok_3vJx0f9Zr6Qm8sLkW2yBn5cT1uHd7eGaPiXoRzEw4"
PAGE = f"/checkout/{TOKEN}"
STATUS = f"{PAGE}/status"
DEPOSIT = "0x58A57ed9d8d624cBD12e2C467D34787555bB1b25"
CONTRACT = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
URI = f"ethereum:{CONTRACT}@31337/transfer?address={DEPOSIT}&uint256=12500000"


SECURE = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


def make_view(**over: object) -> CheckoutView:
    """Return an unpaid invoice over 12.5 TUSD that expires in half an hour, with the changes in
    `over`.
    """
    usual = CheckoutView(
        invoice_id="0f8c1c5e-2c44-4d1e-9a55-6f1f6f6f2a10",
        merchant="Ada's Books",
        external_order_id="order-1042",
        status="unpaid",
        exception="none",
        amount=12_500_000,
        amount_paid=0,
        amount_pending=0,
        amount_remaining=12_500_000,
        amount_overpaid=0,
        decimals=6,
        token_symbol="TUSD",
        token_address=CONTRACT,
        chain_id=31337,
        chain_name="Local test chain",
        deposit_address=DEPOSIT,
        payment_uri=URI,
        confirmations=0,
        confirmations_required=2,
        expires_at=START + timedelta(minutes=30),
        success_url=None,
        cancel_url=None,
        session_expires_at=START + timedelta(minutes=30),
        now=START,
    )
    return replace(usual, **over)  # type: ignore[arg-type]


PARTIAL: dict[str, object] = {
    "exception": "partial",
    "amount_pending": 5_000_000,
    "amount_remaining": 7_500_000,
}
PROCESSING: dict[str, object] = {
    "status": "processing",
    "amount_pending": 12_500_000,
    "amount_remaining": 0,
    "confirmations": 1,
}
PAID: dict[str, object] = {
    "status": "paid",
    "amount_paid": 12_500_000,
    "amount_remaining": 0,
    "confirmations": 2,
}


class Stage:
    """The results of `find_checkout`. `now` starts at START and uses the monotonic clock."""

    def __init__(self) -> None:
        self.facts: dict[str, object] = {}
        self.failure: Exception | None = None
        self.ahead = timedelta(0)
        self._began = time.monotonic()

    @property
    def now(self) -> datetime:
        return START + self.ahead + timedelta(seconds=time.monotonic() - self._began)

    def set(self, **facts: object) -> None:
        self.facts = facts

    def find_checkout(self, token: str) -> CheckoutView | None:
        if self.failure is not None:
            raise self.failure
        return make_view(**{"now": self.now, **self.facts}) if token == TOKEN else None

    def build(self) -> Flask:
        own = partial(checkout.install, look_up=self.find_checkout, poll_ms=100)
        return build_pages(documents={"payment": "/v1/openapi"}, own=[own])


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve `app` from a thread on a free port. Yield its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def element(answer: TestResponse, name: str) -> str:
    """Return the text of the element with this id, which must not contain other elements."""
    found = re.search(rf'id="{name}"[^>]*>([^<]*)<', answer.text)
    assert found, f"no #{name}"
    return found[1]


@contextmanager
def running(app: Any, *, port: int = 0) -> Iterator[str]:
    """Serve an ASGI application from a thread, on a free port. Yield its address."""
    config = uvicorn.Config(app, port=port, log_config=None, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive(), "the server did not start"
        taken = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{taken}"
    finally:
        server.should_exit = True
        thread.join()
