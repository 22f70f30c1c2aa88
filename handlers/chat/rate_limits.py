"""Rate limits as clients of this API know them: per user, and per address for everybody else."""

from hashlib import blake2b
from math import ceil

from server.context import Context
from server.errors import RateLimited
from server.rate_limit import SharedTable

PERIOD_S = 60.0


class Limits:
    """So many requests a minute per user, so many per address without a user.

    One count for all workers, in shared memory. Announced as X-RateLimit-Limit, -Remaining and
    -Reset (Unix seconds when the whole allowance is back).
    """

    def __init__(self, table: SharedTable, *, per_user: int, per_address: int) -> None:
        self._table = table
        self._per_user = per_user
        self._per_address = per_address

    def take(self, ctx: Context) -> tuple[tuple[str, str], ...]:
        """Count one request. Returns the headers that say what is left; raises `RateLimited`."""
        if ctx.actor is None:
            return self._take(ctx, f"chat address {ctx.client}", self._per_address)
        return self._take(ctx, f"chat user {ctx.actor.id}", self._per_user)

    def _take(self, ctx: Context, client: str, limit: int) -> tuple[tuple[str, str], ...]:
        digest = blake2b(client.encode("utf-8"), digest_size=8).digest()
        fingerprint = int.from_bytes(digest, "little") or 1
        now, step = ctx.now.timestamp(), PERIOD_S / limit
        arrival = self._table.advance(fingerprint, now, step, PERIOD_S)
        over = arrival - now - PERIOD_S
        if over > 1e-9:
            headers = _headers(limit, 0, now + PERIOD_S)
            raise RateLimited(limit=limit, retry_after_s=max(1, ceil(over)), rate_headers=headers)
        remaining = int((PERIOD_S - (arrival - now)) / step + 1e-9)
        return _headers(limit, remaining, arrival)


def _headers(limit: int, remaining: int, reset: float) -> tuple[tuple[str, str], ...]:
    return (
        ("X-RateLimit-Limit", str(limit)),
        ("X-RateLimit-Remaining", str(remaining)),
        ("X-RateLimit-Reset", str(ceil(reset))),
    )
