"""The gunicorn worker: uvicorn on uvloop and httptools, with a say in what HTTP it takes.

uvicorn answers malformed HTTP in plain text, waits for headers for ever, and takes headers of any
length; `Protocol` closes these three. It answers as the service whose path the request line named;
where that never arrived, with the fields of the first service's error record.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import orjson
from connexion.exceptions import ProblemException
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn_worker import UvicornWorker

from server.app import refusal
from server.errors import HeadersTooLarge, RequestTimeout
from server.response import Response

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
                self._refuse_as(HeadersTooLarge(MAX_HEAD), "headers_too_large", "too long")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_arrived()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if len(getattr(self, "url", b"")) > MAX_HEAD:  # so long that the parser gave up on it
            self._refuse_as(HeadersTooLarge(MAX_HEAD), "headers_too_large", "too long")
            return
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
            self._refuse_as(RequestTimeout(HEAD_TIMEOUT_S), "request_timeout", "too slow")

    def _refuse_as(self, error: ProblemException, code: str, fault: str) -> None:
        """Refuse in the words of the service the request is for, as far as that can be known."""
        request_id = os.urandom(12).hex()
        response = refusal(self.app, getattr(self, "url", b""), error, request_id)
        if response is None:
            self._refuse(error.status, code, f"The header section is {fault}.")
        else:
            self._answer(response, request_id)

    def _refuse(self, status: int, code: str, message: str) -> None:
        request_id = os.urandom(12).hex()
        body = orjson.dumps(
            {"code": code, "message": message, "request_id": request_id, "details": []}
        )
        self._answer(Response(status, body), request_id)

    def _answer(self, response: Response, request_id: str) -> None:
        if self.transport.is_closing():  # one refusal is enough
            return
        headers = (
            ("content-type", "application/json"),
            ("connection", "close"),
            ("request-id", request_id),
            ("content-length", str(len(response.body))),
            *response.headers,
        )
        head = "".join(f"{name.lower()}: {value}\r\n" for name, value in headers)
        line = STATUS_LINE[response.status]
        self.transport.write(line + head.encode("latin-1") + b"\r\n" + response.body)
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
