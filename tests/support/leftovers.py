"""No test leaves a thread or a process running, because it would affect later tests.

Fixtures with a wider scope may keep what they start until their end, and so may the pools of
applications that tests share.
"""

import os
import re
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures.thread import _threads_queues
from contextlib import suppress
from pathlib import Path

import pytest

Running = threading.Thread | int
"""A thread, or the process id of a child."""

PATIENCE_S = 20.0

_kept: set[Running] = set()
_before: set[Running] | None = None
"""The threads and processes that ran when the last test ended."""


# Threads that libraries keep: AnyIO's pool, a connection from the shared browser to a page server,
# the log queue of a framework in the benchmarks.
KEPT_THREADS = re.compile(r"^AnyIO worker thread|\((process_request_thread|_monitor)\)$")
# Processes that multiprocessing starts on first use and keeps until this process ends.
KEPT_PROCESSES = re.compile(rb"multiprocessing.(resource_tracker|forkserver)")


def is_kept(thread: threading.Thread) -> bool:
    """Return whether the thread waits in a pool, which shared applications fill on first use."""
    return thread in _threads_queues or KEPT_THREADS.search(thread.name) is not None


def running() -> set[Running]:
    """Return every thread of this process and every child that has not ended."""
    found: set[Running] = {thread for thread in threading.enumerate() if not is_kept(thread)}
    for task in os.listdir("/proc/self/task"):  # pathlib takes five times as long
        with suppress(FileNotFoundError), open(f"/proc/self/task/{task}/children") as children:
            found.update(map(int, children.read().split()))
    return found


def is_helper(pid: int) -> bool:
    with suppress(FileNotFoundError):
        return KEPT_PROCESSES.search(Path(f"/proc/{pid}/cmdline").read_bytes()) is not None
    return False


def has_ended(pid: int) -> bool:
    """Return whether a process is gone or only a zombie. If the parent of a process was killed
    during a warm start, it is an unknown child of this process.
    """
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def is_left(one: Running) -> bool:
    return isinstance(one, threading.Thread) or not (is_helper(one) or has_ended(one))


def describe(one: Running) -> str:
    if isinstance(one, threading.Thread):
        return f"thread {one.name}"
    try:
        command = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except FileNotFoundError:
        command = "ended"
    return f"process {one}: {command}"


def keep(pid: int) -> None:
    """Exempt a process that all tests share."""
    _kept.add(pid)


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
    """Fail a test if something that it started still runs at its end."""
    global _before
    before = running() if _before is None else _before
    yield
    deadline = time.monotonic() + PATIENCE_S
    while True:
        now = running()
        left = set(filter(is_left, now - before - _kept))
        if not left:
            break
        if time.monotonic() > deadline:
            _kept.update(left)  # only one test fails for it
            pytest.fail("left behind: " + "; ".join(sorted(describe(one) for one in left)))
        time.sleep(0.01)
    _before = now
