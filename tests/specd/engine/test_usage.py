"""The resource usage of a process in its metrics."""

import asyncio
import threading
from contextlib import suppress
from typing import Any

import pytest
from prometheus_client import REGISTRY

from specd._db.usage import ConnectionUse, DatabaseState
from specd._engine import threads as module
from specd._engine.serving import usage
from specd._engine.serving.app import build_app, engine_of
from specd._engine.serving.usage import UsageMeter
from specd._engine.threads import Threads
from tests.specd.engine.database import Books, TooLate
from tests.specd.engine.services import shop_service


def shown(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"specd_{name}", labels)


def test_busy_threads_and_waiting_work_are_counted() -> None:
    free = threading.Event()

    async def play() -> None:
        threads = Threads("shop", Books(inline=False, threads=2))
        assert threads.uses == []
        work = [threads.run_writing(free.wait, 20) for _ in range(5)]
        [use] = threads.uses
        assert (use.kind, use.size, use.in_use, use.waiting) == ("writing", 2, 2, 3)
        free.set()
        await asyncio.gather(*work)
        assert (use.in_use, use.waiting) == (0, 0)
        threads.close()

    asyncio.run(play())


def test_rejected_and_abandoned_work_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    async def play() -> None:
        threads = Threads("shop", Books(inline=False, threads=1))
        first = threads.run_writing(free.wait, 20)
        late = threads.run_writing(int)
        given_up = asyncio.ensure_future(threads.run_writing(int))
        given_up.cancel()
        with suppress(TooLate):
            await asyncio.wait_for(late, 10)
        [use] = threads.uses
        assert (use.in_use, use.waiting) == (1, 0)
        free.set()
        await first
        threads.close()

    monkeypatch.setattr(module, "MAX_QUEUED_S", 0.05)
    asyncio.run(play())


def test_metrics_of_a_process() -> None:
    class Known(Books):
        known = DatabaseState((ConnectionUse("writing", 8, 5, 3),), True, 0, None)

        def state(self) -> DatabaseState:
            return self.known

    books = Known(inline=True)
    engine = engine_of(build_app([shop_service(database=books)]))
    assert engine is not None
    meter = UsageMeter(engine.apis)
    before = shown("database_outages_total", service="shop") or 0.0
    meter.show()
    connections = {"service": "shop", "kind": "writing"}
    assert shown("database_connections_size", **connections) == 8
    assert shown("database_connections_in_use", **connections) == 5
    assert shown("database_connections_waiting", **connections) == 3
    assert shown("database_away", service="shop") == 0
    assert shown("database_outages_total", service="shop") == before
    assert shown("event_log_unread_seconds", service="shop") is None
    books.known = DatabaseState((), False, 2, 4.5)
    for _ in range(2):
        meter.show()
    assert shown("database_away", service="shop") == 1
    assert shown("database_outages_total", service="shop") == before + 2
    assert shown("event_log_unread_seconds", service="shop") == 4.5


def test_meter_runs_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted(Books):
        asked = 0

        def state(self) -> DatabaseState:
            self.asked += 1
            return super().state()

    books = Counted(inline=True)
    engine = engine_of(build_app([shop_service(database=books)]))
    assert engine is not None

    async def play() -> int:
        meter = UsageMeter(engine.apis)
        meter.start()
        async with asyncio.timeout(20):
            while books.asked < 3:
                await asyncio.sleep(0.001)
        meter.stop()
        loop: Any = asyncio.get_running_loop()
        return sum(not timer.cancelled() for timer in loop._scheduled)

    monkeypatch.setattr(usage, "EVERY_S", 0.001)
    assert asyncio.run(play()) == 0
