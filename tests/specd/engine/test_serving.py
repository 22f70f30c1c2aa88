"""Errors of the HTTP protocol, without a request."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from specd._engine.serving.protocol import MAX_HEAD, Protocol
from tests.specd.engine.wire import Wire, answer_to


def head_of(*chunks: bytes) -> list[bytes]:
    return answer_to(*chunks).partition(b"\r\n\r\n")[0].split(b"\r\n")


def refusal_of(*chunks: bytes) -> tuple[int, str]:
    """Return (status, code) of the response to bytes sent to a server of the shop."""
    head, _, body = answer_to(*chunks).partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in head
    return int(head.split()[1]), json.loads(body)["code"]


def heard_of(*chunks: bytes) -> dict[str, Any]:
    """Return the scope of the only request in these bytes, from an application that reads it
    completely.
    """
    seen: list[dict[str, Any]] = []

    async def app(
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        while (await receive()).get("more_body"):
            pass
        seen.append({**scope, "headers": list(scope["headers"])})
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def exchange() -> None:
        config = Config(app, http=Protocol, lifespan="off", proxy_headers=False)
        config.load()
        state = ServerState()
        protocol = Protocol(config, state, {})
        protocol.connection_made(Wire())
        for chunk in chunks:
            protocol.data_received(chunk)
        await asyncio.wait_for(asyncio.gather(*state.tasks), 20)
        protocol.connection_lost(None)

    asyncio.run(exchange())
    (scope,) = seen
    return scope


LONG = b"a" * (MAX_HEAD + 1)


@pytest.mark.parametrize(
    ("chunks", "code"),
    [
        ([b"GET /shop/gadgets HTTP/1.1\r\nX: ", LONG], "HeadersTooLarge"),
        ([b"GET /elsewhere HTTP/1.1\r\nX: ", LONG], "headers_too_large"),
    ],
)
def test_long_head_is_rejected_by_the_requested_service(chunks: list[bytes], code: str) -> None:
    assert refusal_of(*chunks) == (431, code)


@pytest.mark.parametrize("size", [MAX_HEAD + 1, 65_535, 65_536, 66_000, 70_000, 140_000])
@pytest.mark.parametrize("piece", [1_000, 65_536, 200_000])
def test_long_address_is_rejected_by_the_requested_service(size: int, piece: int) -> None:
    """Over 64 KiB, the parser fails, either on the address or on the head."""
    path = b"/shop/gadgets?q="
    sent = b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % path.ljust(size, b"a")
    pieces = [sent[start : start + piece] for start in range(0, len(sent), piece)]
    assert refusal_of(*pieces) == (414, "TargetTooLong")
    assert refusal_of(*[each.replace(b"shop", b"none") for each in pieces])[0] in (404, 414)


def test_invalid_http_is_rejected() -> None:
    assert refusal_of(b"HELO\r\n\r\n") == (400, "malformed_http")


@pytest.mark.parametrize(
    "chunks",
    [
        [b"GET /shop/gadgets HTTP/9.9\r\n\r\n"],
        [b"GET /shop/gadgets HTTP/x\r\n\r\n"],
        [b"GET /shop/gadgets and more HTTP/1.1\r\n\r\n"],
        [b"GET /shop/gadgets\x00 HTTP/1.1\r\n\r\n"],
        [b"BREW /shop/gadgets HTTP/1.1\r\nHost: a\r\n\r\n"],
        [b"GET /shop/gadgets HTTP/1.1\r\nHost a\r\n\r\n"],
        [b"GET /shop/gadgets HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n"],
        [b"GET /shop/gadgets HTTP/1.1\r\nHost: a\r\n", b"\x00: c\r\n\r\n"],
        [b"POST /shop/items HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"],
        [b"POST /shop/items HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"],
        [b"POST /shop/items HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
        [b"POST /shop/items HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n"],
    ],
)
def test_malformed_http_is_rejected_by_the_requested_service(chunks: list[bytes]) -> None:
    assert refusal_of(*chunks) == (422, "InvalidRequest")


BODY = (
    b"POST /shop/items HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
)
SENT = [(b"host", b"a"), (b"transfer-encoding", b"chunked")]


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Host", "Origin", "Content-Type", "Cookie",
     "Idempotency-Key", "Connection", "X-Forwarded-For", "Anything"],
)  # fmt: skip
def test_trailers_are_not_headers(name: str) -> None:
    trailer = f"{name}: x\r\n\r\n".encode()
    # In one packet, and long after the headers have been parsed.
    for chunks in ([BODY + trailer], [BODY, trailer]):
        assert heard_of(*chunks)["headers"] == SENT


HEAD = b"GET %s HTTP/1.1\r\n%s\r\n"


@pytest.mark.parametrize("path", [b"/shop/gadgets", b"/docs", b"/healthz"])
@pytest.mark.parametrize(
    ("target", "hosts"),
    [
        (b"%s", b"Host: a\r\nHost: a\r\n"),
        (b"%s", b"Host: a\r\nX: y\r\nhost: b\r\n"),
        (b"%s", b""),
        (b"http://b%s", b"Host: a\r\n"),
        (b"http://user@a%s", b"Host: a\r\n"),
        (b"http://a:80%s", b"Host: a:81\r\n"),
    ],
)
def test_request_must_have_a_host(path: bytes, target: bytes, hosts: bytes) -> None:
    code = "InvalidRequest" if path.startswith(b"/shop") else "malformed_http"
    status = 422 if path.startswith(b"/shop") else 400
    assert refusal_of(HEAD % (target % path, hosts)) == (status, code)


def test_absolute_address_of_the_host_is_accepted() -> None:
    for target in (b"http://A:81/x?q=://b", b"/x?q=://b"):
        scope = heard_of(HEAD % (target, b"Host: a:81\r\n"))
        assert (scope["path"], scope["query_string"]) == ("/x", b"q=://b")
    assert heard_of(b"GET /a://b HTTP/1.0\r\n\r\n")["path"] == "/a://b"


def test_every_rejection_has_the_usual_headers() -> None:
    for path in (b"/shop/gadgets", b"/docs"):
        headers = head_of(HEAD % (path, b""))
        assert b"x-content-type-options: nosniff" in headers
        assert b"cache-control: no-store" in headers
