"""A database that counts units, threads and races instead of storing data."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

from specd._db.usage import DatabaseState

T = TypeVar("T")


class LostRace(Exception):
    """An error that `run` handles by retrying."""


class TooLate(Exception):
    """No thread started the work in time."""


class Books:
    """Counts the calls from the engine to a `Database`. `lose` is the number of tries that lose a
    race.
    """

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
    def _connected(self, threads: set[str], connection: Any) -> Iterator[Any]:
        threads.add(threading.current_thread().name)
        self._opened(1)
        try:
            yield connection
        finally:
            self._opened(-1)

    @contextmanager
    def reading_unit(self, *, is_snapshot: bool = False) -> Iterator["BooksUnit"]:
        connection = "snapshot" if is_snapshot else "connection"
        with ExitStack() as stack:
            connected = partial(self._connected, self.read_threads, connection)
            yield BooksUnit(stack, connected, f"session on {connection}", is_read_only=True)

    def run_unit(self, work: Callable[["BooksUnit"], T]) -> T:
        for attempt in (1, 2):
            written: list[Any] = []
            with ExitStack() as stack:
                connected = partial(self._connected, self.run_threads, "writing connection")
                unit = BooksUnit(stack, connected, written, is_read_only=False)
                try:
                    result = work(unit)
                    if self.lose:
                        self.lose -= 1
                        raise LostRace
                except LostRace:
                    self.undone += 1
                    if attempt == 2:
                        raise
                except BaseException:
                    self.undone += unit.is_open
                    raise
                else:
                    self.kept += written
                    return result
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


class BooksUnit:
    """Opens connection and session at their first use, and counts them."""

    def __init__(
        self,
        stack: ExitStack,
        connect: Callable[[], AbstractContextManager[Any]],
        session: Any,
        *,
        is_read_only: bool,
    ) -> None:
        self.is_read_only = is_read_only
        self.is_open = False
        self._stack = stack
        self._connect = connect
        self._session = session

    @property
    def connection(self) -> Any:
        if not self.is_open:
            self._connection = self._stack.enter_context(self._connect())
            self.is_open = True
        return self._connection

    @property
    def session(self) -> Any:
        assert self.connection
        return self._session
