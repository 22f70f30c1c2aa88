"""Runs work that calls itself once for each level of a deep structure."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
_STACK_BYTES = 512 << 20  # reserved, and used only as deep as the work goes
_FRAMES = 100_000


def run_deep(work: Callable[[], T]) -> T:
    """Call `work` in a thread with a large stack, and return its result or raise its exception."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(_FRAMES)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(stack)
    return result.result()
