"""Rate limits as clients of this API know them: per user, per address, and for signing in.

Requests are one count for all workers of a machine, in shared memory; attempts and changes of email
are one count for all machines, in the database. Requests are announced as X-RateLimit-Limit,
-Remaining and -Reset (Unix seconds when the whole allowance is back).
"""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from sqlalchemy.orm import Session

from models.chat.identity import attempts
from models.chat.identity.attempts import Allowance as Attempts
from models.chat.identity.attempts import AttemptsUsedUp, SignInAttempt
from models.chat.settings.errors import TooManyAttempts
from server.context import Context
from server.errors import RateLimited
from server.rate_limit import Allowance, Headers, Limit, RateLimiter, SharedTable
from server.wire.proxies import network_of, place_of

MINUTE = 60.0
POLL = "get_events"
POLLS_PER_REQUEST = 10
"""How many more polls than other requests a user may make."""
BOTS_OF_ONE = 5
"""How many times the requests of one user all bots of one owner may make together."""
EMAIL_CHANGES = ((2, timedelta(hours=1)), (5, timedelta(days=1)))


def request_limits(table: SharedTable, *, per_user: int, per_address: int) -> RateLimiter:
    """Requests a minute: per user, and per address for requests without a user.

    Polls for events have a limit of their own, because a client polls again after every event. All
    bots of one owner have a second one together.
    """
    limits = {
        "user": Limit(per_user, MINUTE),
        "polls": Limit(POLLS_PER_REQUEST * per_user, MINUTE),
        "bots": Limit(BOTS_OF_ONE * per_user, MINUTE),
        "polls of bots": Limit(BOTS_OF_ONE * POLLS_PER_REQUEST * per_user, MINUTE),
        "address": Limit(per_address, MINUTE),
    }
    return RateLimiter(table, limits=limits, counted=_counted, announced=_announced)


def _counted(ctx: Context) -> list[tuple[str, object]]:
    if not ctx.actor:
        return [("address", place_of(ctx.client))]
    polls = ctx.operation.operation_id == POLL
    counted: list[tuple[str, object]] = [("polls" if polls else "user", ctx.actor.id)]
    if ctx.actor.bot_owner_id is not None:
        counted.append(("polls of bots" if polls else "bots", ctx.actor.bot_owner_id))
    return counted


def _announced(allowance: Allowance, now: float) -> Headers:
    return (
        ("X-RateLimit-Limit", str(allowance.limit.requests)),
        ("X-RateLimit-Remaining", str(allowance.remaining)),
        ("X-RateLimit-Reset", str(ceil(now + allowance.reset_s - 1e-6))),
    )


@dataclass(frozen=True, slots=True)
class SignInLimit:
    """Passwords tried under one name (`models.chat.identity.attempts`); a success clears those of
    its place. Not `on`: no limit.
    """

    on: bool = False

    async def take(self, ctx: Context, realm_id: int, name: str) -> None:
        """Count one attempt; raises `RateLimited`."""
        if not self.on:
            return
        seal, attempt = ctx.adapters.keys.seal, _attempt(ctx, realm_id, name)
        try:
            await ctx.write(lambda s: attempts.count_attempt(s, seal, attempt, now=ctx.now))
        except AttemptsUsedUp as refusal:
            # The request was counted by address before and announces that limit: one set of
            # headers is all a client can read.
            raise RateLimited(limit=attempts.PER_PLACE, retry_after_s=refusal.wait_s) from None

    async def take_from_within(self, ctx: Context) -> None:
        """Count one attempt of somebody who is signed in already; raises `TooManyAttempts`."""
        try:
            await self.take(ctx, ctx.actor.realm_id, ctx.actor.delivery_email)
        except RateLimited as error:
            raise TooManyAttempts(seconds=error.retry_after_s) from None

    def clear_attempts(self, ctx: Context, session: Session, realm_id: int, name: str) -> None:
        """The password was right."""
        if self.on:
            attempt = _attempt(ctx, realm_id, name)
            attempts.clear_attempts(session, ctx.adapters.keys.seal, attempt, now=ctx.now)


def _attempt(ctx: Context, realm_id: int, name: str) -> SignInAttempt:
    return SignInAttempt(realm_id, name, place_of(ctx.client), network_of(ctx.client))


@dataclass(frozen=True, slots=True)
class EmailChangeLimit:
    """Requests of one user to change their email. Not `on`: no limit."""

    on: bool = False

    async def take(self, ctx: Context, user_id: int) -> None:
        """Count one request; raises `RateLimited`."""
        if not self.on:
            return
        allowances = [
            Attempts(ctx.adapters.keys.seal(f"email change {period} {user_id}"), requests, period)
            for requests, period in EMAIL_CHANGES
        ]
        try:
            await ctx.write(lambda s: attempts.take(s, allowances, now=ctx.now))
        except AttemptsUsedUp as refusal:
            requests = min(allowance.attempts for allowance in allowances)
            raise RateLimited(limit=requests, retry_after_s=refusal.wait_s) from None


def refused_attempt(refusal: AttemptsUsedUp, *, attempts: int) -> RateLimited:
    """What to raise where an allowance of so many attempts is used up."""
    return RateLimited(limit=attempts, retry_after_s=refusal.wait_s)
