"""Answers of one turn of the loop go out together, in their order, and none is lost."""

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
    """A connection that keeps each write."""

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
    """Time as the test has it."""

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
    """Connections of one loop, of which one has just been answered."""
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


def test_answers_close_together_go_out_at_the_end_of_the_turn(clock: Clock) -> None:
    with a_loop() as connect:
        (one, to_one), (two, to_two) = connect(), connect()
        to_one.write(b"a")
        to_two.write(b"b")
        to_one.write(b"c")
        assert (one.writes, two.writes) == ([], [])
        assert to_one.get_write_buffer_size() == 1002
    assert (one.writes, two.writes) == ([b"ac"], [b"b"])
    assert to_one.get_write_buffer_size() == 1000


def test_an_answer_that_took_long_waits_for_nobody_and_overtakes_nothing(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        transport.write(b"a")
        clock.now += CLOSE_S
        transport.write(b"b")
        assert wire.writes == [b"a", b"b"]
    assert wire.writes == [b"a", b"b"]


def test_nothing_waits_long(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        written = 0
        while not wire.writes:
            transport.write(b"a")
            written += 1
            clock.now += CLOSE_S * 0.9
        assert wire.writes == [b"a" * written]
        assert WAIT_S < written * CLOSE_S < 2 * WAIT_S


def test_what_is_held_back_is_bounded(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        transport.write(b"a" * MAX_BYTES)
        assert wire.writes == []
        transport.write(b"b")
        assert wire.writes == [b"a" * MAX_BYTES + b"b"]


def test_bytes_that_change_later_are_held_as_they_were(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        data = bytearray(b"a")
        transport.write(data)
        data[0] = 0
    assert wire.writes == [b"a"]


def test_a_connection_that_closes_gets_its_answer(clock: Clock) -> None:
    with a_loop() as connect:
        wire, transport = connect()
        transport.write(b"a")
        transport.close()
        assert (wire.writes, wire.closed) == ([b"a"], True)


def test_a_connection_that_is_lost_gets_nothing_more(clock: Clock) -> None:
    with a_loop() as connect:
        (one, to_one), (two, to_two) = connect(), connect()
        to_one.write(b"a")
        to_one.abort()
        to_two.write(b"b")
        two.close()
    assert (one.writes, two.writes) == ([], [])


def test_a_refusal_comes_after_the_answers_before_it(clock: Clock) -> None:
    good = b"GET /shop/items?limit=3 HTTP/1.1\r\nHost: a\r\n\r\n"
    bad = b"GET /shop/items HTTP/1.1\r\n\r\n"
    written = answer_to(good, good, bad)
    statuses = [part[:3] for part in written.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"422"]


def test_a_large_answer_leaves_in_pieces() -> None:
    """So that of one that is read slowly, what has been read is let go."""
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
