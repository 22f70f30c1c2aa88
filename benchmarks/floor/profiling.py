"""Profiles an application in this process."""

import cProfile
import io
import pstats
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from benchmarks.floor.wire import Ask
from specd._engine.serving.app import engine_of
from specd._engine.threads import Threads


class _OnThisThread(Executor):
    """Runs functions immediately in the caller's thread, where a profiler sees them."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class _NoThreads(Threads):
    reading = writing = _OnThisThread()


def on_this_thread(app: Any) -> None:
    """Make all operations of the application run in the caller's thread."""
    engine = engine_of(app)
    assert engine is not None
    for api in engine.apis:
        api.threads = _NoThreads(api.service.name, None)


async def profile(ask: Ask, count: int, lines: int) -> str:
    """Return the functions with the most time in their own code, over `count` requests."""
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(count):
        await ask()
    profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("tottime").print_stats(lines)
    return f"{count} requests\n{text.getvalue()}"
