"""HTTP/1.1: uvicorn's protocol on httptools, with stricter checks.

uvicorn responds to malformed HTTP in plain text, waits for headers and readers without a time
limit, accepts headers of any length, any number of hosts and any number of pipelined requests,
treats trailers as headers, and treats the body of a request with `Upgrade` as another request.
`Protocol` closes these gaps. Its refusals have the form of the service whose path is in the request
line. Without a request line, they have the default fields of errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import httptools
from connexion.exceptions import ProblemException
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from specd._engine.errors import (
    HeadersTooLarge,
    InvalidRequest,
    RequestTimeout,
    TargetTooLong,
    invalid,
)
from specd._engine.http.coalescing import Coalescer, CoalescingTransport
from specd._engine.http.guard import MAX_TARGET, check_host
from specd._engine.http.slow_readers import READER, SlowReaders
from specd._engine.serving.app import answer_deadline_s, outermost_engine_of, stop_waiting
from specd._engine.serving.at_once import Rest, answer_at_once
from specd._engine.serving.engine import Engine
from specd._engine.serving.refusals import refused

MAX_HEAD = 32 * 1024
HEAD_TIMEOUT_S = 10.0
MAX_WAITING = 16
"""The number of waiting requests of one connection at which parsing stops."""
PIECE = 1024
"""The number of bytes that are parsed at a time if they may contain more requests than that."""
_shared: WeakKeyDictionary[ServerState, tuple[Coalescer, SlowReaders]] = WeakKeyDictionary()


class _NoTrailers(list[tuple[bytes, bytes]]):
    """A list that drops trailers (RFC 9110, section 6.5.1), because no proxy has checked them."""

    def append(self, _: tuple[bytes, bytes]) -> None:
        return


_NO_TRAILERS = _NoTrailers()


def _without_upgrade(headers: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers, without those that offer another protocol."""
    for name, value in headers:
        if name == b"connection":
            tokens = (token.strip() for token in value.split(b","))
            value = b", ".join(token for token in tokens if token.lower() != b"upgrade")
        if name != b"upgrade":
            yield name, value


def _target_of(head: bytes) -> bytes:
    """Return the target of a request line that the parser rejected, or empty bytes."""
    words = head[:MAX_HEAD].lstrip(b"\r\n").split(b"\n", 1)[0].split(b" ", 2)
    return words[1] if len(words) > 1 else b""


class _Flow(FlowControl):
    """uvicorn's flow control, which also calls `on_resume` when reading resumes."""

    def __init__(self, transport: asyncio.Transport, on_resume: Callable[[], None]) -> None:
        super().__init__(transport)
        self._on_resume = on_resume

    def resume_reading(self) -> None:
        if self.read_paused:
            super().resume_reading()
            self._on_resume()


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol, with a deadline and a maximum size for the header section, and
    other limits.
    """

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _in_head = False
    _refusal: tuple[ProblemException, str] | None = None
    _unparsed = b""
    _engine: Engine | None = None
    _peer = ""
    _sent: list[tuple[bytes, bytes]]
    _mapped: dict[bytes, bytes]
    _body_parts: list[bytes] | None = None
    _running: RequestResponseCycle | None = None
    """The request in progress. uvicorn's `cycle` is the newest request."""
    _final_bytes: bytes | None = None
    """The bytes that end the connection when the pending responses have been sent."""
    _is_first = False
    _idle_since: float | None = None
    _idle_timer: asyncio.TimerHandle | None = None
    reader: Hashable = ""
    drains = 0
    exchanges = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        shared = _shared.get(self.server_state)
        if shared is None:
            connections: Any = self.connections
            deadline_s = answer_deadline_s(self.app)
            watch = SlowReaders(self.loop, connections, deadline_s=deadline_s)
            shared = _shared[self.server_state] = (Coalescer(self.loop), watch)
        coalescer, self._watch = shared
        super().connection_made(CoalescingTransport(transport, coalescer))
        self.flow = _Flow(self.transport, self._reading_resumed)
        self._sent = []
        self._await_head()
        self._engine = outermost_engine_of(self.app)
        self._peer = self.client[0] if self.client else ""
        self._watch.watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch.note_full(self)

    def resume_writing(self) -> None:
        self.drains += 1
        self._watch.note_drained(self)
        super().resume_writing()

    def shutdown(self) -> None:
        stop_waiting(self.app)
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.note_drained(self)
        self._head_arrived()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._final_bytes is not None:
            return
        if self._unparsed:
            data, self._unparsed = self._unparsed + data, b""
        # Every head ends with an empty line, regardless of the protocol that the parser detects.
        step = PIECE if data.count(b"\r\n\r\n") > MAX_WAITING else len(data) or 1
        for start in range(0, len(data), step):
            if self.flow.read_paused or len(self.pipeline) >= MAX_WAITING:
                self._unparsed = data[start:]
                self.flow.pause_reading()
                return
            self._parse(data[start : start + step])
            if self.transport.is_closing() or self._final_bytes is not None:
                return
        if self._in_head:  # most heads are complete by now and need no timer
            if self._head_timer is None:
                self._await_head()
            if self._head_bytes > MAX_HEAD:
                self._refuse_long_head()

    def _reading_resumed(self) -> None:
        if self._head_timer is not None:  # the head was not read meanwhile
            self._head_timer.cancel()
            self._await_head()
        if self._unparsed:
            self.loop.call_soon(self._parse_on)

    def _parse_on(self) -> None:
        if not self._unparsed or self.transport.is_closing():
            return
        if len(self.pipeline) >= MAX_WAITING:  # the rest is not scanned again for each response
            self.flow.pause_reading()
        else:
            self.data_received(b"")

    def _parse(self, data: bytes) -> None:
        if self._head_timer is not None or self._idle_since is not None:
            self._head_bytes += len(data)
        self._is_first = True
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            if self._is_first and not getattr(self, "url", b""):
                self.url = _target_of(data)
            self.send_400_response("")
        if self._body_parts is not None:
            self._release_to_uvicorn()

    def _decline_upgrade(self, rest: bytes) -> None:
        """Parse the request again without the offer of another protocol (RFC 9110, section 7.8),
        because httptools skips the body if `Upgrade` is offered. `rest` follows its head.
        """
        parser = self.parser
        line = parser.get_method(), self.url, b"HTTP/" + parser.get_http_version().encode()
        lines = [b" ".join(line), *(b"%b: %b" % each for each in _without_upgrade(self._sent))]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self._parse(b"\r\n".join(lines) + b"\r\n\r\n" + rest)

    def on_message_begin(self) -> None:
        self.url = b""
        self.expect_100_continue = False
        self.headers = self._sent = []
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._idle_since = None
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_arrived()
        self._sent = self.headers
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":  # the following bytes may be tunnelled
                self._stop(invalid("/method", "must not be CONNECT"), "This is no proxy.")
            return
        if self.expect_100_continue and self.parser.get_http_version() == "1.0":
            self.expect_100_continue = False  # RFC 9110, section 10.1.1
        if len(self.url) > MAX_HEAD:  # too long for the parser of addresses as well
            self._stop(TargetTooLong(MAX_TARGET), "The address is too long.")
        headers = self._mapped = dict(self.headers)
        if b"host" not in headers or len(headers) < len(self.headers) or self.url[:1] != b"/":
            self._check_host()
        self.exchanges += 1
        self.headers = _NO_TRAILERS
        if self._may_be_whole():
            self._body_parts = []
        else:
            self._begin_cycle()
        self._is_first = False

    def _begin_cycle(self) -> None:
        """Pass the request to uvicorn with the headers that have arrived."""
        self._begin_scope()
        self.headers = self._sent
        super().on_headers_complete()
        self.headers = _NO_TRAILERS

    def _begin_scope(self) -> None:
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.headers, self.expect_100_continue = url, headers, expects
        self.scope["headers"] = self._sent
        self.scope[READER] = self._set_reader  # type: ignore[literal-required]

    def _set_reader(self, reader: Hashable) -> None:
        self.reader = reader

    def _may_be_whole(self) -> bool:
        """Return whether the complete request may have arrived: it begins its packet, and its
        response does not have to wait.
        """
        parser, cycle = self.parser, self.cycle
        return (
            self._is_first
            and self._engine is not None
            and (cycle is None or cycle.response_complete)
            and parser.should_keep_alive()
            # HTTP/1.0 keeps the connection only if a header says so
            and (b"connection" not in self._mapped or parser.get_http_version() == "1.1")
            and not self.expect_100_continue
            and not self.flow.write_paused
            and not self.transport.is_closing()
        )

    def on_body(self, body: bytes) -> None:
        if self._body_parts is None:
            super().on_body(body)
        else:
            self._body_parts.append(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        if self._body_parts is None:
            self._is_first = False
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
            self._release_to_uvicorn()
            super().on_message_complete()
            return
        body = b"".join(self._body_parts)
        self._body_parts = None
        answer = answer_at_once(self._engine, exchange, body, self.server_state.default_headers)
        if isinstance(answer, Rest):
            self._go_on_in_a_task(answer)
            return
        self.cycle = None  # type: ignore[assignment]  # as before the first request
        self.reader = exchange.reader
        self.transport.write(answer)
        self.server_state.total_requests += 1
        self._await_next()

    def _release_to_uvicorn(self) -> None:
        """Pass the request to uvicorn, because it has not arrived completely."""
        assert self._body_parts is not None
        parts, self._body_parts = self._body_parts, None
        if self.transport.is_closing():  # it was refused
            return
        self._begin_cycle()
        for body in parts:
            super().on_body(body)

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        self._running = None
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._final_bytes is not None:
            final_bytes, self._final_bytes = self._final_bytes, None
            self._end_with(final_bytes)
            return
        else:
            self._await_next()
        self.flow.resume_reading()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _unset_keepalive_if_required(self) -> None:
        pass  # a complete head does this, because empty lines are not a request

    def _await_next(self) -> None:
        """End the connection unless data arrive in time. One timer continues from request to
        request, because creating and canceling a timer costs more than a check when it fires.
        """
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(self.timeout_keep_alive, self._check_idle)

    def _check_idle(self) -> None:
        self._idle_timer = None
        if self._idle_since is None or self._in_head:  # a head has its own deadline
            return
        left_s = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left_s > 0:
            self._idle_timer = self.loop.call_later(left_s, self._check_idle)
        else:
            self.timeout_keep_alive_handler()

    def _go_on_in_a_task(self, rest: Rest) -> None:
        self._begin_scope()
        self.cycle = self._running = cycle = RequestResponseCycle(
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
        """Stop the parser if a request does not name exactly one host."""
        try:
            check_host(self.headers, self.url, self.parser.get_http_version())
        except InvalidRequest as error:
            self._stop(error, "The request does not say clearly which host it is for.")

    def _stop(self, error: ProblemException, message: str) -> None:
        """Stop the parser. `send_400_response` then sends the error."""
        self._refusal = error, message
        raise error

    def send_400_response(self, msg: str) -> None:
        is_body = not self._in_head and self._refusal is None and self._body_parts is None
        if is_body and self._drop_broken():
            self._end_with(b"")
            return
        if len(getattr(self, "url", b"")) > MAX_HEAD:  # so long that the parser gave up
            self._refuse_long_head()
            return
        malformed = invalid("/head", "is not valid HTTP/1.1")
        error, message = self._refusal or (malformed, "The request is not valid HTTP/1.1.")
        self._refuse_as(error, "malformed_http", message)

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._head_late)

    def _head_arrived(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_late(self) -> None:
        self._head_timer = None
        if self.flow.read_paused:  # its time begins when reading resumes
            self._await_head()
        elif not self.transport.is_closing():
            self._refuse_as(
                RequestTimeout(HEAD_TIMEOUT_S), "request_timeout", "The header section is too slow."
            )

    def _refuse_long_head(self) -> None:
        if len(getattr(self, "url", b"")) > MAX_TARGET:
            self._refuse_as(TargetTooLong(MAX_TARGET), "uri_too_long", "The address is too long.")
            return
        error = HeadersTooLarge(MAX_HEAD)
        self._refuse_as(error, "headers_too_large", "The header section is too long.")

    def _refuse_as(self, error: ProblemException, code: str, message: str) -> None:
        target, asked = getattr(self, "url", b""), dict(self._sent)
        self._end_with(refused(self.app, target, asked, error, code, message))

    def _end_with(self, answer: bytes) -> None:
        """End the connection with `answer`, after the responses to earlier complete requests."""
        if self.transport.is_closing() or self._final_bytes is not None:
            return  # one refusal is enough
        if self._running is None:
            if answer:
                self.transport.write(answer)
            self.transport.close()
        else:
            self._final_bytes, self._unparsed = answer, b""
            self.flow.pause_reading()

    def _drop_broken(self) -> bool:
        """Drop the newest request, whose body is broken. Return whether its response has begun or
        is complete.
        """
        running = self._running
        if self.pipeline:
            self.pipeline.popleft()
        elif running is None:
            return True
        elif running.response_started:
            running.more_body = False  # a handler that is reading stops waiting
            running.message_event.set()
            return True
        else:
            self._running = None
        return False
