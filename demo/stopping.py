"""How a command that runs on learns that it should end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def told_to_stop() -> Iterator[threading.Event]:
    """An event that SIGINT, SIGTERM and SIGHUP set, instead of their usual effect."""
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
