"""Every rate limit of the services resists clients that attack it.

A test compares the services' list of limits with those tested here.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from handlers.chat.wire.limits import POLLS_PER_REQUEST
from specd import RateLimiter
from specd._engine import rate_limit
from specd.db import Database
from tests.support.app import ServiceApp
from tests.support.chat.app import ChatApp, shared_app
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import ADA_XPUB, BEN_XPUB, make_merchant

FEW = 5
FLOOD = 100
TRIED_ELSEWHERE = {
    "chat bots", "chat polls of bots", "chat invitation", "chat notices", "chat known place",
}  # fmt: skip
"""Tested in tests/handlers/chat/test_conventions.py and test_bearers.py."""
LIMITS = ["payment key", "payment address", "chat user", "chat polls", "chat address"]


@dataclass(frozen=True)
class Case:
    """One limit: the service, the request, the headers that identify the client, and the allowed
    number of requests.
    """

    app: ServiceApp
    url: str
    victim: dict[str, str]
    other: dict[str, str]
    most: int = FEW

    def ask(self, headers: dict[str, str], address: str = "198.51.100.1") -> int:
        """Return the status for a client at that address, behind the proxy."""
        told = {"X-Forwarded-For": f"9.9.9.9, {address}", **headers}
        return self.app.send(httpx.Request("GET", self.url, headers=told))[0].status_code


@pytest.fixture
def case(
    request: pytest.FixtureRequest,
    chat_apps: list[ChatApp],
    clock: FrozenClock,
    chain: FakeGateway,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Case]:
    service, _, who = str(request.param).partition(" ")
    app: ServiceApp
    with ExitStack() as stack:
        if service == "payment":
            database = Database(request.getfixturevalue("sqlite_url"))
            app = PaymentApp(
                database, clock, chain, rate_limits=True, rate_limit_per_minute=FEW,
                data_dir=tmp_path,
            )  # fmt: skip
            stack.callback(app.close)
            url = "http://pay.example/v1/payment-methods"
            merchants = [
                database.run(lambda s, xpub=xpub: make_merchant(s, now=clock.now(), xpub=xpub))
                for xpub in (ADA_XPUB, BEN_XPUB)
            ]
            victim, other = ({"Authorization": f"Bearer {each.key}"} for each in merchants)
        else:
            chat_url, cast = request.getfixturevalue("chat_sqlite")
            database = Database(chat_url)
            app = shared_app(chat_apps, database, clock, tmp_path_factory)
            limits = {
                "rate_limits": True,
                "chat_rate_limit_per_user": FEW,
                "chat_rate_limit_per_address": FEW,
            }
            stack.enter_context(app.changed(tmp_path, limits))
            url = "http://acme.example/api/v1/users/me"
            pairs = [httpx.BasicAuth(m.email, m.key) for m in (cast.hamlet, cast.othello)]
            victim, other = ({"Authorization": pair._auth_header} for pair in pairs)
        if who == "address":
            victim, other = {}, {"X-Forwarded-For": "203.0.113.200"}
        most = FEW
        if who == "polls":
            url = "http://acme.example/api/v1/events?queue_id=none&last_event_id=-1"
            most *= POLLS_PER_REQUEST
        stack.callback(database.dispose)
        yield Case(app, url, victim, other, most)


@pytest.mark.parametrize("case", LIMITS, indirect=True)
def test_every_limit_of_the_service_is_tested(case: Case) -> None:
    counted = case.app.service.rate_limit
    assert isinstance(counted, RateLimiter)
    name = case.app.service.name
    limits = {f"{name} {limit}" for limit in counted._limits}
    assert limits - TRIED_ELSEWHERE == {each for each in LIMITS if each.startswith(name)}


@pytest.mark.parametrize("case", LIMITS, indirect=True)
def test_count_in_use_survives_a_flood(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test puts all clients into one bucket, which an attacker cannot do."""
    monkeypatch.setattr(rate_limit, "_BUCKETS", 1)
    served = [case.ask(case.victim) for _ in range(case.most + 3)]
    assert 429 not in served[: case.most]
    assert served[case.most :] == [429] * 3
    for number in range(FLOOD):
        case.ask({}, f"10.{number % 250}.{number // 250}.7")
        if number % 20 == 0:
            assert case.ask(case.victim) == 429
    assert case.ask(case.victim) == 429


@pytest.mark.parametrize("case", LIMITS, indirect=True)
def test_flood_of_one_client_does_not_affect_others(case: Case) -> None:
    for _ in range(case.most + FEW):
        case.ask(case.victim)
    assert case.ask(case.victim) == 429
    assert case.ask(case.other) != 429


@pytest.mark.parametrize("case", [x for x in LIMITS if "address" in x], indirect=True)
def test_client_cannot_change_its_identity(case: Case) -> None:
    """An IPv6 network of 64 bits is one client."""
    said = [{"X-Forwarded-For": f"203.0.113.{n}, 198.51.100.9"} for n in range(FEW * 2)]
    assert [case.ask(each) for each in said][FEW:] == [429] * FEW
    spread = [case.ask({}, f"2001:db8::{n:x}") for n in range(1, FEW * 2 + 1)]
    assert spread[FEW:] == [429] * FEW
