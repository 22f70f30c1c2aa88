"""The client address behind proxies is the last hop that is not a trusted proxy."""

import asyncio
from typing import Any

import pytest

from specd import Response, network_of_client
from specd._engine.http.proxies import MAX_HOPS, TrustedProxies
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.specd.engine.services import document, module, operation, respond

FOR = b"x-forwarded-for"
PROXIES = TrustedProxies(("10.0.0.0/8", "127.0.0.1", "fd00::/8", "unix"))


def seen(peer: str | None, *told: bytes, proxies: TrustedProxies = PROXIES) -> str:
    """Return the client to which a request from `peer` with these headers is attributed."""
    scope: dict[str, Any] = {
        "type": "http",
        "scheme": "http",
        "client": None if peer is None else (peer, 1234),
        "headers": [(b"host", b"x"), *((FOR, value) for value in told)],
    }
    client = proxies.seen_through(scope)["client"]
    return "" if client is None else str(client[0])


@pytest.mark.parametrize(
    ("peer", "told", "client"),
    [
        ("10.0.0.1", [b"203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [b"1.1.1.1, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [b"203.0.113.9, 10.0.0.7 ,127.0.0.1"], "203.0.113.9"),
        ("10.0.0.1", [b"1.1.1.1", b"203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [b"203.0.113.9:4711"], "203.0.113.9"),
        ("10.0.0.1", [b"[2001:db8::1]:4711"], "2001:db8::1"),
        ("10.0.0.1", [b"2001:DB8:0:0::1"], "2001:db8::1"),
        ("10.0.0.1", [b"::ffff:203.0.113.9"], "203.0.113.9"),
        ("::ffff:10.0.0.1", [b"203.0.113.9"], "203.0.113.9"),
        ("fd00::5", [b"203.0.113.9"], "203.0.113.9"),
        (None, [b"203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [b"10.0.0.7"], "10.0.0.7"),
        # Headers of a peer that is not one of our proxies are ignored.
        ("203.0.113.1", [b"10.0.0.7"], "203.0.113.1"),
        ("203.0.113.1", [b"1.1.1.1"], "203.0.113.1"),
        ("2001:db8::1", [b"1.1.1.1"], "2001:db8::1"),
        # Unreadable headers are ignored, so the proxy that sent them is used.
        ("10.0.0.1", [b""], "10.0.0.1"),
        ("10.0.0.1", [b"unknown"], "10.0.0.1"),
        ("10.0.0.1", [b"_hidden"], "10.0.0.1"),
        ("10.0.0.1", [b"1.1.1.1, , 10.0.0.7"], "10.0.0.7"),
        ("10.0.0.1", [b"\xff\xfe"], "10.0.0.1"),
        ("10.0.0.1", [b"300.1.1.1"], "10.0.0.1"),
        ("10.0.0.1", [b"1.1.1.1;203.0.113.9"], "10.0.0.1"),
        ("10.0.0.1", [b"9" * 100_000], "10.0.0.1"),
        ("10.0.0.1", [b"::1%" + b"a" * 9], "::1"),
    ],
)  # fmt: skip
def test_last_untrusted_hop_is_the_client(peer: str | None, told: list[bytes], client: str) -> None:
    assert seen(peer, *told) == client


def test_chain_of_trusted_hops_is_followed_to_its_end() -> None:
    assert seen("10.0.0.1", b"203.0.113.9" + b",10.0.0.7" * (MAX_HOPS - 1)) == "203.0.113.9"
    assert seen("10.0.0.1", b"203.0.113.9" + b",10.0.0.7" * 100_000) == "10.0.0.7"


def test_no_proxy_is_trusted_by_default() -> None:
    for peer in ("127.0.0.1", "10.0.0.1", "::1", None):
        assert seen(peer, b"203.0.113.9", proxies=TrustedProxies(())) == (peer or "")
    assert seen(None, b"203.0.113.9", proxies=TrustedProxies(("127.0.0.1",))) == ""


@pytest.mark.parametrize(
    ("peer", "proto", "scheme"),
    [
        ("10.0.0.1", b"https", "https"),
        ("10.0.0.1", b"http", "http"),
        ("10.0.0.1", b"javascript", "http"),
        ("203.0.113.1", b"https", "http"),
    ],
)
def test_only_a_trusted_proxy_sets_scheme_and_host(peer: str, proto: bytes, scheme: str) -> None:
    scope: dict[str, Any] = {
        "scheme": "http",
        "client": (peer, 1),
        "headers": [(b"x-forwarded-proto", proto)],
    }
    assert PROXIES.seen_through(scope)["scheme"] == scheme


@pytest.mark.parametrize(
    ("address", "place", "network"),
    [
        ("203.0.113.9", "203.0.113.9/32", "203.0.113.0/24"),
        ("::ffff:203.0.113.9", "203.0.113.9/32", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("", "", ""),
        ("testclient", "testclient", "testclient"),
    ],
)
def test_addresses_are_grouped_into_networks(address: str, place: str, network: str) -> None:
    assert (network_of_client(address), network_of_client(address, 24, 48)) == (place, network)


def test_handlers_and_pages_get_the_client_address() -> None:
    def whoami(ctx: Any) -> Response:
        return Response(200, ctx.client.encode())

    def page(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["REMOTE_ADDR"].encode()]

    service = Service(
        name="made",
        documents=[Document("made", document({"/whoami": {"get": operation("whoami")}}))],
        handlers=module("things", whoami=whoami),
        base_path="/t",
        respond=respond,
    )
    app = build_app([service], pages=page, trusted_proxies=("10.0.0.0/8",))

    async def ask(path: str, peer: str) -> bytes:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
            "headers": [(b"host", b"x"), (FOR, b"198.51.100.7, 203.0.113.9")],
            "client": (peer, 1), "server": ("x", 80),
        }  # fmt: skip
        await app(scope, receive, send)
        return b"".join(message.get("body", b"") for message in sent)

    for path in ("/t/whoami", "/page"):
        assert asyncio.run(ask(path, "10.1.2.3")) == b"203.0.113.9"
        assert asyncio.run(ask(path, "192.0.2.1")) == b"192.0.2.1"
