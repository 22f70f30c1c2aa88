"""How a process asks the C library for memory."""

import ctypes

_M_ARENA_MAX = -8


def use_one_arena() -> None:
    """Let all threads allocate from one heap, before there is a second thread.

    By default glibc gives threads heaps of their own. Each of them keeps what it was once needed
    for, so a server whose requests move from thread to thread grows for hours although it holds no
    more. The interpreter's lock leaves threads little to do at once that allocates.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 1)
