"""A connection as a state machine.

Messages of every kind are split anywhere, with iterations of the event loop and a client that does
not read in between. The responses are parsed by h11: there must be as many responses as requests,
in order, each as if its request had arrived alone in one packet.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import h11
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import MAX_WAITING
from tests.specd.engine.services import shop_service
from tests.specd.engine.wire import (
    ADA,
    CHUNKED,
    FORM,
    ITEM,
    JSON,
    KEY,
    NAMED,
    OFFERS,
    STOLEN,
    Connection,
    in_chunks,
    request,
)

EXAMPLES = int(os.environ.get("SPECD_TEST_CONVERSATIONS", "200"))
"""The number of generated conversations. 10,000 need about five minutes."""
EXPECT = b"Expect: 100-continue"
CLOSE = b"Connection: close"
WRITE = (ADA, KEY, JSON)


@dataclass(frozen=True)
class Kind:
    """A kind of message and its possible responses.

    After a message with `ends`, no message is answered. `cut` is the status if its body is broken
    and arrives after the response to its head. `is_http` is true if h11 reads a request, although
    some of these are rejected here.
    """

    raw: bytes
    status: int
    ends: bool = False
    cut: int = 0
    is_http: bool = True


def old(raw: bytes) -> bytes:
    return raw.replace(b" HTTP/1.1", b" HTTP/1.0")


def chunked(size: int, trailers: bytes = b"") -> bytes:
    return in_chunks(ITEM, size, trailers)


def broken(*lines: bytes) -> Kind:
    return Kind(request(b"GET /shop/items", *lines), 422, ends=True, is_http=False)


def broken_body(line: bytes, body: bytes, status: int = 422, *, cut: int = 0) -> Kind:
    raw = request(line, *WRITE, CHUNKED, body=body)
    return Kind(raw, status, ends=True, cut=cut, is_http=False)


OPEN = {
    "read": Kind(request(b"GET /shop/items?limit=3"), 200),
    "read by HEAD": Kind(request(b"HEAD /shop/items?limit=3"), 200),
    "refused read": Kind(request(b"GET /shop/items?limit=0"), 422),
    "unknown": Kind(request(b"GET /shop/gadgets"), 404),
    "page": Kind(request(b"GET /elsewhere"), 404),
    "page by HEAD": Kind(request(b"HEAD /elsewhere"), 404),
    "page with a body": Kind(request(b"POST /elsewhere", FORM, body=STOLEN), 404),
    "probe": Kind(request(b"GET /healthz"), 200),
    "wait": Kind(request(b"POST /shop/notes/wait?seconds=0"), 200),
    "form": Kind(request(b"POST /shop/notes", FORM, body=b"text=hello"), 200),
    "broken JSON": Kind(request(b"POST /shop/items", *WRITE, body=b"{"), 422),
    "JSON": Kind(request(b"POST /shop/items", *WRITE, body=ITEM), 201),
    "chunks": Kind(request(b"POST /shop/items", *WRITE, CHUNKED, body=chunked(7)), 201),
    "trailers": Kind(
        request(b"POST /shop/items", *WRITE, CHUNKED, body=chunked(1, b"Host: b\r\nExpect: x\r\n")),
        201,
    ),
    "chunk extensions": Kind(
        request(b"POST /shop/items", *WRITE, CHUNKED, body=b"18;a=b\r\n%s\r\n0;c\r\n\r\n" % ITEM),
        201,
    ),
    "expects": Kind(request(b"POST /shop/items", *WRITE, EXPECT, body=ITEM), 201),
    "expects in vain": Kind(request(b"GET /shop/items", EXPECT), 200),
    "empty line before": Kind(b"\r\n" + request(b"GET /shop/items"), 200),
    "empty lines before": Kind(b"\r\n" * 40 + request(b"POST /shop/notes", FORM, body=STOLEN), 422),
    **{
        f"offer {number}": Kind(request(b"GET /shop/items", *offer), 200)
        for number, offer in enumerate(OFFERS[1:-1])
    },
    **{
        f"offer {number} with a body": Kind(
            request(b"POST /shop/items", *WRITE, *offer, body=ITEM), 201
        )
        for number, offer in enumerate(OFFERS[1:-1])
    },
    "offer with chunks": Kind(
        request(b"POST /shop/items", *WRITE, *OFFERS[1], CHUNKED, body=chunked(3)), 201
    ),
}
LAST = {
    "closes": Kind(request(b"GET /shop/items", CLOSE), 200, ends=True),
    "closes after a body": Kind(
        request(b"POST /shop/items", *WRITE, CLOSE, body=ITEM), 201, ends=True
    ),
    "waits and closes": Kind(request(b"POST /shop/notes/wait?seconds=0", CLOSE), 200, ends=True),
    "closes with an offer": Kind(request(b"GET /shop/items", *OFFERS[-1]), 200, ends=True),
    "old": Kind(old(request(b"GET /shop/items")), 200, ends=True),
    "old without a host": Kind(b"GET /shop/items HTTP/1.0\r\n\r\n", 200, ends=True),
    "old that expects": Kind(
        old(request(b"POST /shop/notes", FORM, EXPECT, body=b"text=a")), 200, ends=True
    ),
    "body that is not read": Kind(request(b"POST /shop/gadgets", body=STOLEN), 404, ends=True),
    "chunks that are not read": Kind(
        request(b"POST /shop/gadgets", CHUNKED, body=in_chunks(STOLEN, 50, b"")), 404, ends=True
    ),
    "HEAD with a body": Kind(request(b"HEAD /shop/items", body=STOLEN), 200, ends=True),
    "too many headers": Kind(
        request(b"GET /shop/items", *[b"X-%d: a" % n for n in range(120)]), 431, ends=True
    ),
    "two lengths": broken(b"Content-Length: 1", b"Content-Length: 2"),
    "length in words": broken(b"Content-Length: x"),
    "unknown coding": broken(b"Transfer-Encoding: xchunked"),
    "space in a name": broken(b"X : a"),
    "folded header": Kind(request(b"GET /shop/items", b"X: a", b" b"), 422, ends=True),
    "no name": broken(b"nonsense"),
    "NUL": broken(b"X: a\0b"),
    "two hosts": broken(b"Host: b"),
    "no host": Kind(b"GET /shop/items HTTP/1.1\r\n\r\n", 422, ends=True, is_http=False),
    "another version": Kind(b"GET /shop/items HTTP/9.9\r\nHost: a\r\n\r\n", 422, ends=True),
    "connect": Kind(request(b"CONNECT a:80"), 400, ends=True, is_http=False),
    "no HTTP": Kind(b"hello\r\n\r\n", 400, ends=True, is_http=False),
    "bytes": Kind(b"\x16\x03\x01\0\r\n\r\n", 400, ends=True, is_http=False),
    "bad chunk size": broken_body(b"POST /shop/items", b"zz\r\n"),
    "bad chunk size later": broken_body(b"POST /shop/items", b"1\r\n{\r\nzz\r\n"),
    "bad end of a chunk": broken_body(b"POST /shop/items", b"1\r\n{}\r\n"),
    "large chunk size": broken_body(b"POST /shop/items", b"f" * 20 + b"\r\n"),
    "bad chunk that is not read": broken_body(b"POST /shop/gadgets", b"zz\r\n", cut=404),
    "bad chunk of a page": broken_body(b"POST /elsewhere", b"1\r\na\r\nzz\r\n", 400, cut=404),
}
KINDS = {**OPEN, **LAST}
Answer = tuple[int, tuple[tuple[bytes, bytes], ...], bytes]
"""Status, headers and body, without ids."""


def read_requests(raw: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Return method, target and body of each request that h11 reads in `raw`."""
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=100_000)
    parser.receive_data(raw)
    found, body = [], b""
    head: Any = None
    while True:
        event: Any = parser.next_event()
        match event:
            case h11.Request():
                head, body = event, b""
            case h11.Data():
                body += event.data
            case h11.EndOfMessage():
                found.append((head.method, head.target, body))
                parser.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                parser.send(h11.EndOfMessage())
                if parser.our_state is not h11.DONE:
                    return found
                parser.start_next_cycle()
            case _:
                assert not parser.trailing_data[0]
                return found


def read_answers(raw: bytes, methods: list[bytes]) -> tuple[list[Answer], list[int]]:
    """Return the responses that h11 reads in `raw` to requests with these methods, and the indices
    of those after a 100 (Continue). Raises `h11.RemoteProtocolError`.
    """
    client = h11.Connection(h11.CLIENT)
    client.receive_data(NAMED.sub(b"0" * 24, raw))
    answers: list[Answer] = []
    continued: list[int] = []
    for number, method in enumerate(methods):
        client.send(h11.Request(method=method, target="/", headers=[("host", "a")]))
        client.send(h11.EndOfMessage())
        head: Any = None
        body = b""
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            match event:
                case h11.InformationalResponse():
                    continued.append(number)
                case h11.Response():
                    head = event
                case h11.Data():
                    body += event.data
                case _:
                    assert not client.trailing_data[0], "incomplete response"
                    return answers, continued
        answers.append((head.status_code, tuple(head.headers), body))
        if client.our_state is h11.MUST_CLOSE:
            break
        client.start_next_cycle()
    assert not client.trailing_data[0], "more responses than requests"
    return answers, continued


def method_of(kind: Kind) -> bytes:
    return b"HEAD" if kind.raw.lstrip().startswith(b"HEAD ") else b"GET"


RUNNER = asyncio.Runner()


@pytest.fixture(scope="module", autouse=True)
def _close_runner() -> Iterator[None]:
    yield
    RUNNER.close()


@cache
def shop_app() -> Any:
    return build_app([shop_service()])


@cache
def alone(name: str) -> Answer:
    """Return the response to a message that arrives alone and in one packet."""

    async def ask() -> tuple[bytes, bool]:
        connection = Connection(shop_app())
        connection.feed(KINDS[name].raw)
        _, closed = await connection.settle()
        return connection.wire.written, closed

    kind = KINDS[name]
    written, closed = RUNNER.run(ask())
    (answer,), _ = read_answers(written, [method_of(kind)])
    assert (answer[0], closed) == (kind.status, kind.ends), name
    return answer


@pytest.mark.parametrize("name", KINDS)
def test_message_alone(name: str) -> None:
    kind = KINDS[name]
    assert alone(name)
    if kind.is_http:
        assert len(read_requests(kind.raw.lstrip())) == 1
    else:
        with pytest.raises((h11.ProtocolError, AssertionError)):
            assert read_requests(kind.raw)


class Talk(RuleBasedStateMachine):
    """A connection. `under_way` contains the bytes that were sent and have not arrived."""

    seen: ClassVar = {"conversations": 0, "messages": 0, "packets": 0, "answers": 0}

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.under_way = b""
        self.is_lost = False
        RUNNER.run(self._connect())

    async def _connect(self) -> None:
        self.connection = Connection(shop_app())

    async def _turn(self, count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)
            if self.connection.wire.closed and not self.is_lost:
                self.is_lost = True
                self.connection.protocol.connection_lost(None)

    async def _deliver(self, size: int) -> None:
        packet, self.under_way = self.under_way[:size], self.under_way[size:]
        if packet and not self.connection.wire.closed:
            self.connection.feed(packet)
            self.seen["packets"] += 1
        assert len(self.connection.protocol.pipeline) <= 2 * MAX_WAITING

    def _is_open(self) -> bool:
        return not (self.sent and KINDS[self.sent[-1]].ends)

    @rule(name=st.sampled_from(sorted(OPEN)))
    def send(self, name: str) -> None:
        self.sent.append(name)
        self.under_way += KINDS[name].raw

    @precondition(_is_open)
    @rule(name=st.sampled_from(sorted(LAST)))
    def send_last(self, name: str) -> None:
        """Send a message after which nothing is answered."""
        self.send(name)

    @rule(size=st.integers(1, 400))
    def deliver(self, size: int) -> None:
        RUNNER.run(self._deliver(size))

    @rule(size=st.integers(1, 60), turns=st.integers(0, 3))
    def deliver_in_drips(self, size: int, turns: int) -> None:
        async def drip() -> None:
            while self.under_way:
                await self._deliver(size)
                await self._turn(turns)

        RUNNER.run(drip())

    @rule()
    def deliver_all(self) -> None:
        RUNNER.run(self._deliver(len(self.under_way)))

    @rule(count=st.integers(1, 40))
    def turn(self, count: int) -> None:
        RUNNER.run(self._turn(count))

    @rule()
    def read_no_more(self) -> None:
        if not self.is_lost:
            self.connection.protocol.pause_writing()

    @rule()
    def read_on(self) -> None:
        if not self.is_lost:
            self.connection.protocol.resume_writing()

    def teardown(self) -> None:
        RUNNER.run(self._end())
        kinds = [KINDS[name] for name in self.sent]
        last = next((n for n, kind in enumerate(kinds) if kind.ends), len(kinds))
        due = self.sent[: last + 1]
        expected = [alone(name) for name in due]
        written = self.connection.wire.written
        answers, continued = read_answers(written, [method_of(KINDS[name]) for name in due])
        for name, answer, whole in zip(due, answers, expected, strict=True):
            assert answer == whole or (KINDS[name].cut and answer[0] == KINDS[name].cut), name
        assert self.connection.wire.closed == (last < len(kinds))
        assert all(due[number].startswith("expects") for number in continued)
        self._count(kinds, answers)

    async def _end(self) -> None:
        if not self.is_lost:
            self.connection.protocol.resume_writing()
        await self._deliver(len(self.under_way))
        async with asyncio.timeout(5):
            while self._is_busy():
                await self._turn(1)
        await self._turn(2)

    def _is_busy(self) -> bool:
        is_read = self.connection.wire.closed or not self.connection.protocol._unparsed
        return bool(self.connection.state.tasks) or not is_read

    def _count(self, kinds: list[Kind], answers: list[Answer]) -> None:
        for name, count in (
            ("conversations", 1),
            ("messages", len(kinds)),
            ("answers", len(answers)),
        ):
            self.seen[name] += count


def test_conversations() -> None:
    run_state_machine_as_test(
        Talk,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(Talk.seen)
