"""Requests on a connection are parsed like by h11, regardless of the packets, and each is answered
as if it had arrived alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specd._engine.serving import protocol
from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import MAX_WAITING, PIECE
from tests.specd.engine.services import shop_service
from tests.specd.engine.wire import FORM, OFFERS, STOLEN, Connection, in_chunks, request

TRAILERS = [
    b"",
    b"X-Note: a\r\n",
    b"Connection: upgrade\r\nUpgrade: foo\r\n",
    b"Expect: 100-continue\r\n",
]
BODIES = [b"text=hello", STOLEN, STOLEN * 3, b"text=" + b"a" * 5000, b"\r\n\r\n", b"0\r\n\r\n"]
READS = [b"/shop/items", b"/shop/items?limit=3", b"/shop/gadgets", b"/elsewhere", b"/livez"]


@dataclass(frozen=True)
class Sent:
    """A request, and the same request without an offer to upgrade."""

    raw: bytes
    plain: bytes


@st.composite
def requests(draw: st.DrawFn) -> Sent:
    offer = draw(st.sampled_from(OFFERS))
    closes = (b"Connection: close",) if any(b"close" in line for line in offer) else ()
    before = b"\r\n" * draw(st.integers(0, 1))
    if draw(st.booleans()):
        line = draw(st.sampled_from([b"GET ", b"HEAD ", b"OPTIONS "])) + draw(
            st.sampled_from(READS)
        )
        return Sent(before + request(line, *offer), request(line, *closes))
    body = draw(st.sampled_from(BODIES))
    line = b"POST " + draw(st.sampled_from([b"/shop/notes", b"/shop/gadgets", b"/elsewhere"]))
    headers = [FORM]
    if draw(st.booleans()):
        size = draw(st.sampled_from([1, 7, 1000]))
        body = in_chunks(body, size, draw(st.sampled_from(TRAILERS)))
        headers.append(b"Transfer-Encoding: chunked")
    return Sent(
        before + request(line, *headers, *offer, body=body),
        request(line, *headers, *closes, body=body),
    )


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Sent], list[int]]:
    """Return up to five requests, and the positions at which the network splits them."""
    sent = draw(st.lists(requests(), min_size=1, max_size=5))
    size = sum(len(each.raw) for each in sent)
    return sent, sorted(draw(st.lists(st.integers(1, size), max_size=8)))


def read_by_h11(raw: bytes) -> int:
    """Return the number of requests that h11 reads in `raw`, up to the one that ends the
    connection.

    h11 does not accept empty lines before a request.
    """
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=100_000)
    parser.receive_data(raw)
    found = 0
    while True:
        event: Any = parser.next_event()
        if isinstance(event, h11.EndOfMessage):
            found += 1
            parser.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
            parser.send(h11.EndOfMessage())
            if parser.our_state is not h11.DONE:
                return found
            parser.start_next_cycle()
        elif event in (h11.NEED_DATA, h11.PAUSED):
            return found


async def answers(app: Any, *chunks: bytes) -> tuple[bytes, bool]:
    """Return the bytes that the server wrote, and whether it closed the connection."""
    connection = Connection(app)
    for chunk in chunks:
        if connection.wire.closed:
            break
        connection.feed(chunk)
        await asyncio.sleep(0)
    return await connection.settle()


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as its:
        yield its


@pytest.fixture(scope="module")
def app() -> Any:
    return build_app([shop_service()])


@settings(max_examples=300, deadline=None)
@given(conversations())
@example(
    (
        [
            Sent(
                request(b"POST /shop/gadgets", FORM, *OFFERS[1], body=STOLEN),
                request(b"POST /shop/gadgets", FORM, body=STOLEN),
            )
        ],
        [50, 100, 160],
    )
)
def test_requests_end_where_h11_ends_them(
    runner: asyncio.Runner, app: Any, conversation: tuple[list[Sent], list[int]]
) -> None:
    sent, cuts = conversation
    raw = b"".join(each.raw for each in sent)
    chunks = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]

    async def run() -> None:
        expected, answered, closed = b"", 0, False
        for each in sent:
            written, closed = await answers(app, each.plain)
            expected += written
            answered += 1
            if closed:
                break
        read = read_by_h11(b"".join(each.raw.lstrip() for each in sent))
        assert answered == read or (closed and answered < read)
        assert (await answers(app, *chunks))[0] == expected

    runner.run(run())


@pytest.mark.parametrize(
    "line", [b"CONNECT a:80", b"CONNECT /shop/items", b"CONNECT http://a/shop"]
)
@pytest.mark.parametrize("apart", [False, True])
def test_connect_is_rejected_and_the_connection_ends(
    runner: asyncio.Runner, app: Any, line: bytes, *, apart: bool
) -> None:
    raw = request(line, FORM, body=STOLEN)
    head = raw.index(b"\r\n\r\n") + 4
    chunks = [raw[:head], raw[head:]] if apart else [raw]
    written, closed = runner.run(answers(app, *chunks))
    assert closed
    assert written.count(b"HTTP/1.1 ") == 1
    assert written[9:12] in (b"400", b"422")


@pytest.mark.parametrize("offer", [OFFERS[0], OFFERS[1]])
@pytest.mark.parametrize("version", [b"HTTP/1.1", b"RTSP/1.1"])
def test_number_of_queued_requests_is_limited(
    runner: asyncio.Runner, app: Any, version: bytes, offer: tuple[bytes, ...]
) -> None:
    """Requests that are not parsed yet only use the memory of their bytes. The parser accepts RTSP
    as HTTP.
    """
    one, count = request(b"GET /livez", *offer).replace(b"HTTP/1.1", version), 4_000

    async def run() -> None:
        connection = Connection(app)
        connection.feed(one * count)
        most = 0
        while connection.state.tasks or connection.protocol._unparsed:
            most = max(most, len(connection.protocol.pipeline))
            await asyncio.sleep(0)
        assert 0 < most <= 2 * MAX_WAITING + PIECE // len(one)
        written, closed = await connection.settle()
        assert (written.count(b"HTTP/1.1 "), closed) == (count, False)

    runner.run(run())


@pytest.mark.parametrize("is_first", [True, False])
def test_empty_lines_do_not_keep_a_connection_open(
    runner: asyncio.Runner, app: Any, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Neither before the first request nor between two requests."""
    monkeypatch.setattr(protocol, "HEAD_TIMEOUT_S", 0.3)

    async def run() -> None:
        connection = Connection(app)
        connection.protocol.timeout_keep_alive = 1
        if not is_first:
            connection.feed(request(b"GET /shop/items"))
        loop = asyncio.get_running_loop()
        ends = loop.time() + 5
        while not connection.wire.closed and loop.time() < ends:
            connection.feed(b"\r\n")
            await asyncio.sleep(0.01)
        written, closed = await connection.settle()
        status = b"HTTP/1.1 408 " if is_first else b"HTTP/1.1 200 "
        assert (written.startswith(status), written.count(b"HTTP/1.1 "), closed) == (True, 1, True)

    runner.run(run())


def test_head_received_during_another_request_is_not_idle(runner: asyncio.Runner, app: Any) -> None:
    """Its request may take longer than the deadline of idle connections."""
    first, second = (
        request(b"POST /shop/notes/wait?seconds=" + each) for each in (b"0.05", b"1.5")
    )

    async def run() -> None:
        connection = Connection(app)
        connection.protocol.timeout_keep_alive = 1
        connection.feed(first + second[:20])
        await asyncio.gather(*connection.state.tasks)
        connection.feed(second[20:])
        written, closed = await connection.settle()
        assert (written.count(b"HTTP/1.1 200 "), closed) == (2, False)

    runner.run(run())


def test_disconnect_ends_the_request_that_others_wait_for(runner: asyncio.Runner, app: Any) -> None:
    async def run() -> None:
        connection = Connection(app)
        connection.feed(request(b"POST /shop/notes", FORM, b"Content-Length: 5"))
        running = connection.protocol.cycle
        connection.feed(b"text=" + request(b"GET /livez"))
        assert connection.protocol.cycle is not running
        connection.protocol.connection_lost(None)
        assert running.disconnected
        await asyncio.gather(*connection.state.tasks)

    runner.run(run())


def test_head_is_not_late_while_the_server_does_not_read(
    runner: asyncio.Runner, app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stops reading while requests are queued."""
    monkeypatch.setattr(protocol, "HEAD_TIMEOUT_S", 0.05)
    wait, read = request(b"POST /shop/notes/wait?seconds=0.2"), request(b"GET /shop/items")

    async def run() -> None:
        connection = Connection(app)
        connection.feed(wait + read + read[:20])
        assert connection.protocol.flow.read_paused
        await asyncio.gather(*connection.state.tasks)
        connection.feed(read[20:])
        written, closed = await connection.settle()
        assert (written.count(b"HTTP/1.1 200 "), closed) == (3, False)

    runner.run(run())


def test_late_head_is_rejected_after_earlier_responses(
    runner: asyncio.Runner, app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_TIMEOUT_S", 0.05)
    wait = request(b"POST /shop/notes/wait?seconds=0.2")

    async def run() -> None:
        connection = Connection(app)
        connection.feed(wait, b"GET /shop/items HT")
        written, closed = await connection.settle()
        statuses = [each[:3] for each in written.split(b"HTTP/1.1 ")[1:]]
        assert (statuses, closed) == ([b"200", b"408"], True)

    runner.run(run())


def test_invalid_requests_do_not_fill_the_log(
    runner: asyncio.Runner, app: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """uvicorn writes at least a line for each of these."""
    with caplog.at_level("DEBUG"):
        for raw in (
            b"hello\r\n\r\n",
            request(b"GET /shop/items", b"X : a"),
            request(b"CONNECT a:80"),
            request(b"GET /shop/items", *OFFERS[1]),
            request(b"POST /shop/notes", FORM, b"Transfer-Encoding: chunked", body=b"zz\r\n"),
        ):
            assert runner.run(answers(app, raw))[0].startswith(b"HTTP/1.1 ")
    assert [each for each in caplog.records if each.name.startswith("uvicorn")] == []
