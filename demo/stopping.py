"""Stops commands and child processes by signals."""

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PR_SET_PDEATHSIG = 1


def stop_with_parent() -> None:
    """Make Linux send SIGTERM to this process when its parent dies. Call it in a new child."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def stopping_on_signals() -> Iterator[threading.Event]:
    """Yield an event that is set by SIGINT, SIGTERM and SIGHUP instead of their usual effect."""
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    usual = [signal.signal(number, stop) for number in signals]
    try:
        yield stopping
    finally:
        for number, handler in zip(signals, usual, strict=True):
            signal.signal(number, handler)
