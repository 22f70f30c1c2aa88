"""The threads of a service: work that does not start in time is rejected and never starts."""

import asyncio
import threading

import pytest

from specd._engine import threads as module
from specd._engine.threads import Threads
from tests.specd.engine.database import Books, TooLate


def test_work_that_does_not_start_in_time_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUEUED_S", 0.05)
    free, began = threading.Event(), []

    async def play() -> None:
        threads = Threads("shop", Books(inline=False, threads=1))
        first = threads.run_writing(free.wait, 20)
        waiting = [threads.run_writing(began.append, n) for n in range(3)]
        for refused in waiting:
            with pytest.raises(TooLate):
                await asyncio.wait_for(refused, 10)
        free.set()
        assert await first is True, "started work must not be rejected"
        assert await threads.run_writing(int, "7") == 7
        threads.close()

    asyncio.run(play())
    assert not began


def test_error_of_the_work_is_raised() -> None:
    async def play() -> None:
        threads = Threads("shop", Books(inline=True))
        with pytest.raises(ValueError, match="invalid literal"):
            await threads.run_reading(int, "seven")
        threads.close()

    asyncio.run(play())


def test_abandoned_work_does_not_start() -> None:
    free, began = threading.Event(), []

    async def play() -> None:
        threads = Threads("shop", Books(inline=False, threads=1))
        first = threads.run_writing(free.wait, 20)
        given_up = asyncio.ensure_future(threads.run_writing(began.append, 1))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        free.set()
        await first
        await threads.run_writing(int)
        threads.close()

    asyncio.run(play())
    assert not began
