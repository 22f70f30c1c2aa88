"""A limit on the CPU time of what a test does."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cpu_at_most(seconds: float) -> Iterator[None]:
    """Fail where the block takes more CPU time.

    The collector of garbage rests meanwhile, because a pass over the objects of all tests so far
    takes half a second.
    """
    gc.disable()
    started = time.process_time()
    try:
        yield
        used = time.process_time() - started
    finally:
        gc.enable()
    assert used < seconds, f"{used:.3f} s of CPU"
