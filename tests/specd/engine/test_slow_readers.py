"""A connection whose client does not read a response is closed. Slow clients keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from specd._engine.http.slow_readers import (
    DEADLINES,
    LEAST_BYTES,
    LOOKS,
    MAX_OF_ONE,
    MAX_UNREAD,
    SlowReaders,
)

DEADLINE_S = 20.0


class Loop:
    """An event loop whose time is set by the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, work: Callable[[], None]) -> object:
        self.due.append((self.now + delay, work))
        return object()

    def look(self) -> None:
        (at, work), *self.due = self.due
        self.now = at
        work()


class Reader:
    """A connection, its transport and its exchange in one object."""

    def __init__(self, unread: int = 0, reader: object = None) -> None:
        self.unread = unread
        self.reader = reader or self
        self.drains = 0
        self.exchanges = 1
        self.is_open = True
        self.transport: Any = self

    def get_write_buffer_size(self) -> int:
        return self.unread

    def get_extra_info(self, name: str) -> None:
        return None

    def abort(self) -> None:
        self.is_open = False


def looks(reader: Reader, step: Callable[[], None], *, count: int = 5 * LOOKS) -> int:
    """Return the number of checks before the connection ends, or `count` if it does not end."""
    loop: Any = Loop()
    readers = {reader}
    watch = SlowReaders(loop, readers, deadline_s=DEADLINE_S)
    watch.watch()
    watch.watch()
    assert len(loop.due) == 1, "there must be one timer"
    for number in range(count):
        step()
        loop.look()
        if not reader.is_open:
            return number
    return count


def test_unread_response_ends() -> None:
    assert looks(Reader(unread=1), lambda: None) == LOOKS
    assert looks(Reader(unread=10**6), lambda: None) == LOOKS


def test_trickle_does_not_prevent_the_end() -> None:
    reader = Reader(unread=10**6)

    def trickle() -> None:
        reader.unread -= LEAST_BYTES // LOOKS - 1

    assert looks(reader, trickle) == LOOKS


def test_large_response_requires_a_higher_rate() -> None:
    """It must be read within two minutes, so that its memory is released."""
    whole = 100 * LEAST_BYTES
    slow, fast = Reader(unread=whole), Reader(unread=whole)

    def reading(reader: Reader, share: int) -> Callable[[], None]:
        def read() -> None:
            reader.unread = max(reader.unread - whole // (LOOKS * share), 0)

        return read

    assert looks(slow, reading(slow, DEADLINES + 2)) == LOOKS
    assert looks(fast, reading(fast, DEADLINES)) == 5 * LOOKS


def test_unread_bytes_of_all_clients_are_limited() -> None:
    """The connection that has waited longest is closed first, and one that was just answered is
    kept.
    """
    loop: Any = Loop()
    readers = [Reader(unread=MAX_UNREAD // 4) for _ in range(6)]
    watch = SlowReaders(loop, readers, deadline_s=DEADLINE_S)
    for reader in readers[:4]:
        watch.note_full(reader)
    watch.note_drained(readers[0])
    watch.note_full(readers[4])
    assert all(reader.is_open for reader in readers)
    watch.note_full(readers[5])
    assert [reader.is_open for reader in readers] == [True, False, True, True, True, True]
    watch.note_full(Reader(unread=2 * MAX_UNREAD))
    assert [reader.is_open for reader in readers] == [True] + 5 * [False]


def test_unread_bytes_of_one_user_are_limited() -> None:
    """The oldest connections of the user are closed, and none of other users."""
    loop: Any = Loop()
    other = Reader(unread=MAX_OF_ONE, reader="other")
    readers = [Reader(unread=MAX_OF_ONE // 2, reader="one") for _ in range(40)]
    watch = SlowReaders(loop, readers, deadline_s=DEADLINE_S)
    watch.note_full(other)
    for reader in readers:
        watch.note_full(reader)
    assert [reader.is_open for reader in readers] == 38 * [False] + 2 * [True]
    assert other.is_open


@pytest.mark.parametrize("how", ["reads", "drains", "asks again", "has all"])
def test_progress_keeps_the_connection(how: str) -> None:
    reader = Reader(unread=DEADLINES * LEAST_BYTES)

    def step() -> None:
        match how:
            case "reads":
                reader.unread -= LEAST_BYTES // LOOKS
            case "drains":
                reader.drains += 1
            case "asks again":
                reader.exchanges += 1
            case "has all":
                reader.unread = 0

    assert looks(reader, step) == 5 * LOOKS


def test_timer_stops_without_connections() -> None:
    loop: Any = Loop()
    readers = {Reader()}
    watch = SlowReaders(loop, readers, deadline_s=DEADLINE_S)
    watch.watch()
    readers.clear()
    loop.look()
    assert loop.due == []
    readers.add(Reader(unread=1))
    watch.watch()
    assert len(loop.due) == 1
