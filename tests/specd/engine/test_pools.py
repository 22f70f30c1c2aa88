"""If all threads of a kind are in use, probes and other work continue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from specd._engine.document.arrivals import PIECES
from specd._engine.pools import Pool
from specd._engine.serving.app import PAGE_THREADS, build_app
from specd._engine.threads import LONG_READS, Threads
from tests.specd.engine.database import Books
from tests.specd.engine.services import shop_service
from tests.specd.engine.wire import Connection, request

IN_TIME_S = 5.0
WRITERS = 3
PAGES = "pages"
OWN = Pool("own", 3)
"""A pool of a service for its handlers."""
Work = Callable[..., Coroutine[Any, Any, Any]]


def pools(threads: Threads) -> dict[str, tuple[int, Work]]:
    """Return the number of threads of each pool of a process, and functions that use them."""

    async def read(work: Callable[..., Any], *parts: Any) -> Any:
        return await threads.run_reading(work, *parts)

    async def write(work: Callable[..., Any], *parts: Any) -> Any:
        return await threads.run_writing(work, *parts)

    found: dict[str, tuple[int, Work]] = {
        "long reads": (LONG_READS, read),
        "writes": (WRITERS, write),
    }
    for pool in (PIECES, OWN):
        found[pool._name] = pool._size, pool.run
    return found


async def ask(app: Any, path: bytes) -> bytes:
    connection = Connection(app)
    connection.feed(request(b"GET " + path))
    async with asyncio.timeout(IN_TIME_S):
        await asyncio.gather(*connection.state.tasks)
    return connection.wire.written[9:12]


@pytest.mark.parametrize("taken", [*pools(Threads("shop", None)), PAGES])
def test_busy_threads_do_not_delay_other_work(taken: str) -> None:
    free, begun = threading.Event(), threading.Semaphore(0)

    def block() -> None:
        begun.release()
        free.wait(60)

    def pages(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        block()
        start("200 OK", [("Content-Length", "0")])
        return []

    async def play() -> None:
        threads = Threads("shop", Books(inline=True, threads=WRITERS))
        app = build_app([shop_service(database=Books(inline=True))], pages=pages)
        all_pools = pools(threads)
        loop = asyncio.get_running_loop()
        under_way: list[asyncio.Future[Any]] = []
        try:
            if taken == PAGES:
                size = PAGE_THREADS
                for _ in range(2 * size):
                    connection = Connection(app)
                    connection.feed(request(b"GET /elsewhere"))
                    under_way.extend(connection.state.tasks)
            else:
                size, work = all_pools.pop(taken)
                under_way = [asyncio.ensure_future(work(block)) for _ in range(3 * size)]
            ends = loop.time() + IN_TIME_S
            for _ in range(size):
                while not begun.acquire(blocking=False):
                    assert loop.time() < ends, "some of its threads are free"
                    await asyncio.sleep(0.005)
            for path in (b"/healthz", b"/readyz", b"/metrics"):
                assert await ask(app, path) == b"200", path
            for name, (_, other) in all_pools.items():
                async with asyncio.timeout(IN_TIME_S):
                    assert await other(int, "7") == 7, name
        finally:
            free.set()
            with suppress(Exception):
                await asyncio.gather(*under_way, return_exceptions=True)
            threads.close()

    asyncio.run(play())
