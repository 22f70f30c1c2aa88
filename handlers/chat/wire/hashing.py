"""Work with passwords, off the event loop and in threads of its own: who waits for a hash keeps
nobody else from a thread.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

from models.chat.identity.passwords import HASHES_AT_ONCE

NICENESS = 10

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _threads() -> ThreadPoolExecutor:
    """Made on first use, so after the fork."""
    return ThreadPoolExecutor(HASHES_AT_ONCE, "hashes", initializer=_give_way)


def _give_way() -> None:
    """A hash runs on four threads of its own, which are as nice as this one: with two hashes in
    each process the event loop would wait for a processor.
    """
    if sys.platform == "linux":  # elsewhere a thread has no priority of its own
        thread = threading.get_native_id()
        niceness = max(os.getpriority(os.PRIO_PROCESS, thread), NICENESS)
        os.setpriority(os.PRIO_PROCESS, thread, niceness)


async def run_hashing(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`work(*args)`: some 50 ms by design, for each hash in it. Holds no connection and no lock."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads(), lambda: work(*args, **kwargs))
