"""Connections to servers of tests at the level of bytes, and their messages."""

import asyncio
import re
from typing import Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import Protocol
from tests.specd.engine.services import shop_service

DATE = [(b"date", b"Sun, 22 Nov 2026 00:00:00 GMT")]
NAMED = re.compile(rb"[0-9a-f]{24}")


class Wire(asyncio.Transport):
    """A connection that records what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        if not self.closed:  # like a real connection
            self.written += data

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def answer_to(*chunks: bytes, **changes: Any) -> bytes:
    """Return the bytes that a server of the shop, with some changes, writes before it closes."""

    async def exchange() -> bytes:
        app = build_app([shop_service(**changes)])
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

    return asyncio.run(exchange())


class Connection:
    """A connection to a server of the shop, or of an application that is not recognized as an
    engine.
    """

    def __init__(self, app: Any, *, as_ever: bool = False) -> None:
        config = Config(app, http=Protocol, lifespan="off", proxy_headers=False, access_log=False)
        config.load()
        self.state = ServerState()
        self.state.default_headers = DATE
        self.wire = Wire()
        self.protocol = Protocol(config, self.state, {})
        self.protocol.connection_made(self.wire)
        if as_ever:
            self.protocol._engine = None

    def feed(self, *chunks: bytes) -> None:
        for chunk in chunks:
            self.protocol.data_received(chunk)

    async def settle(self) -> tuple[bytes, bool]:
        """Return the written bytes, without request ids, and whether the connection is closed."""
        if closed_at_once := self.wire.closed:
            self.protocol.connection_lost(None)  # ends a waiting read
        while self.state.tasks:
            await asyncio.wait_for(asyncio.gather(*self.state.tasks), 20)
            await asyncio.sleep(0)  # removes requests that have ended
        closed = self.wire.closed
        if not closed_at_once:
            self.protocol.connection_lost(None)
        return NAMED.sub(b"<id>", self.wire.written), closed


def request(line: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    lines = [line + b" HTTP/1.1", b"Host: a", *headers]
    if body and b"Transfer-Encoding: chunked" not in headers:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


ADA = b"Authorization: Bearer good-token"
JSON = b"Content-Type: application/json"
FORM = b"Content-Type: application/x-www-form-urlencoded"
KEY = b"Idempotency-Key: 12345678"
ITEM = b'{"name":"n","price":"5"}'
CHUNKED = b"Transfer-Encoding: chunked"
STOLEN = request(b"POST /shop/notes", FORM, body=b"text=stolen")
OFFERS = [
    (),
    (b"Connection: Upgrade", b"Upgrade: foo"),
    (b"Connection: keep-alive, upgrade", b"Upgrade: websocket"),
    (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"),
    (b"Upgrade: h2c",),
    (b"Connection: upgrade",),
    (b"Connection: close, Upgrade", b"Upgrade: foo"),
]


def in_chunks(body: bytes, size: int, trailers: bytes) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return (
        b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in pieces) + b"0\r\n%s\r\n" % trailers
    )
