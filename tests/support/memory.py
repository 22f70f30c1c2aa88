"""Keeps the processes of the suite small, and prevents repeated garbage collection of test items.

The C library keeps memory that threads and large buffers have used.
"""

from __future__ import annotations

import ctypes
import gc
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis.internal import charmap

from specd._cli.memory import use_one_arena

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGE = 1024 * 1024
"""Buffers of at least this size are returned to the system when they are freed."""

_GARBAGE = 20_000
"""The number of new objects before a garbage collection."""

_GROWTH = 32 * 1024 * 1024
"""Bytes by which the process may grow before a garbage collection. An unused application is 40 MB
in reference cycles, and the collector by default leaves several of them.
"""

_module: Path | None = None
_least = 0
"""Bytes of the process at the last garbage collection."""


def _c_function(name: str) -> Callable[..., object]:
    """Return a function of the C library, or a no-op if it does not exist."""
    return getattr(ctypes.CDLL(None), name, lambda *_: None)


def pytest_configure() -> None:
    gc.disable()  # until all tests are collected: there is no garbage before
    use_one_arena()
    mallopt = _c_function("mallopt")
    mallopt(_M_MMAP_THRESHOLD, _LARGE)
    mallopt(_M_TRIM_THRESHOLD, _LARGE)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Write a cache file of Hypothesis if it does not exist. That takes a second and 200 MB, which
    test processes should not spend.
    """
    if not hasattr(session.config, "workerinput"):
        charmap.intervals_from_codec("utf-8")


def pytest_collection_finish() -> None:
    """Exempt the test items from garbage collection, and make collections rare."""
    global _least
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    gc.enable()
    _least = resident()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Return free memory between modules, and collect garbage if the process has grown."""
    global _module, _least
    has_grown = resident() > _least + _GROWTH
    if has_grown:
        gc.collect()
    if has_grown or item.path != _module:
        _module = item.path
        _c_function("malloc_trim")(0)
    if has_grown:
        _least = resident()


def resident() -> int:
    """Return the resident bytes of this process, or 0 if they are unknown."""
    try:
        with open("/proc/self/statm") as facts:  # pathlib takes five times as long
            return int(facts.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return 0
