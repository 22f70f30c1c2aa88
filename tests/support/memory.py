"""Keeps the processes of the suite small, and the garbage collector from reading all test items
again and again.

The C library keeps what threads and large buffers once needed.
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
"""Buffers of so many bytes go back to the system when they are freed."""

_GARBAGE = 20_000
"""New objects until the collector reads them."""

_GROWTH = 32 * 1024 * 1024
"""Bytes that the process may grow by until garbage is looked for. An application that no test needs
any more is 40 MB in cycles, and the collector by itself lets several of them lie.
"""

_module: Path | None = None
_least = 0
"""Bytes of the process when garbage was looked for."""


def _c_function(name: str) -> Callable[..., object]:
    """Return a function of the C library, or one that does nothing where it has none."""
    return getattr(ctypes.CDLL(None), name, lambda *_: None)


def pytest_configure() -> None:
    gc.disable()  # until all tests are collected: nothing is garbage before
    use_one_arena()
    mallopt = _c_function("mallopt")
    mallopt(_M_MMAP_THRESHOLD, _LARGE)
    mallopt(_M_TRIM_THRESHOLD, _LARGE)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Write a file of Hypothesis, if it is not there. That takes a second and 200 MB, which the
    processes that run tests should not need.
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
    """Return free memory between modules, and garbage when there is much of it."""
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
    """Return the bytes of memory that this process has, or 0 where nobody tells."""
    try:
        with open("/proc/self/statm") as facts:  # pathlib takes five times as long
            return int(facts.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return 0
