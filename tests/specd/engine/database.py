"""A database that keeps books instead of data: units, threads, and races to order."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from specd._db.usage import DatabaseState

T = TypeVar("T")


class LostRace(Exception):
    """What `run` answers by one more try."""


class TooLate(Exception):
    """No thread has taken up the work in time."""


class Books:
    """Counts what the engine does with a `Database`; `lose` is how many tries lose their race."""

    def __init__(self, *, inline: bool, threads: int = 2) -> None:
        self.reads_inline = inline
        self.write_threads = threads
        self.kept: list[Any] = []
        self.undone = 0
        self.lose = 0
        self.open = 0
        self.most_open = 0
        self.read_threads: set[str] = set()
        self.run_threads: set[str] = set()
        self.pings = 0
        self.is_disposed = False
        self.is_watched = False
        self.is_down = False
        self._lock = threading.Lock()

    def _opened(self, by: int) -> None:
        with self._lock:
            self.open += by
            self.most_open = max(self.most_open, self.open)

    @contextmanager
    def reading(self) -> Iterator[Any]:
        self.read_threads.add(threading.current_thread().name)
        self._opened(1)
        try:
            yield "connection"
        finally:
            self._opened(-1)

    @contextmanager
    def snapshot(self) -> Iterator[Any]:
        with self.reading():
            yield "snapshot"

    def run(self, work: Callable[[Any], T]) -> T:
        self.run_threads.add(threading.current_thread().name)
        for attempt in (1, 2):
            written: list[Any] = []
            self._opened(1)
            try:
                result = work(written)
                if self.lose:
                    self.lose -= 1
                    raise LostRace
            except LostRace:
                self.undone += 1
                if attempt == 2:
                    raise
            except BaseException:
                self.undone += 1
                raise
            else:
                self.kept += written
                return result
            finally:
                self._opened(-1)
        raise AssertionError

    def ping(self) -> None:
        self.pings += 1
        if self.is_down:
            raise ConnectionError("down")

    def watch(self) -> None:
        self.is_watched = True

    def late(self) -> Exception:
        return TooLate()

    def state(self) -> DatabaseState:
        return DatabaseState((), not self.is_down, 0, None)

    def dispose(self) -> None:
        self.is_disposed = True
