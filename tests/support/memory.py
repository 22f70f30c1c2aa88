"""Keeps the processes of the suite small, and the garbage collector from reading all test items
again and again.

The C library keeps what threads and large buffers once needed.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis.internal import charmap

from cli.memory import use_one_arena

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGE = 1024 * 1024
"""Buffers of so many bytes go back to the system when they are freed."""

_GARBAGE = 20_000
"""New objects until the collector reads them."""

_module: Path | None = None


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
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Return free memory between modules."""
    global _module
    if item.path != _module:
        _module = item.path
        _c_function("malloc_trim")(0)
