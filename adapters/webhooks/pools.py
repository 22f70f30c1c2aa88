"""One connection pool for each webhook receiver.

A common pool would be slow, because httpcore's time per request grows quadratically with the number
of idle connections in the pool.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpcore

Origin = tuple[str, str, int]
"""Scheme, host and port."""
KEPT_FOR_S = 20.0
"""How long an idle connection is kept."""
MAX_KEPT = 200
"""The maximum number of receivers whose idle connections are kept."""


@dataclass(slots=True)
class _Kept:
    pool: httpcore.AsyncConnectionPool
    used_at: float
    users: int = 0


class Pools:
    """The pools of one event loop. `make(scheme)` creates a pool."""

    def __init__(self, make: Callable[[str], httpcore.AsyncConnectionPool]) -> None:
        self._make = make
        self._kept: dict[Origin, _Kept] = {}
        """In order of last use, oldest first."""

    @asynccontextmanager
    async def use(self, origin: Origin) -> AsyncIterator[httpcore.AsyncConnectionPool]:
        """Yield the receiver's pool for one request and its response."""
        await self._forget()
        kept = self._kept.pop(origin, None) or _Kept(self._make(origin[0]), time.monotonic())
        self._kept[origin] = kept
        kept.users += 1
        try:
            yield kept.pool
        finally:
            kept.users -= 1
            kept.used_at = time.monotonic()

    async def close(self) -> None:
        """Close all connections."""
        kept, self._kept = self._kept, {}
        for each in kept.values():
            await each.pool.aclose()

    async def _forget(self) -> None:
        """Close pools that were idle for a while, and the oldest ones if there are too many."""
        late = time.monotonic() - KEPT_FOR_S
        while self._kept:
            origin, oldest = next(iter(self._kept.items()))
            is_late = oldest.used_at < late or len(self._kept) > MAX_KEPT
            if oldest.users or not is_late:
                return
            del self._kept[origin]
            await oldest.pool.aclose()
