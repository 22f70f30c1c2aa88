"""Limits on the CPU time and memory that a test uses."""

import gc
import os
import pickle
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

_LOOP_S = 0.002
"""The duration of `_loop` on the machine for which the limits are written."""


class Cost(NamedTuple):
    seconds: float
    """CPU seconds, divided by `slowness`."""
    growth: int
    """Bytes by which the peak of the memory exceeds the initial size."""
    result: Any


def spent(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def slowness() -> float:
    """Return how many times slower this machine currently is than the one for which the limits are
    written, but at least 1.
    """
    return max(1.0, min(spent(_loop) for _ in range(3)) / _LOOP_S)


def _loop() -> int:
    return sum(len(str(number)) for number in range(30_000))


@contextmanager
def cpu_at_most(seconds: float) -> Iterator[None]:
    """Fail if the block takes more CPU time.

    The garbage collector is paused, because a pass over the objects of all previous tests takes
    half a second.
    """
    gc.disable()
    started = time.process_time()
    try:
        yield
        used = time.process_time() - started
    finally:
        gc.enable()
    assert used < seconds * slowness(), f"{used:.3f} s of CPU"


def cost_of(work: Callable[[], Any], *, tries: int = 1) -> Cost:
    """Return the cost of a call in a forked process, and its result.

    The time is the best of `tries`, the memory that of the first. Raise `AssertionError` if the
    process dies.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            gc.freeze()  # otherwise a collection copies the parent's memory
            Path("/proc/self/clear_refs").write_text("5")  # reset the peak
            before = _bytes_of("VmRSS")
            started = time.process_time()
            result = work()
            seconds = [time.process_time() - started]
            growth = _bytes_of("VmHWM") - before
            seconds += [spent(work) for _ in range(tries - 1)]
            answer = pickle.dumps(Cost(min(seconds) / slowness(), growth, result))
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        raw = pipe.read()
    os.waitpid(pid, 0)
    assert raw, "the process died"
    cost: Cost = pickle.loads(raw)
    return cost


def _bytes_of(field: str) -> int:
    """Return a size in bytes from this process's status."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found, field
    return int(found[1]) * 1024
