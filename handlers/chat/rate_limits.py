"""Rate limits as clients of this API know them: per user, per address, and for signing in.

One count for all workers of a machine, in shared memory. Announced as X-RateLimit-Limit, -Remaining
and -Reset (Unix seconds when the whole allowance is back).
"""

from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

from models.chat.errors.settings import TooManyAttempts
from server.context import Context
from server.errors import RateLimited
from server.rate_limit import SharedTable

Headers = tuple[tuple[str, str], ...]

MINUTE, HOUR = 60.0, 3600.0
SIGN_IN_ATTEMPTS = 5
SIGN_IN_PERIOD_S = 1800.0


@dataclass(frozen=True, slots=True)
class Limit:
    """So many requests in so many seconds."""

    requests: int
    period_s: float

    def take(self, table: SharedTable, client: str, now: float) -> Headers:
        """Count one request of a client. Returns what is left; raises `RateLimited`."""
        step = self.period_s / self.requests
        arrival = table.advance(fingerprint_of(client), now, step, self.period_s)
        over = arrival - now - self.period_s
        if over > 1e-9:
            raise RateLimited(
                limit=self.requests,
                retry_after_s=max(1, ceil(over)),
                rate_headers=self._headers(0, now + self.period_s),
            )
        return self._headers(int((self.period_s - (arrival - now)) / step + 1e-9), arrival)

    def _headers(self, remaining: int, reset: float) -> Headers:
        return (
            ("X-RateLimit-Limit", str(self.requests)),
            ("X-RateLimit-Remaining", str(remaining)),
            ("X-RateLimit-Reset", str(ceil(reset))),
        )


def fingerprint_of(client: str) -> int:
    """A client's 64-bit number in the shared table; never 0."""
    return int.from_bytes(blake2b(client.encode("utf-8"), digest_size=8).digest(), "little") or 1


class RequestLimits:
    """Requests a minute: per user, and per address for requests without a user."""

    def __init__(self, table: SharedTable, *, per_user: int, per_address: int) -> None:
        self._table = table
        self._user = Limit(per_user, MINUTE)
        self._address = Limit(per_address, MINUTE)

    def take(self, ctx: Context) -> Headers:
        """Count one request. Returns the headers that say what is left; raises `RateLimited`."""
        now = ctx.now.timestamp()
        if ctx.actor is None:
            return self._address.take(self._table, f"chat address {ctx.client}", now)
        return self._user.take(self._table, f"chat user {ctx.actor.id}", now)


class SignInLimit:
    """Attempts to sign in under one name; a success clears them. Without a table: no limit."""

    def __init__(self, table: SharedTable | None = None) -> None:
        self._table = table
        self._limit = Limit(SIGN_IN_ATTEMPTS, SIGN_IN_PERIOD_S)

    def take(self, ctx: Context, realm_id: int, name: str) -> None:
        """Count one attempt; raises `RateLimited`."""
        if self._table is None:
            return
        try:
            self._limit.take(self._table, _sign_in(realm_id, name), ctx.now.timestamp())
        except RateLimited as error:
            # The request was counted by address before and announces that limit: one set of
            # headers is all a client can read.
            raise RateLimited(limit=error.limit, retry_after_s=error.retry_after_s) from None

    def take_from_within(self, ctx: Context) -> None:
        """Count one attempt of somebody who is signed in already; raises `TooManyAttempts`."""
        try:
            self.take(ctx, ctx.actor.realm_id, ctx.actor.delivery_email)
        except RateLimited as error:
            raise TooManyAttempts(seconds=error.retry_after_s) from None

    def forget(self, realm_id: int, name: str) -> None:
        if self._table is not None:
            self._table.forget(fingerprint_of(_sign_in(realm_id, name)))


def _sign_in(realm_id: int, name: str) -> str:
    return f"chat sign-in {realm_id} {name.strip().casefold()}"


class EmailChangeLimit:
    """Requests of one user to change their email. Without a table: no limit."""

    def __init__(self, table: SharedTable | None = None) -> None:
        self._table = table
        self._limits = (Limit(2, HOUR), Limit(5, 24 * HOUR))

    def take(self, ctx: Context, user_id: int) -> None:
        """Count one request; raises `RateLimited`."""
        if self._table is None:
            return
        for limit in self._limits:
            client = f"chat email change {limit.period_s:.0f} {user_id}"
            try:
                limit.take(self._table, client, ctx.now.timestamp())
            except RateLimited as error:
                raise RateLimited(limit=error.limit, retry_after_s=error.retry_after_s) from None
