"""No test leaves a thread or a process behind: what goes on running spoils the tests after it.

What a fixture of a wider scope starts may stay as long as the fixture, and so may the pools of
applications that tests share.
"""

import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures.thread import _threads_queues  # type: ignore[attr-defined]
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

Running = threading.Thread | int
"""A thread, or the process id of a child."""

PATIENCE_S = 20.0

_kept: set[Running] = set()


def is_pooled(thread: threading.Thread) -> bool:
    """Whether the thread waits in a pool, which applications that tests share fill on first use."""
    return thread in _threads_queues or thread.name.startswith("AnyIO worker thread")


def running() -> set[Running]:
    """Every thread of this process and every child that has not ended."""
    found: set[Running] = {thread for thread in threading.enumerate() if not is_pooled(thread)}
    for children in Path("/proc/self/task").glob("*/children"):
        try:
            found.update(int(pid) for pid in children.read_text().split())
        except FileNotFoundError:  # the thread ended meanwhile
            continue
    return found - {
        resource_tracker._resource_tracker._pid
    }  # multiprocessing's own, kept to the end


def told(one: Running) -> str:
    if isinstance(one, threading.Thread):
        return f"thread {one.name}"
    try:
        command = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except FileNotFoundError:
        command = "ended"
    return f"process {one}: {command}"


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    if fixturedef.scope == "function":
        return (yield)
    before = running()
    try:
        return (yield)
    finally:
        _kept.update(running() - before)


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    """Fails a test that ends before all it started has ended."""
    before = running()
    yield
    deadline = time.monotonic() + PATIENCE_S
    while left := running() - before - _kept:
        if time.monotonic() > deadline:
            _kept.update(left)  # one test fails for it, not all that follow
            pytest.fail("left behind: " + "; ".join(sorted(told(one) for one in left)))
        time.sleep(0.01)
