"""Rate limits: one count for all workers of a machine, in shared memory, at microseconds a request.

The generic cell rate algorithm keeps one number per client, the theoretical arrival time of its
next request, in a memory-mapped table. Nothing of it need survive a reboot. Several machines count
separately: behind a load balancer the limit is per machine.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import threading
from collections.abc import Callable
from hashlib import blake2b
from math import ceil
from pathlib import Path

from server.context import Context
from server.errors import RateLimited

_SLOT = struct.Struct("<Qd")
_SLOTS = 65_536
_PROBES = 8
_SIZE = _SLOT.size * _SLOTS


class SharedTable:
    """A memory-mapped table from fingerprints to arrival times, shared by processes and threads.

    A fingerprint may stand in `_PROBES` neighbouring slots; when all are taken, the one that is
    nearest to being forgotten goes, which only ever errs in the client's favour.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._file, _SIZE)
        self._memory = mmap.mmap(self._file, _SIZE)
        self._threads = threading.Lock()

    def advance(self, fingerprint: int, now: float, step: float, horizon: float) -> float:
        """Move a client's arrival time on by `step` seconds and return it.

        When that would take it over `now + horizon`, it stays, and the time it would have become is
        returned all the same.
        """
        with self._threads:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                offset, arrival = self._find(fingerprint)
                following = max(arrival, now) + step
                if following <= now + horizon:
                    _SLOT.pack_into(self._memory, offset, fingerprint, following)
                return following
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def forget(self, fingerprint: int) -> None:
        """Let a client begin anew."""
        with self._threads:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                offset, arrival = self._find(fingerprint)
                if arrival:
                    _SLOT.pack_into(self._memory, offset, fingerprint, 0.0)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _find(self, fingerprint: int) -> tuple[int, float]:
        oldest, oldest_arrival = 0, float("inf")
        for probe in range(_PROBES):
            offset = (fingerprint + probe) % _SLOTS * _SLOT.size
            found, arrival = _SLOT.unpack_from(self._memory, offset)
            if found == fingerprint:
                return offset, arrival
            if arrival < oldest_arrival:
                oldest, oldest_arrival = offset, arrival
        return oldest, 0.0

    def close(self) -> None:
        self._memory.close()
        os.close(self._file)


class RateLimiter:
    """`limit` requests in `period_s` seconds for each client that `client(ctx)` names.

    Announced as draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy` and `RateLimit`.
    """

    def __init__(
        self,
        table: SharedTable,
        *,
        limit: int,
        client: Callable[[Context], str],
        period_s: float = 60.0,
    ) -> None:
        self._table = table
        self._limit = limit
        self._step = period_s / limit
        # Steps added up are not quite the period; without slack the last request is refused.
        self._horizon = period_s + self._step / 100
        self._client = client
        self._policy = ("RateLimit-Policy", f'"default";q={limit};w={ceil(period_s)}')

    def take(self, ctx: Context) -> tuple[tuple[str, str], ...]:
        """Count one request. Returns the headers that say what is left; raises `RateLimited`."""
        digest = blake2b(self._client(ctx).encode("utf-8"), digest_size=8).digest()
        fingerprint = int.from_bytes(digest, "little") or 1
        now = ctx.now.timestamp()
        arrival = self._table.advance(fingerprint, now, self._step, self._horizon)
        if arrival > now + self._horizon:
            wait = max(1, ceil(arrival - now - self._horizon))
            left = ("RateLimit", f'"default";r=0;t={wait}')
            raise RateLimited(
                limit=self._limit, retry_after_s=wait, rate_headers=(self._policy, left)
            )
        remaining = int((self._horizon - (arrival - now)) / self._step)
        reset = ceil(arrival - now)
        return (self._policy, ("RateLimit", f'"default";r={remaining};t={reset}'))
