"""An in-memory connection to an application: the complete server without a network."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

Ask = Callable[[], Awaitable[bytes]]
"""Sends one request and returns the response."""
DEFAULT_HEADERS = [(b"date", b"Sun, 22 Nov 2026 00:00:00 GMT")]


class _Wire(asyncio.Transport):
    """Collects what is written until a response is complete."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 40000), "sockname": ("127.0.0.1", 8700)})
        self.answered: asyncio.Future[bytes] | None = None
        self._parts: list[bytes] = []
        self._missing = -1

    def write(self, data: bytes | bytearray | memoryview) -> None:
        part = bytes(data)
        self._parts.append(part)
        if self._missing < 0:
            head, end, body = b"".join(self._parts).partition(b"\r\n\r\n")
            if not end:
                return
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self._missing = int(length) - len(body)
        else:
            self._missing -= len(part)
        if self._missing == 0:
            whole, self._parts, self._missing = b"".join(self._parts), [], -1
            assert self.answered is not None
            self.answered.set_result(whole)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        raise ConnectionError("the server closed the connection")

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Connection:
    """One connection for consecutive requests."""

    def __init__(self, app: Any, protocol: type[HttpToolsProtocol]) -> None:
        config = Config(
            app,
            http=protocol,
            lifespan="off",
            proxy_headers=False,
            access_log=False,
            timeout_keep_alive=3600,
        )
        config.load()
        state = ServerState()
        state.default_headers = DEFAULT_HEADERS
        self._wire = _Wire()
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol(config, state, {})
        self._protocol.connection_made(self._wire)

    async def ask(self, request: bytes) -> bytes:
        """Return the complete response, including its head."""
        self._wire.answered = self._loop.create_future()
        self._protocol.data_received(request)
        return await self._wire.answered
