"""The stall meter: the stalls that it counts, and their metrics."""

import asyncio
import gc
import re
import threading
import time
from typing import Any

import pytest
from prometheus_client import REGISTRY

from specd._engine.serving import stalls
from specd._engine.serving.app import build_app
from specd._engine.serving.stalls import LEAST_LATENESS_S, STALL_S, TICK_S, StallMeter
from tests.specd.engine.client import Client
from tests.specd.engine.services import shop_service
from tests.specd.engine.test_app import live


class HeldClock(asyncio.SelectorEventLoop):
    """An event loop whose time is set by the test."""

    now = 100.0

    def time(self) -> float:
        return self.now


def counted() -> tuple[float, float]:
    """Return the number of stalls and their total seconds."""
    names = ("specd_loop_stall_seconds_count", "specd_loop_stall_seconds_sum")
    count, total = (REGISTRY.get_sample_value(name) or 0.0 for name in names)
    return count, total


def watched(monkeypatch: pytest.MonkeyPatch, lateness: float) -> list[float]:
    """Return the stalls that a meter saw whose first tick was late by `lateness`."""
    seen: list[float] = []
    here = threading.get_ident()

    def observe(seconds: float) -> None:
        if threading.get_ident() == here:  # applications of other tests may still be running
            seen.append(seconds)

    monkeypatch.setattr(stalls.STALLS, "observe", observe)
    loop = HeldClock()

    async def play() -> None:
        meter = StallMeter()
        meter.start()
        loop.now += TICK_S + lateness
        while meter.due < loop.now:
            await asyncio.sleep(0)
        meter.stop()

    try:
        loop.run_until_complete(play())
    finally:
        loop.close()
    return seen


def test_late_tick_is_a_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(monkeypatch, 3.0) == [pytest.approx(3.0)]
    assert watched(monkeypatch, STALL_S + 0.001) == [pytest.approx(STALL_S + 0.001)]


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_stall_of_20_ms_counts_at_any_offset(monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    assert len(watched(monkeypatch, STALL_S + 1e-6 - part * TICK_S)) == 1


def test_shorter_delay_is_not_a_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(monkeypatch, LEAST_LATENESS_S - 0.001) == []


def test_collections_are_timed_while_the_meter_runs() -> None:
    def known() -> float:
        return REGISTRY.get_sample_value("specd_gc_pause_seconds_count") or 0.0

    before = known()

    async def play() -> None:
        meter = StallMeter()
        meter.start()
        gc.collect()
        while known() == before:
            await asyncio.sleep(0.001)
        meter.stop()

    callbacks = list(gc.callbacks)
    asyncio.run(play())
    assert gc.callbacks == callbacks


def test_metrics_contain_the_stalls_of_a_process() -> None:
    app = build_app([shop_service()])
    before = counted()
    texts: list[str] = []

    async def play() -> None:
        await asyncio.sleep(TICK_S / 2)
        time.sleep(0.3)
        while counted()[1] - before[1] < 0.3 - TICK_S:
            await asyncio.sleep(0.001)
        answer: Any = await Client(app).exchange("GET", "/metrics")
        texts.append(answer.body.decode())

    asyncio.run(live(app, play))
    assert "# TYPE specd_loop_stall_seconds histogram" in texts[0]
    shown = re.search(r"^specd_loop_stall_seconds_count (\S+)$", texts[0], re.MULTILINE)
    assert shown is not None
    # A busy machine causes additional stalls, also after the scrape.
    assert before[0] < float(shown[1]) <= counted()[0]


def test_meter_ends_with_the_application() -> None:
    app = build_app([shop_service()])
    timers: list[int] = []

    async def play() -> None:
        pass

    async def whole_life() -> None:
        await live(app, play)
        loop: Any = asyncio.get_running_loop()
        timers.append(sum(not timer.cancelled() for timer in loop._scheduled))

    asyncio.run(whole_life())
    assert timers == [0]
