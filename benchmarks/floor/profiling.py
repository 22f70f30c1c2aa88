"""Where the time of an application goes that is fed by hand."""

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
    """Runs what it is given at once, where a profiler sees it."""

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
    """Have no operation of the application use another thread."""
    engine = engine_of(app)
    assert engine is not None
    for api in engine.apis:
        api.threads = _NoThreads(api.service.name, None)


async def profile(ask: Ask, count: int, lines: int) -> str:
    """The functions with most time of their own, in so many requests."""
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(count):
        await ask()
    profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("tottime").print_stats(lines)
    return f"{count} requests\n{text.getvalue()}"
