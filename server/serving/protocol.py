"""HTTP/1.1 as the server takes it: uvicorn's protocol on httptools, with a say in what it takes.

uvicorn answers malformed HTTP in plain text, waits for headers and for readers for ever, takes
headers of any length, any number of hosts, and trailers for headers; `Protocol` closes these. It
answers as the service whose path the request line named; where that never arrived, with the fields
of the first service's error record.
"""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

import httptools
from connexion.exceptions import ProblemException
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from server.errors import HeadersTooLarge, InvalidRequest, RequestTimeout
from server.serving.app import answer_deadline_s, engine_of, stop_waiting
from server.serving.at_once import Cycle, Rest, answer_at_once
from server.serving.engine import Engine
from server.serving.refusals import refusal_of_no_one, refused
from server.wire.coalescing import Coalescer, CoalescingTransport
from server.wire.hosts import unclear_host
from server.wire.slow_readers import SlowReaders

MAX_HEAD = 32 * 1024
HEAD_TIMEOUT_S = 10.0
_shared: WeakKeyDictionary[ServerState, tuple[Coalescer, SlowReaders]] = WeakKeyDictionary()


class _Nowhere(list[tuple[bytes, bytes]]):
    """Where trailers go (RFC 9110, section 6.5.1): nobody in front has looked at them."""

    def append(self, _: tuple[bytes, bytes]) -> None:
        return


_NOWHERE = _Nowhere()


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with a deadline and a size for the header section."""

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _in_head = False
    _bad_host: InvalidRequest | None = None
    _engine: Engine | None = None
    _peer = ""
    _sent: list[tuple[bytes, bytes]]
    _mapped: dict[bytes, bytes]
    _held: list[bytes] | None = None
    _is_first = False
    _idle_since: float | None = None
    _idle_timer: asyncio.TimerHandle | None = None
    drains = 0
    exchanges = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        shared = _shared.get(self.server_state)
        if shared is None:
            connections: Any = self.connections
            deadline_s = answer_deadline_s(self.app)
            watch = SlowReaders(self.loop, connections, deadline_s=deadline_s)
            shared = _shared[self.server_state] = (Coalescer(self.loop), watch)
        coalescer, watch = shared
        super().connection_made(CoalescingTransport(transport, coalescer))
        self._await_head()
        self._engine = engine_of(self.app)
        self._peer = self.client[0] if self.client else ""
        watch.watch()

    def resume_writing(self) -> None:
        self.drains += 1
        super().resume_writing()

    def shutdown(self) -> None:
        stop_waiting(self.app)
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is not None or self._idle_since is not None:
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
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_arrived()
        headers = self._mapped = dict(self.headers)
        if b"host" not in headers or len(headers) < len(self.headers) or self.url[:1] != b"/":
            self._check_host()
        self.exchanges += 1
        self._sent = self.headers
        self.headers = _NOWHERE
        if self._may_be_whole():
            self._held = []
        else:
            self._begin_cycle()
        self._is_first = False

    def _begin_cycle(self) -> None:
        """Take uvicorn's way, with the headers that have arrived."""
        self._begin_scope()
        self.headers = self._sent
        super().on_headers_complete()
        self.headers = _NOWHERE

    def _begin_scope(self) -> None:
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.headers, self.expect_100_continue = url, headers, expects
        self.scope["headers"] = self._sent

    def _may_be_whole(self) -> bool:
        """Is it worth waiting whether the whole request has arrived? One of those that came in one
        packet, and one that nothing has to be waited for.
        """
        parser, cycle = self.parser, self.cycle
        return (
            self._is_first
            and self._engine is not None
            and (cycle is None or cycle.response_complete)
            and parser.should_keep_alive()
            and not parser.should_upgrade()
            # HTTP/1.0 goes on only where it says so
            and (b"connection" not in self._mapped or parser.get_http_version() == "1.1")
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
            return
        assert self._engine is not None
        target = httptools.parse_url(self.url)
        method = self.parser.get_method().decode("ascii")
        query = target.query or b""
        exchange = self._engine.begin(
            method, target.path, query, self._sent, self._peer, self._mapped
        )
        if exchange is None:
            self._hold_no_longer()
            super().on_message_complete()
            return
        body = b"".join(self._held)
        self._held = None
        answer = answer_at_once(self._engine, exchange, body, self.server_state.default_headers)
        if isinstance(answer, Rest):
            self._go_on_in_a_task(answer)
            return
        self.cycle = None  # type: ignore[assignment]  # as before the first request
        self.transport.write(answer)
        self.server_state.total_requests += 1
        self._await_next()

    def _hold_no_longer(self) -> None:
        """The request has not arrived whole: take uvicorn's way."""
        assert self._held is not None
        held, self._held = self._held, None
        if self.transport.is_closing():  # it was refused
            return
        self._begin_cycle()
        for body in held:
            super().on_body(body)

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self._await_next()

    def _unset_keepalive_if_required(self) -> None:
        self._idle_since = None

    def _await_next(self) -> None:
        """End the connection unless something comes in time. The timer runs on from one request to
        the next, because making and cancelling one costs more than to look when it goes off.
        """
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(self.timeout_keep_alive, self._look_if_idle)

    def _look_if_idle(self) -> None:
        self._idle_timer = None
        if self._idle_since is None:
            return
        left_s = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left_s > 0:
            self._idle_timer = self.loop.call_later(left_s, self._look_if_idle)
        else:
            self.timeout_keep_alive_handler()

    def _go_on_in_a_task(self, rest: Rest) -> None:
        self._begin_scope()
        self.cycle = cycle = Cycle(
            scope={**self.scope, "method": self.parser.get_method().decode("ascii")},
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
        task = rest.task(cycle, self.loop)
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _check_host(self) -> None:
        """Raises for a request that does not say clearly which host it is for (RFC 9112, 3.2)."""
        version = self.parser.get_http_version()
        self._bad_host = unclear_host(self.headers, self.url, version)
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
        self._refuse(refusal_of_no_one(400, "malformed_http", "The request is not valid HTTP/1.1."))

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
        self._refuse(refused(self.app, getattr(self, "url", b""), error, code, message))

    def _refuse(self, answer: bytes) -> None:
        if not self.transport.is_closing():  # one refusal is enough
            self.transport.write(answer)
            self.transport.close()
