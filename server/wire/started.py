"""Coroutines that are started by hand, because most end without having waited for anything."""

from __future__ import annotations

import types
from collections.abc import Generator
from typing import Any


@types.coroutine
def go_on(started: Any, pending: Any) -> Generator[Any, Any, Any]:
    """Awaits what was started by hand; `pending` is what it waits for. The result is its result."""
    while True:
        try:
            value = yield pending
        except BaseException as error:
            step, told = started.throw, error
        else:
            step, told = started.send, value
        try:
            pending = step(told)
        except StopIteration as end:
            return end.value
