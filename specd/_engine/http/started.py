"""Coroutines that are started without a task, because most end without having waited for anything.

asyncio does so from Python 3.12 on (`eager_task_factory`).
"""

from __future__ import annotations

import types
from collections.abc import Generator
from typing import Any


@types.coroutine
def in_a_task() -> Generator[None, None, None]:
    """Wait for one turn of the event loop: a coroutine that was started without a task goes on in
    one, as `asyncio.timeout` demands.
    """
    yield


@types.coroutine
def go_on(started: Any, pending: Any) -> Generator[Any, Any, Any]:
    """Wait for the rest of a coroutine that was started; `pending` is what it waits for. Return its
    result.
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
