"""Rate limits: one count for all workers of a machine, in shared memory, in microseconds per
request.

The generic cell rate algorithm keeps one number per client, the theoretical arrival time of its
next request, in a memory-mapped table. The table may be lost at a reboot.

Several machines count together through a store. A machine takes a batch of requests of a client
from the store, and its workers use up the batch in the table. If the store is unavailable, or there
is none, each machine counts by itself.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import threading
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from pathlib import Path
from typing import NamedTuple, Protocol

from specd._engine.response import Headers

_KEY_BYTES = 32
_HEAD = 64
_SLOT = struct.Struct("<QdQd")
"""The fingerprint of the client, its arrival time, the remaining requests of its batch, and the
time at which the batch expires.
"""
_BUCKETS = 8_192
_PLACES = 8
_BUCKET = _SLOT.size * (_PLACES + 1)
_SIZE = _HEAD + _BUCKET * _BUCKETS
_LOCKS = 64
_SHORTEST_WAIT_S = 0.001
BATCHES = 30
"""A batch is this fraction of a limit. It is the most by which one machine can be wrong."""


class Limit(NamedTuple):
    """A number of requests in a number of seconds."""

    requests: int
    period_s: float

    @property
    def step_s(self) -> float:
        """The seconds after which one request no longer counts."""
        return self.period_s / self.requests

    @property
    def horizon_s(self) -> float:
        """How far in the future the arrival time may be. The sum of the steps is not exactly the
        period, so without tolerance the last request would be refused.
        """
        return self.period_s + self.step_s / 100

    @property
    def batch(self) -> int:
        """The number of requests that a machine takes from the store each time."""
        return max(1, self.requests // BATCHES)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The state of a client after a request: `remaining` requests, and `reset_s` seconds until all
    requests are allowed again. If the request was refused, `wait_s` is the number of seconds until
    the next one is allowed, otherwise 0.
    """

    limit: Limit
    remaining: int
    reset_s: float
    wait_s: float = 0.0


class LimitStore(Protocol):
    """The shared counts of several machines."""

    def take(
        self, client: str, *, step_s: float, horizon_s: float, most: int
    ) -> tuple[int, float] | None:
        """Take a batch of at most `most` requests of a client. Return their number, which is 0 if
        the limit is used up, and the seconds that the arrival time is ahead of the store's clock.
        Return None if the store is unavailable.
        """


class Slot(NamedTuple):
    """The state of a client in the table: its arrival time, the remaining requests of its batch,
    and the time at which the batch expires.
    """

    arrival: float = 0.0
    left: int = 0
    until: float = 0.0


class SharedTable:
    """A memory-mapped table from clients to arrival times, shared by processes and threads.

    Clients are identified by a hash under a key that is created with the file and stays in it, so
    clients cannot choose names that collide in one bucket. A bucket has places for `_PLACES`
    clients. A client can be removed after its arrival time, when it loses nothing except the rest
    of a batch. If all places are in use, further clients share one more place and one allowance.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._threads = [threading.Lock() for _ in range(_LOCKS)]
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

    def take(
        self, client: str, limit: Limit, now: float, store: LimitStore | None = None
    ) -> Allowance:
        """Count one request of a client at `now` (Unix seconds). Refused requests do not count."""
        digest = blake2b(client.encode("utf-8"), digest_size=8, key=self._key).digest()
        fingerprint = int.from_bytes(digest, "little")
        # Clients with other locks do not wait while the store is queried.
        lock = fingerprint % _BUCKETS % _LOCKS
        with self._threads[lock]:
            fcntl.lockf(self._file, fcntl.LOCK_EX, 1, lock)
            try:
                return self._take(client, fingerprint, limit, now, store)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, lock)

    def _take(
        self, client: str, fingerprint: int, limit: Limit, now: float, store: LimitStore | None
    ) -> Allowance:
        latest = now + limit.horizon_s
        offset, slot = self._find(fingerprint, now, 2 * latest - now)
        following = max(slot.arrival, now) + limit.step_s
        if following > latest:
            return _refused(limit, following, now)
        left, until = slot.left, slot.until
        if store is not None and not left:
            # Clients that share a place are one client of the store, so that the store needs no
            # more entries than the table.
            common = self._common(fingerprint)
            name = f"{self._key.hex()} {common}" if offset == common else client
            batch = store.take(
                name, step_s=limit.step_s, horizon_s=limit.horizon_s, most=limit.batch
            )
            if batch is not None:
                left, ahead_s = batch
                until = now + limit.period_s
                following = now + ahead_s - (left - 1) * limit.step_s
                if not left:
                    arrival = following - limit.step_s
                    _SLOT.pack_into(self._memory, offset, fingerprint, arrival, 0, 0.0)
                    return _refused(limit, following, now)
        _SLOT.pack_into(self._memory, offset, fingerprint, following, max(0, left - 1), until)
        remaining = max(0, int((latest - following) / limit.step_s))
        return Allowance(limit, remaining, following - now)

    def _find(self, fingerprint: int, now: float, absurd: float) -> tuple[int, Slot]:
        """Return the offset of the client's slot, or of a free slot, and its content.

        A time later than `absurd` was written before the clock was set back, and is ignored.
        """
        common = self._common(fingerprint)
        free = spare = None
        for offset in range(common - _PLACES * _SLOT.size, common, _SLOT.size):
            found, arrival, left, until = _SLOT.unpack_from(self._memory, offset)
            is_used = now < arrival <= absurd
            has_rest = left > 0 and now < until <= absurd
            if found == fingerprint and (is_used or has_rest):
                return offset, Slot(arrival if is_used else 0.0, left if has_rest else 0, until)
            if free is None and not is_used and not has_rest:
                free = offset
            if spare is None and not is_used:
                spare = offset
        # A slot with only the rest of a batch is given to others.
        free = spare if free is None else free
        _, arrival, left, until = _SLOT.unpack_from(self._memory, common)
        arrival = arrival if arrival <= absurd else 0.0
        if free is None:
            return common, Slot(arrival, left if now < until <= absurd else 0, until)
        # A client that moves out of a shared slot keeps its arrival time, so it gains nothing by
        # moving.
        return free, Slot(arrival)

    @staticmethod
    def _common(fingerprint: int) -> int:
        """Return the offset of the place that further clients of a full bucket share."""
        return _HEAD + fingerprint % _BUCKETS * _BUCKET + _PLACES * _SLOT.size

    def close(self) -> None:
        """Close the file and its memory."""
        self._memory.close()
        os.close(self._file)


def _refused(limit: Limit, following: float, now: float) -> Allowance:
    """Return the state of a client whose refused request would set the arrival time to
    `following`.
    """
    wait_s = max(_SHORTEST_WAIT_S, following - now - limit.horizon_s)
    return Allowance(limit, 0, following - limit.step_s - now, wait_s)


def policy_headers(allowance: Allowance) -> Headers:
    """Return `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers."""
    limit = allowance.limit
    reset = ceil(allowance.wait_s or allowance.reset_s)
    return (
        ("RateLimit-Policy", f'"default";q={limit.requests};w={ceil(limit.period_s)}'),
        ("RateLimit", f'"default";r={allowance.remaining};t={reset}'),
    )
