"""Thread pools for work without a database: hashes, pictures, files."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Pool:
    """Threads for one kind of work, so that other work does not wait for it. They are created on
    first use, and therefore after the fork. On Linux, where threads have a priority, they have
    `niceness`.
    """

    def __init__(self, name: str, size: int, *, niceness: int = 0) -> None:
        self._name = name
        self._size = size
        self._niceness = niceness
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a thread and return its result. It does not start if the caller is
        cancelled first.
        """
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._size, self._name, self._give_way)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(work, *args, **kwargs))

    def _give_way(self) -> None:
        if sys.platform == "linux" and self._niceness:
            thread = threading.get_native_id()
            niceness = max(os.getpriority(os.PRIO_PROCESS, thread), self._niceness)
            os.setpriority(os.PRIO_PROCESS, thread, niceness)
