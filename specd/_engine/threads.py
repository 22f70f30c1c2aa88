"""The threads of one service, for writes and for reads that may take long.

They are created on first use, and therefore after the fork. If reads never wait (SQLite), there are
few threads for reading: they run work that would block the event loop, and more threads would only
compete for the processor. Otherwise reads and writes share the threads, one for each connection.

Work that no thread starts in time is refused, because clients do not wait forever.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from specd._engine.service import Database

LONG_READS = 2
MAX_QUEUED_S = 2.5
T = TypeVar("T")


@dataclass(slots=True)
class ThreadUse:
    """The use of threads of one kind. `given` is the number of unfinished calls."""

    kind: str
    size: int
    given: int = 0

    @property
    def in_use(self) -> int:
        return min(self.given, self.size)

    @property
    def waiting(self) -> int:
        return self.given - self.in_use


class Threads:
    """The executors of a service. None is asyncio's default executor, for services without a
    database.
    """

    def __init__(self, name: str, database: Database | None) -> None:
        self._name = name
        self._database = database
        self._writing: ThreadPoolExecutor | None = None
        self._reading: ThreadPoolExecutor | None = None
        self._queued: deque[tuple[float, Future[Any]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._uses: dict[Executor, ThreadUse] = {}

    @property
    def uses(self) -> Sequence[ThreadUse]:
        """The use of threads, by kind. Only the event loop's thread may read it."""
        return list(self._uses.values())

    @property
    def writing(self) -> Executor | None:
        if self._writing is None and self._database is not None:
            size = self._database.write_threads
            self._writing = ThreadPoolExecutor(size, self._name)
            self._uses[self._writing] = ThreadUse("writing", size)
        return self._writing

    @property
    def reading(self) -> Executor | None:
        if self._database is None or not self._database.reads_inline:
            return self.writing
        if self._reading is None:
            self._reading = ThreadPoolExecutor(LONG_READS, f"{self._name}-reads")
            self._uses[self._reading] = ThreadUse("reading", LONG_READS)
        return self._reading

    def run_reading(self, function: Callable[..., T], *parts: Any) -> Awaitable[T]:
        """Run `function(*parts)` in a thread for reading and return its result. Raise the
        database's `late` error unless a thread starts it within `MAX_QUEUED_S`.
        """
        return self._run(self.reading, function, *parts)

    def run_writing(self, function: Callable[..., T], *parts: Any) -> Awaitable[T]:
        """Do the same as `run_reading` in a thread for writing."""
        return self._run(self.writing, function, *parts)

    def close(self) -> None:
        """Finish running calls and cancel the others."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for executor in (self._reading, self._writing):
            if executor is not None:
                executor.shutdown(wait=True, cancel_futures=True)
        self._reading = self._writing = None
        self._uses.clear()

    def _run(
        self, executor: Executor | None, function: Callable[..., T], *parts: Any
    ) -> Awaitable[T]:
        loop = asyncio.get_running_loop()
        if executor is None or self._database is None:
            return loop.run_in_executor(None, function, *parts)
        use = self._uses[executor]
        use.given += 1
        work = executor.submit(function, *parts)
        answer: asyncio.Future[T] = loop.create_future()
        answer.add_done_callback(partial(_forget, work))
        work.add_done_callback(partial(_hand_over, loop, answer, self._database.late, use))
        queued = self._queued
        while queued and (queued[0][1].running() or queued[0][1].done()):
            queued.popleft()
        queued.append((loop.time() + MAX_QUEUED_S, work))
        if self._timer is None:
            self._timer = loop.call_later(MAX_QUEUED_S, self._refuse_late)
        return answer

    def _refuse_late(self) -> None:
        """Cancel calls that were queued for too long. One timer runs while calls are queued,
        because a timer for each request would cost more than checking the queue.
        """
        self._timer = None
        loop, queued = asyncio.get_running_loop(), self._queued
        while queued and queued[0][0] <= loop.time():
            queued.popleft()[1].cancel()  # no effect if the work has begun
        if queued:
            self._timer = loop.call_at(queued[0][0], self._refuse_late)


def _forget(work: Future[T], answer: asyncio.Future[T]) -> None:
    """Cancel the work if its caller was cancelled."""
    if answer.cancelled():
        work.cancel()


def _hand_over(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[T],
    late: Callable[[], Exception],
    use: ThreadUse,
    work: Future[T],
) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(_settle, answer, late, use, work)


def _settle(
    answer: asyncio.Future[T], late: Callable[[], Exception], use: ThreadUse, work: Future[T]
) -> None:
    use.given -= 1
    if answer.done():
        return
    if work.cancelled():
        answer.set_exception(late())
        return
    error = work.exception()
    if error is None:
        answer.set_result(work.result())
    else:
        answer.set_exception(error)
