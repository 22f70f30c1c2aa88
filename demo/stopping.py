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
    """Run in a new child: have Linux send it SIGTERM when its parent dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def stopping_on_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGINT, SIGTERM and SIGHUP set, instead of their usual effect."""
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
