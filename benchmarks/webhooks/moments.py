"""The clock that all processes of a machine share: what one sends arrives in another."""

import time


def now() -> float:
    """Seconds on CLOCK_MONOTONIC, which counts from the start of the machine."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)
