"""What the HTTP protocol refuses before there is a request."""

import asyncio
import json
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from server.app import build_app
from server.serving import MAX_HEAD, Protocol
from tests.server.services import shop_service


class Wire(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def refusal_of(*chunks: bytes) -> tuple[int, str]:
    """(status, code) of the answer to bytes sent to a server of the shop."""

    async def exchange() -> bytes:
        app = build_app([shop_service()])
        config = Config(app, http=Protocol, lifespan="off", proxy_headers=False)
        config.load()
        wire = Wire()
        protocol = Protocol(config, ServerState(), {})
        protocol.connection_made(wire)
        for chunk in chunks:
            protocol.data_received(chunk)
        assert wire.closed
        protocol.connection_lost(None)
        return wire.written

    head, _, body = asyncio.run(exchange()).partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in head
    return int(head.split()[1]), json.loads(body)["code"]


LONG = b"a" * (MAX_HEAD + 1)


@pytest.mark.parametrize(
    ("chunks", "code"),
    [
        ([b"GET /shop/gadgets HTTP/1.1\r\nX: ", LONG], "HeadersTooLarge"),
        ([b"GET /shop/gadgets?q=", LONG], "HeadersTooLarge"),
        # over 64 KiB the parser itself gives up on the address
        ([b"GET /shop/gadgets?q=" + LONG * 3 + b" HTTP/1.1\r\n\r\n"], "HeadersTooLarge"),
        ([b"GET /elsewhere HTTP/1.1\r\nX: ", LONG], "headers_too_large"),
    ],
)
def test_a_head_too_long_is_refused_by_the_service_it_is_for(
    chunks: list[bytes], code: str
) -> None:
    assert refusal_of(*chunks) == (431, code)


def test_what_is_not_http_is_refused() -> None:
    assert refusal_of(b"HELO\r\n\r\n") == (400, "malformed_http")
