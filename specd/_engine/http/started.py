"""Coroutines that are started without a task, because most end without waiting for anything.

asyncio can do this since Python 3.12 (`eager_task_factory`).
"""

from __future__ import annotations

import types
from collections.abc import Generator
from typing import Any


@types.coroutine
def in_a_task() -> Generator[None, None, None]:
    """Wait for one turn of the event loop. A coroutine that was started without a task then
    continues in a task, which `asyncio.timeout` requires.
    """
    yield


@types.coroutine
def go_on(started: Any, pending: Any) -> Generator[Any, Any, Any]:
    """Run the rest of a coroutine that was started and return its result. `pending` is the object
    that it is waiting for.
    """
    while True:
        try:
            value = yield pending
        except BaseException as error:
            step, sent = started.throw, error
        else:
            step, sent = started.send, value
        try:
            pending = step(sent)
        except StopIteration as end:
            return end.value
