"""A clock that all processes of a machine share, because sender and receiver are two processes."""

import time


def now() -> float:
    """Return the seconds on CLOCK_MONOTONIC, which counts from the start of the machine."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)
