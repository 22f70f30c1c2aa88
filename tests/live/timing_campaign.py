"""`scripts/timing [SAMPLES]`: every pair of rejections that must look alike, by default 100,000
each.

The password hash is made cheap here, because the samples would take hours. So it hides nothing, and
the other code is the same as on a server.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from models.chat.identity import passwords
from specd import _logs as logs
from specd._db import migrate
from specd.db import Database
from tests.live.timing import LIMIT, Comparison, Send, compare
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.hashing import CHEAP
from tests.support.chat.people import Cast, make_cast
from tests.support.contract import HOST
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import make_merchant

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SAMPLES = 100_000


def sends(app: Any, request: Any) -> Send:
    def send() -> tuple[int, bytes]:
        [answer] = app.send(request)
        return answer.status_code, answer.content

    return send


def chat_pairs(directory: Path) -> Iterator[tuple[str, Send, Send]]:
    """Unknown address and wrong key; unknown address and wrong password."""
    url = f"sqlite:///{directory / 'chat.db'}"
    migrate.upgrade(url, "chat")
    database = Database(url)
    cast: Cast = database.run(lambda session: make_cast(session, now=NOW))
    app = ChatApp(database, FrozenClock(NOW), directory, validate_responses=False)
    nobody = ChatClient(app, cast.hamlet.host)

    def basic(email: str) -> Send:
        stranger = replace(cast.hamlet, email=email, key="x" * 32)
        return sends(app, nobody.acting_as(stranger).build("GET", "/users/me"))

    def password(email: str) -> Send:
        form = {"username": email, "password": "not the password"}
        return sends(app, nobody.build("POST", "/fetch_api_key", form))

    yield "chat: unknown address, wrong key", basic("hamler@acme.example"), basic(cast.hamlet.email)
    yield (
        "chat: unknown address, wrong password",
        password("hamler@acme.example"),
        password(cast.hamlet.email),
    )


def payment_pairs(directory: Path) -> Iterator[tuple[str, Send, Send]]:
    """An unknown key id, and a known one with a wrong secret."""
    url = f"sqlite:///{directory / 'payment.db'}"
    migrate.upgrade(url, "payment")
    database = Database(url)
    ada = database.run(lambda session: make_merchant(session, now=NOW))
    app = PaymentApp(database, FrozenClock(NOW), FakeGateway(), validate_responses=False)

    def bearer(key: str) -> Send:
        headers = {"Authorization": f"Bearer {key}"}
        return sends(app, httpx.Request("GET", f"{HOST}/v1/payment-methods", headers=headers))

    prefix, key_id, secret = ada.key[:9], ada.key[9:17], ada.key[17:]
    other_id = f"{int(key_id, 16) ^ 1:08x}"
    wrong = "_" + "A" * (len(secret) - 1)
    yield (
        "payment: unknown key, wrong secret",
        bearer(prefix + other_id + wrong),
        bearer(prefix + key_id + wrong),
    )


def report(name: str, found: Comparison) -> str:
    verdict = "alike" if found.is_constant else "TOLD APART"
    return (
        f"{name}: |t| {abs(found.t):.2f} (limit {LIMIT}), {found.difference_us:+.2f} us of "
        f"{found.mean_us:.0f} us over {found.kept:,} of {found.samples:,} samples: {verdict}"
    )


def main(samples: int = SAMPLES) -> int:
    passwords.PASSWORDS = CHEAP
    told_apart = 0
    with tempfile.TemporaryDirectory() as directory, Path(os.devnull).open("wb") as nowhere:
        logs.configure("info", secrets=(), stream=nowhere)
        for pairs in (payment_pairs, chat_pairs):
            for name, one, other in pairs(Path(directory)):
                found = compare(one, other, samples=samples)
                print(report(name, found), flush=True)
                told_apart += not found.is_constant
    return told_apart


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
