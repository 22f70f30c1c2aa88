"""Whose pages may change things, and what a browser is told."""

from typing import Any

import pytest

from specd import Response
from specd._engine.http.browsers import Origins, is_browser, origin_of, without_browser_challenge
from specd.errors import ForeignOrigin
from tests.specd.engine.client import Client
from tests.specd.engine.services import ADA, KEY, shop

ORIGINS = Origins("https://pay.example:443", ["app://chat"])


@pytest.mark.parametrize(
    ("headers", "is_own"),
    [
        ({}, True),
        ({"origin": "https://pay.example"}, True),
        ({"origin": "HTTPS://Pay.Example"}, True),
        ({"origin": "app://chat", "sec-fetch-site": "cross-site"}, True),
        ({"origin": "app://other"}, False),
        ({"origin": "https://pay.example", "sec-fetch-site": "same-site"}, True),
        ({"origin": "https://acme.example"}, True),
        ({"origin": "https://acme.example", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "https://acme.example", "sec-fetch-site": "cross-site"}, False),
        ({"origin": "http://acme.example"}, False),
        # The browser knows better than the settings which scheme the proxy serves.
        ({"origin": "http://acme.example", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "https://acme.example:444"}, False),
        ({"origin": "null"}, False),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, False),
        ({"origin": ""}, False),
        ({"origin": "acme.example"}, False),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
    ],
)
def test_whose_pages_may_change_things(headers: dict[str, str], is_own: bool) -> None:
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    sent[b"host"] = b"Acme.example"
    if is_own:
        ORIGINS.check(sent)
    else:
        with pytest.raises(ForeignOrigin):
            ORIGINS.check(sent)


def test_without_a_host_nobody_is_at_home() -> None:
    for origin in (b"", b"https://", b"://"):
        with pytest.raises(ForeignOrigin):
            ORIGINS.check({b"origin": origin})


def test_origins_are_written_as_browsers_write_them() -> None:
    assert origin_of("HTTPS://Pay.example:443/shop") == "https://pay.example"
    assert origin_of("http://pay.example:443") == "http://pay.example:443"
    assert origin_of("http://127.0.0.1:8080") == "http://127.0.0.1:8080"
    assert origin_of("app://chat") == "app://chat"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_the_engine_refuses_before_it_reads(method: str) -> None:
    asked = []

    async def receive() -> dict[str, Any]:
        asked.append(True)
        return {"type": "http.disconnect"}

    headers = [ADA, KEY, ("Sec-Fetch-Site", "cross-site"), ("Content-Type", "application/json")]
    answer = shop().send(method, "/items", headers=headers, receive=receive)
    assert (answer.status, answer.json["code"]) == (403, "ForeignOrigin")
    assert asked == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_is_not_refused(shop: Client, method: str) -> None:
    headers = [ADA, ("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
    assert shop.send(method, "/items", headers=headers).status in (200, 204)


BROWSERS = (
    {b"sec-fetch-mode": b"navigate"},
    {b"sec-fetch-mode": b"cors"},
    {b"origin": b"null"},
    {b"accept": b"text/html,*/*;q=0.8"},
    {b"user-agent": b"Mozilla/5.0 (X11; Linux x86_64)"},
)


def test_what_is_a_browser() -> None:
    assert all(is_browser(headers) for headers in BROWSERS)
    others = (b"curl/8.5", b"ZulipMobile/27.2", b"python-requests/2.32", b"node")
    assert not any(is_browser({b"user-agent": name, b"accept": b"*/*"}) for name in others)


@pytest.mark.parametrize("scheme", ["Basic", "basic", "Digest", "Negotiate"])
def test_no_challenge_makes_a_browser_ask(scheme: str) -> None:
    headers = (("WWW-Authenticate", f'{scheme} realm="zulip"'), ("Link", "x"))
    told = without_browser_challenge(Response(401, b"{}", headers))
    assert told == Response(
        401, b"{}", (("WWW-Authenticate", 'Session realm="zulip"'), ("Link", "x"))
    )
    kept = (("WWW-Authenticate", "Bearer"),)
    assert without_browser_challenge(Response(401, b"{}", kept)).headers == kept


@pytest.fixture(scope="module")
def open_shop() -> Client:
    return shop(origins=Origins("https://pay.example", ["https://app.example"]))


class TestSharing:
    """CORS: pages of allowed origins can read every answer, other pages none."""

    ALLOWED = ("Origin", "https://app.example")

    @pytest.mark.parametrize(
        ("method", "path", "headers", "status"),
        [
            ("GET", "/items", [ADA], 200),
            ("POST", "/items", [KEY], 401),
            ("GET", "/items?limit=x", [ADA], 422),
            ("GET", "/nothing", [ADA], 404),
            ("PUT", "/items", [ADA], 405),
            ("POST", "/items", [ADA, KEY, ("Content-Length", "99999999")], 413),
            ("POST", "/items", [ADA, KEY, ("Content-Type", "image/png")], 415),
            ("GET", "/items", [ADA, *([("X-Long", "x" * 999)] * 99)], 431),
            ("GET", "/items", [ADA, ("Host", "a"), ("Host", "b")], 422),
        ],
    )
    def test_every_answer_is_readable(
        self,
        open_shop: Client,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        status: int,
    ) -> None:
        answer = open_shop.send(method, path, headers=[*headers, self.ALLOWED])
        assert answer.status == status
        assert answer.header("Access-Control-Allow-Origin") == "https://app.example"
        assert answer.header("Access-Control-Allow-Credentials") == "true"
        assert answer.header("Vary") == "Origin"
        readable = (answer.header("Access-Control-Expose-Headers") or "").split(", ")
        assert "request-id" in readable
        foreign = open_shop.send(
            method, path, headers=[*headers, ("Origin", "https://pay.example")]
        )
        assert foreign.status == status
        assert foreign.header("Access-Control-Allow-Origin") is None
        assert foreign.header("Vary") == "Origin"

    def test_preflight_names_what_the_path_takes(self, open_shop: Client) -> None:
        asked = [
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type, idempotency-key"),
        ]
        answer = open_shop.send("OPTIONS", "/items", headers=[self.ALLOWED, *asked])
        assert (answer.status, answer.body) == (204, b"")
        assert answer.header("Access-Control-Allow-Origin") == "https://app.example"
        assert answer.header("Access-Control-Allow-Methods") == answer.header("Allow")
        assert "POST" in (answer.header("Allow") or "")
        assert answer.header("Access-Control-Allow-Headers") == asked[1][1]
        assert answer.header("Access-Control-Max-Age") == "7200"
        foreign = open_shop.send(
            "OPTIONS", "/items", headers=[("Origin", "https://evil.example"), *asked]
        )
        assert foreign.status == 204
        assert foreign.header("Access-Control-Allow-Methods") is None

    @pytest.mark.parametrize(
        ("path", "method", "allowed"),
        [
            ("/items", "PUT", "GET, HEAD, OPTIONS, POST, PUT"),
            ("/nothing", "GET", "GET"),
            ("/nothing", "a b", ""),
        ],
    )
    def test_preflight_lets_pages_read_errors_of_wrong_methods_and_paths(
        self, open_shop: Client, path: str, method: str, allowed: str
    ) -> None:
        asked = [self.ALLOWED, ("Access-Control-Request-Method", method)]
        answer = open_shop.send("OPTIONS", path, headers=asked)
        assert answer.status == 204
        named = (answer.header("Access-Control-Allow-Methods") or "").split(", ")
        assert sorted(named) == allowed.split(", ")
        assert open_shop.send("OPTIONS", "/nothing").status == 404

    @pytest.mark.parametrize("names", ["", "a\tb", "a b", "a:b", ",", "a,,b"])
    def test_preflight_with_wrong_names_allows_none(self, open_shop: Client, names: str) -> None:
        asked = [
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", names),
        ]
        answer = open_shop.send("OPTIONS", "/items", headers=[self.ALLOWED, *asked])
        assert answer.header("Access-Control-Allow-Headers") is None

    def test_documents_stay_readable_for_all(self, open_shop: Client) -> None:
        answer = open_shop.get("/openapi.json", headers=[self.ALLOWED])
        assert answer.header("Access-Control-Allow-Origin") == "*"

    def test_nothing_is_shared_without_allowed_origins(self, shop: Client) -> None:
        answer = shop.get("/items", headers=[ADA, self.ALLOWED])
        assert answer.header("Access-Control-Allow-Origin") is None
        assert answer.header("Vary") is None
