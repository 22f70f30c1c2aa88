"""Settings of the C library's memory allocation."""

import ctypes

_M_ARENA_MAX = -8


def use_one_arena() -> None:
    """Make all threads allocate from one heap. Call it before there is a second thread.

    By default glibc uses a heap for each thread. Each heap keeps its maximum size, so a server
    whose requests move from thread to thread grows for hours although it does not need more memory.
    Because of the interpreter's lock, threads rarely allocate simultaneously.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 1)
