"""A thread with an event loop for a worker's requests, so that they do not block the worker."""

import asyncio
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Job = TypeVar("Job")
Ended = TypeVar("Ended")

FINISHED_WITHIN_S = 20.0


class Posting(ABC, Generic[Job, Ended]):
    """The running requests of a worker. Call `begin`, `take_ended`, `finish` and `close` in the
    worker's thread.

    `on_end()` is called in the loop's thread after each request.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked_at: float | None = None
        """When the loop's thread was asked for a reply that is still missing, or None."""

    @abstractmethod
    async def post(self, job: Job) -> Ended:
        """Post a request and return the outcome, in the loop's thread. It must not raise."""

    @abstractmethod
    async def close_connections(self) -> None:
        """Close the connections after the last request."""

    def begin(self, jobs: Sequence[Job], on_end: Callable[[], None]) -> None:
        """Start the requests. The first call also starts the loop's thread."""
        if not jobs:
            return
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name=self._name, daemon=True
            )
            self._thread.start()
        self._count += len(jobs)
        self._loop.call_soon_threadsafe(self._start, jobs, on_end)

    def silent_s(self) -> float:
        """Return for how many seconds the loop's thread has not replied. Calls also ask it for a
        reply.
        """
        if self._loop is None or self._loop.is_closed():
            return 0.0
        asked_at = self._asked_at
        if asked_at is None:
            self._asked_at = time.monotonic()
            self._loop.call_soon_threadsafe(self._answer)
            return 0.0
        return time.monotonic() - asked_at

    def _answer(self) -> None:
        self._asked_at = None

    @property
    def count(self) -> int:
        """The number of requests whose outcome has not been returned yet."""
        return self._count

    def take_ended(self) -> list[Ended]:
        """Return the outcomes of the requests that have ended since the last call."""
        ended: list[Ended] = []
        while not self._ended.empty():
            ended.append(self._ended.get())
        self._count -= len(ended)
        return ended

    def finish(self) -> list[Ended]:
        """Wait until all requests have ended, or none ends within `FINISHED_WITHIN_S`. Return the
        outcomes.
        """
        ended = self.take_ended()
        while self._count:
            try:
                ended.append(self._ended.get(timeout=FINISHED_WITHIN_S))
            except queue.Empty:
                break
            self._count -= 1
        return ended

    def close(self) -> None:
        """Cancel running requests, close the connections and stop the thread."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.close_connections()

    def _start(self, jobs: Sequence[Job], on_end: Callable[[], None]) -> None:
        for job in jobs:
            task = asyncio.get_running_loop().create_task(self._post(job, on_end))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _post(self, job: Job, on_end: Callable[[], None]) -> None:
        self._ended.put(await self.post(job))
        on_end()
