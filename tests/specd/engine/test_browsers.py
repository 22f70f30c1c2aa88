"""The origins whose pages may change data, and the responses to browsers."""

from typing import Any

import pytest

from specd import Response
from specd._engine.errors import ForeignOrigin
from specd._engine.http.browsers import Origins, is_browser, without_browser_challenge
from specd._engine.http.cors import origin_of
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
        # The browser determines the scheme, which the settings may not contain.
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
def test_origins_that_may_change_data(headers: dict[str, str], is_own: bool) -> None:
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    sent[b"host"] = b"Acme.example"
    if is_own:
        ORIGINS.check(sent)
    else:
        with pytest.raises(ForeignOrigin):
            ORIGINS.check(sent)


def test_without_a_host_no_origin_is_allowed() -> None:
    for origin in (b"", b"https://", b"://"):
        with pytest.raises(ForeignOrigin):
            ORIGINS.check({b"origin": origin})


def test_origins_are_written_like_in_browsers() -> None:
    assert origin_of("HTTPS://Pay.example:443/shop") == "https://pay.example"
    assert origin_of("http://pay.example:443") == "http://pay.example:443"
    assert origin_of("http://127.0.0.1:8080") == "http://127.0.0.1:8080"
    assert origin_of("app://chat") == "app://chat"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_request_is_rejected_before_its_body_is_read(method: str) -> None:
    asked = []

    async def receive() -> dict[str, Any]:
        asked.append(True)
        return {"type": "http.disconnect"}

    headers = [ADA, KEY, ("Sec-Fetch-Site", "cross-site"), ("Content-Type", "application/json")]
    answer = shop().send(method, "/items", headers=headers, receive=receive)
    assert (answer.status, answer.json["code"]) == (403, "ForeignOrigin")
    assert asked == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reads_are_allowed(shop: Client, method: str) -> None:
    headers = [ADA, ("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
    assert shop.send(method, "/items", headers=headers).status in (200, 204)


BROWSERS = (
    {b"sec-fetch-mode": b"navigate"},
    {b"sec-fetch-mode": b"cors"},
    {b"origin": b"null"},
    {b"accept": b"text/html,*/*;q=0.8"},
    {b"user-agent": b"Mozilla/5.0 (X11; Linux x86_64)"},
)


def test_browsers_are_recognized() -> None:
    assert all(is_browser(headers) for headers in BROWSERS)
    others = (b"curl/8.5", b"ZulipMobile/27.2", b"python-requests/2.32", b"node")
    assert not any(is_browser({b"user-agent": name, b"accept": b"*/*"}) for name in others)


@pytest.mark.parametrize("scheme", ["Basic", "basic", "Digest", "Negotiate"])
def test_challenge_never_opens_a_browser_prompt(scheme: str) -> None:
    headers = (("WWW-Authenticate", f'{scheme} realm="zulip"'), ("Link", "x"))
    response = without_browser_challenge(Response(401, b"{}", headers))
    assert response == Response(
        401, b"{}", (("WWW-Authenticate", 'Session realm="zulip"'), ("Link", "x"))
    )
    kept = (("WWW-Authenticate", "Bearer"),)
    assert without_browser_challenge(Response(401, b"{}", kept)).headers == kept
