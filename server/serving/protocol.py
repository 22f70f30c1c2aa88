"""HTTP/1.1 as the server takes it: uvicorn's protocol on httptools, with a say in what it takes.

uvicorn answers malformed HTTP in plain text, waits for headers and for readers for ever, takes
headers of any length, any number of hosts, and trailers for headers; `Protocol` closes these. It
answers as the service whose path the request line named; where that never arrived, with the fields
of the first service's error record.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any
from weakref import WeakKeyDictionary

import httptools
import orjson
from connexion.exceptions import ProblemException
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from server.errors import HeadersTooLarge, InvalidRequest, RequestTimeout, invalid
from server.response import NOT_KEPT, Response, standing_headers
from server.serving.app import answer_deadline_s, engine_of, refusal, stop_waiting
from server.serving.at_once import AtOnce
from server.serving.engine import Engine
from server.wire.slow_readers import SlowReaders

MAX_HEAD = 32 * 1024
HEAD_TIMEOUT_S = 10.0
_watches: WeakKeyDictionary[ServerState, SlowReaders] = WeakKeyDictionary()


class _DefaultHead:
    """The headers that the server adds to every answer, a new list each second, as bytes."""

    def __init__(self) -> None:
        self._headers: list[tuple[bytes, bytes]] | None = None
        self._bytes = b""

    def of(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        if headers is not self._headers:
            self._headers = headers
            self._bytes = b"".join(b"%b: %b\r\n" % pair for pair in headers)
        return self._bytes


_default_head = _DefaultHead()


class _Nowhere(list[tuple[bytes, bytes]]):
    """Where trailers go (RFC 9110, section 6.5.1): nobody in front has looked at them."""

    def append(self, _: tuple[bytes, bytes]) -> None:
        return


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with a deadline and a size for the header section."""

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _in_head = False
    _bad_host: InvalidRequest | None = None
    _engine: Engine | None = None
    _held: list[bytes] | None = None
    _is_first = False
    drains = 0
    exchanges = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()
        self._engine = engine_of(self.app)
        watch = _watches.get(self.server_state)
        if watch is None:
            deadline_s = answer_deadline_s(self.app)
            connections: Any = self.connections
            watch = SlowReaders(self.loop, connections, deadline_s=deadline_s)
            _watches[self.server_state] = watch
        watch.watch()

    def resume_writing(self) -> None:
        self.drains += 1
        super().resume_writing()

    def shutdown(self) -> None:
        stop_waiting(self.app)
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is not None or self.timeout_keep_alive_task is not None:
            self._head_bytes += len(data)
        self._is_first = True
        super().data_received(data)
        if self._held is not None:
            self._hold_no_longer()
        if self._in_head:  # nearly always it has arrived whole by now, and needs no timer
            if self._head_timer is None:
                self._await_head()
            if self._head_bytes > MAX_HEAD:
                self._refuse_as(
                    HeadersTooLarge(MAX_HEAD),
                    "headers_too_large",
                    "The header section is too long.",
                )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_arrived()
        self._check_host()
        self.exchanges += 1
        if self._may_be_whole():
            self._held = []
        else:
            super().on_headers_complete()
        self._is_first = False
        self.headers = _Nowhere()

    def _may_be_whole(self) -> bool:
        """Is it worth waiting whether the whole request has arrived? One of those that came in one
        packet, and one that nothing has to be waited for.
        """
        return (
            self._is_first
            and self._engine is not None
            and (self.cycle is None or self.cycle.response_complete)
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
            and not self.parser.should_upgrade()
            and not self.expect_100_continue
            and not self.flow.write_paused
            and not self.transport.is_closing()
        )

    def on_body(self, body: bytes) -> None:
        if self._held is None:
            super().on_body(body)
        else:
            self._held.append(body)

    def on_message_complete(self) -> None:
        if self._held is None:
            super().on_message_complete()
        else:
            self._answer_at_once(b"".join(self._held))

    def _hold_no_longer(self) -> None:
        """The request has not arrived whole: take uvicorn's way."""
        assert self._held is not None
        held, self._held = self._held, None
        if self.transport.is_closing():  # it was refused
            return
        super().on_headers_complete()
        for body in held:
            super().on_body(body)

    def _answer_at_once(self, body: bytes) -> None:
        assert self._engine is not None
        target = httptools.parse_url(self.url)
        scope: Scope = self.scope  # type: ignore[assignment]  # ASGI's, by another library's name
        scope["method"] = self.parser.get_method().decode("ascii")
        scope["path"] = ""
        scope["raw_path"] = target.path
        scope["query_string"] = target.query or b""
        exchange = self._engine.begin(self._engine.seen(scope))
        if exchange is None:
            self._hold_no_longer()
            super().on_message_complete()
            return
        self._held = None
        request = AtOnce(self._engine, exchange, body)
        answer = request.run(_default_head.of(self.server_state.default_headers))
        if answer is None:
            self._go_on_in_a_task(request)
            return
        self.cycle = None  # type: ignore[assignment]  # as before the first request
        self.transport.write(answer)
        self.on_response_complete()

    def _go_on_in_a_task(self, request: AtOnce) -> None:
        self.cycle = RequestResponseCycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=True,
            on_response=self.on_response_complete,
        )
        task = request.task(self.cycle, self.loop)
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _check_host(self) -> None:
        """Raises for a request that does not say clearly which host it is for (RFC 9112, 3.2)."""
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) != 1 and (hosts or self.parser.get_http_version() == "1.1"):
            self._bad_host = invalid("/header/Host", "must be sent once")
        elif not self.url.startswith(b"/") and b"://" in self.url:
            authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
            if [authority.lower()] != [host.lower() for host in hosts]:
                self._bad_host = invalid("/header/Host", "must be the host of the address")
        if self._bad_host is not None:
            raise self._bad_host  # the parser stops, and `send_400_response` says why

    def send_400_response(self, msg: str) -> None:
        if len(getattr(self, "url", b"")) > MAX_HEAD:  # so long that the parser gave up on it
            self._refuse_as(
                HeadersTooLarge(MAX_HEAD), "headers_too_large", "The header section is too long."
            )
            return
        if self._bad_host is not None:
            message = "The request does not say clearly which host it is for."
            self._refuse_as(self._bad_host, "malformed_http", message)
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
            self._refuse_as(
                RequestTimeout(HEAD_TIMEOUT_S), "request_timeout", "The header section is too slow."
            )

    def _refuse_as(self, error: ProblemException, code: str, message: str) -> None:
        """Refuse in the words of the service the request is for, as far as that can be known."""
        request_id = os.urandom(12).hex()
        response = refusal(self.app, _path_of(getattr(self, "url", b"")), error, request_id)
        if response is None:
            self._refuse(error.status, code, message)
        else:
            self._answer(response, request_id)

    def _refuse(self, status: int, code: str, message: str) -> None:
        request_id = os.urandom(12).hex()
        body = orjson.dumps(
            {"code": code, "message": message, "request_id": request_id, "details": []}
        )
        standing = (NOT_KEPT, *standing_headers(is_https=False))
        self._answer(Response(status, body, standing), request_id)

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


def _path_of(target: bytes) -> bytes:
    """The path that a request target asks for; it may be a whole address (RFC 9112, 3.2.2)."""
    if target.startswith(b"/"):
        return target
    return b"/" + target.partition(b"://")[2].partition(b"/")[2]
