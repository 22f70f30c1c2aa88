"""Rate limits: one count for all workers of a machine, in shared memory, at microseconds a request.

The generic cell rate algorithm keeps one number per client, the theoretical arrival time of its
next request, in a memory-mapped table. Nothing of it need survive a reboot. Several machines count
separately: behind a load balancer the rate of requests is limited per machine.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from pathlib import Path

from server.context import Context
from server.errors import RateLimited

Headers = tuple[tuple[str, str], ...]

_KEY_BYTES = 32
_HEAD = 64
_SLOT = struct.Struct("<Qd")
_BUCKETS = 8_192
_PLACES = 8
_BUCKET = _SLOT.size * (_PLACES + 1)
_SIZE = _HEAD + _BUCKET * _BUCKETS


@dataclass(frozen=True, slots=True)
class Limit:
    """So many requests in so many seconds."""

    requests: int
    period_s: float

    @property
    def step_s(self) -> float:
        """Seconds after which one request no longer counts."""
        return self.period_s / self.requests

    @property
    def horizon_s(self) -> float:
        """How far ahead of now the arrival time may be. Steps added up are not quite the period:
        without slack the last request would be refused.
        """
        return self.period_s + self.step_s / 100


@dataclass(frozen=True, slots=True)
class Allowance:
    """The state of a client after a request: `remaining` requests, `reset_s` seconds until all of
    them are back, and `wait_s` seconds to the next one if this one was refused (0: it was not).
    """

    limit: Limit
    remaining: int
    reset_s: float
    wait_s: float = 0.0


class SharedTable:
    """A memory-mapped table from clients to arrival times, shared by processes and threads.

    Clients are known by a hash under a key that is made with the file and never leaves it, so
    nobody can choose names that meet in one bucket. A bucket has `_PLACES` clients. One is let go
    when its arrival time has passed, so when forgetting it changes nothing; where all places are in
    use, those who come next share one more place, and one allowance.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._threads = threading.Lock()
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            os.fchmod(self._file, 0o600)
            if os.fstat(self._file).st_size != _SIZE:  # new, or another release's
                os.ftruncate(self._file, 0)
                os.ftruncate(self._file, _SIZE)
                os.pwrite(self._file, os.urandom(_KEY_BYTES), 0)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        self._memory = mmap.mmap(self._file, _SIZE)
        self._key = self._memory[:_KEY_BYTES]

    def take(self, client: str, limit: Limit, now: float) -> Allowance:
        """Count one request of a client at `now` (Unix seconds). A refused one costs nothing."""
        digest = blake2b(client.encode("utf-8"), digest_size=8, key=self._key).digest()
        fingerprint = int.from_bytes(digest, "little")
        latest = now + limit.horizon_s
        with self._threads:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                offset, arrival = self._find(fingerprint, now, 2 * latest - now)
                following = max(arrival, now) + limit.step_s
                if following <= latest:
                    _SLOT.pack_into(self._memory, offset, fingerprint, following)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)
        if following > latest:
            return Allowance(limit, 0, following - limit.step_s - now, following - latest)
        return Allowance(limit, int((latest - following) / limit.step_s), following - now)

    def _find(self, fingerprint: int, now: float, absurd: float) -> tuple[int, float]:
        """Return the offset of the client's slot, or of a free one, and its arrival time.

        A time later than `absurd` was written before the clock was set back, and is ignored.
        """
        common = _HEAD + fingerprint % _BUCKETS * _BUCKET + _PLACES * _SLOT.size
        free = None
        for offset in range(common - _PLACES * _SLOT.size, common, _SLOT.size):
            found, arrival = _SLOT.unpack_from(self._memory, offset)
            is_used = now < arrival <= absurd
            if found == fingerprint and is_used:
                return offset, arrival
            if free is None and not is_used:
                free = offset
        # A client that moves out of a shared slot keeps its time, so that moving gains nothing.
        _, arrival = _SLOT.unpack_from(self._memory, common)
        return common if free is None else free, arrival if arrival <= absurd else 0.0

    def close(self) -> None:
        self._memory.close()
        os.close(self._file)


class RateLimiter:
    """Counts each request under the pairs of limit and client that `counted(ctx)` returns. The
    headers that `announced(allowance, now)` makes announce the first limit; those of a refusal the
    one that is used up.
    """

    def __init__(
        self,
        table: SharedTable,
        *,
        limits: Mapping[str, Limit],
        counted: Callable[[Context], Sequence[tuple[str, object]]],
        announced: Callable[[Allowance, float], Headers],
    ) -> None:
        self._table = table
        self.limits = limits
        self._counted = counted
        self._announced = announced

    def take(self, ctx: Context) -> Headers:
        """Count one request. Return the headers with what is left. Raise `RateLimited`."""
        now = ctx.now.timestamp()
        announced: Headers = ()
        for name, client in self._counted(ctx):
            limit = self.limits[name]
            allowance = self._table.take(f"{name} {client}", limit, now)
            headers = self._announced(allowance, now)
            if allowance.wait_s:
                raise RateLimited(
                    limit=limit.requests,
                    retry_after_s=max(1, ceil(allowance.wait_s)),
                    rate_headers=headers,
                )
            announced = announced or headers
        return announced


def policy_headers(allowance: Allowance, now: float) -> Headers:
    """Return `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers."""
    limit = allowance.limit
    reset = ceil(allowance.wait_s or allowance.reset_s)
    return (
        ("RateLimit-Policy", f'"default";q={limit.requests};w={ceil(limit.period_s)}'),
        ("RateLimit", f'"default";r={allowance.remaining};t={reset}'),
    )
