"""The gunicorn worker: uvicorn on uvloop and httptools, with a say in what HTTP it takes.

uvicorn answers malformed HTTP in plain text, waits for headers for ever, and takes headers of any
length; `Protocol` closes these three. The JSON it answers carries the fields of a service's error
record, since no service can be known before the request line is.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn_worker import UvicornWorker

MAX_HEAD = 32 * 1024
HEAD_TIMEOUT_S = 10.0


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with a deadline and a size for the header section."""

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _in_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is not None or self.timeout_keep_alive_task is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head:  # nearly always it has arrived whole by now, and needs no timer
            if self._head_timer is None:
                self._await_head()
            if self._head_bytes > MAX_HEAD:
                self._refuse(431, "headers_too_large", "The header section is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_arrived()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "malformed_http", "The request is not valid HTTP/1.1.")

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._head_late)

    def _head_arrived(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_late(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self._refuse(408, "request_timeout", "The header section took too long to arrive.")

    def _refuse(self, status: int, code: str, message: str) -> None:
        if self.transport.is_closing():  # one refusal is enough
            return
        request_id = os.urandom(12).hex()
        body = orjson.dumps(
            {"code": code, "message": message, "request_id": request_id, "details": []}
        )
        head = (
            b"content-type: application/json\r\nconnection: close\r\n"
            b"request-id: %s\r\ncontent-length: %d\r\n\r\n" % (request_id.encode(), len(body))
        )
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()


class Worker(UvicornWorker):
    """Lifespan is on, so that an application that cannot start stops the worker loudly."""

    CONFIG_KWARGS: dict[str, Any] = {  # noqa: RUF012 (gunicorn reads it off the class)
        "loop": "uvloop",
        "http": Protocol,
        "lifespan": "on",
        "access_log": False,
        "server_header": False,
        "date_header": True,
        "ws": "none",
        "proxy_headers": False,
    }
