"""Responses of one iteration of the event loop are written together, in order, without loss."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from specd._engine.http import coalescing
from specd._engine.http.coalescing import (
    CLOSE_S,
    MAX_BYTES,
    PIECE,
    WAIT_S,
    Coalescer,
    CoalescingTransport,
)
from tests.specd.engine.wire import Wire, answer_to


class Writes(Wire):
    """A connection that records each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        super().write(data)
        self.writes.append(data)

    def abort(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return 1000


class Clock:
    """A clock that the test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(coalescing, "perf_counter", clock)
    return clock


@contextmanager
def a_loop() -> Iterator[Callable[[], tuple[Writes, CoalescingTransport]]]:
    """Yield a function that opens connections of a loop that has just sent a response."""
    loop = asyncio.new_event_loop()
    coalescer = Coalescer(loop)

    def connect() -> tuple[Writes, CoalescingTransport]:
        wire = Writes()
        return wire, CoalescingTransport(wire, coalescer)

    try:
        first, transport = connect()
        transport.write(b"first")
        assert first.writes == [b"first"]
        yield connect
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()


def test_responses_close_together_are_written_at_the_end_of_the_iteration(clock: Clock) -> None:
    with a_loop() as connect:
        (one, to_one), (two, to_two) = connect(), connect()
        to_one.write(b"a")
        to_two.write(b"b")
        to_one.write(b"c")
        assert (one.writes, two.writes) == ([], [])
        assert to_one.get_write_buffer_size() == 1002
    assert (one.writes, two.writes) == ([b"ac"], [b"b"])
    assert to_one.get_write_buffer_size() == 1000


def test_slow_response_is_written_immediately_and_in_order(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        transport.write(b"a")
        clock.now += CLOSE_S
        transport.write(b"b")
        assert wire.writes == [b"a", b"b"]
    assert wire.writes == [b"a", b"b"]


def test_delay_is_limited(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        written = 0
        while not wire.writes:
            transport.write(b"a")
            written += 1
            clock.now += CLOSE_S * 0.9
        assert wire.writes == [b"a" * written]
        assert WAIT_S < written * CLOSE_S < 2 * WAIT_S


def test_amount_of_delayed_bytes_is_limited(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        transport.write(b"a" * MAX_BYTES)
        assert wire.writes == []
        transport.write(b"b")
        assert wire.writes == [b"a" * MAX_BYTES + b"b"]


def test_delayed_bytes_are_copied(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        data = bytearray(b"a")
        transport.write(data)
        data[0] = 0
    assert wire.writes == [b"a"]


def test_closing_connection_gets_its_response(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        transport.write(b"a")
        transport.close()
        assert (wire.writes, wire.closed) == ([b"a"], True)


def test_lost_connection_gets_no_more_bytes(clock: Clock) -> None:
    with a_loop() as connect:
        (one, to_one), (two, to_two) = connect(), connect()
        to_one.write(b"a")
        to_one.abort()
        to_two.write(b"b")
        two.close()
    assert (one.writes, two.writes) == ([], [])


def test_rejection_follows_earlier_responses(clock: Clock) -> None:
    good = b"GET /shop/items?limit=3 HTTP/1.1\r\nHost: a\r\n\r\n"
    bad = b"GET /shop/items HTTP/1.1\r\n\r\n"
    written = answer_to(good, good, bad)
    statuses = [part[:3] for part in written.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"422"]


def test_large_response_is_written_in_pieces() -> None:
    """The memory of pieces that a slow client has read can be released."""
    written: list[bytes] = []

    class Under(asyncio.Transport):
        def is_closing(self) -> bool:
            return len(written) == 5

        def write(self, data: Any) -> None:
            written.append(data)

    loop = asyncio.new_event_loop()
    answer = bytes(range(256)) * 4096 + b"the end"
    CoalescingTransport(Under(), Coalescer(loop)).write(answer)
    loop.close()
    assert max(map(len, written)) == PIECE
    assert b"".join(written) == answer
