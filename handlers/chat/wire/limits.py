"""The rate limits of this API: per user, per address, and for signing in.

Requests are one count for all workers of a machine, in shared memory, and for all machines where
the settings name a store; attempts and changes of email are one count for all machines, in the
database, whether or not that store is away. Requests are announced as X-RateLimit-Limit,
-Remaining and -Reset (Unix seconds when the whole allowance is back).
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from math import ceil
from typing import TypeVar

from sqlalchemy.orm import Session

from handlers.chat.wire.bearers import attempt_of, find_bearer
from handlers.chat.wire.context import Context, find_caller
from models.chat.identity import attempts
from models.chat.identity.actors import Actor
from models.chat.identity.api_keys import load_secrets
from models.chat.identity.attempts import Allowance as Attempts
from models.chat.identity.attempts import AttemptsUsedUp
from models.chat.settings.errors import TooManyAttempts
from settings import Settings
from specd import RateLimiter, network_of_client
from specd.errors import RateLimited

T = TypeVar("T")
MINUTE = 60.0
POLL = "get_events"
POLLS_PER_REQUEST = 10
"""How many times as many polls as other requests a user may make."""
BOTS_OF_ONE = 5
"""How many times the requests of one user all bots of one owner may make together."""
EMAIL_CHANGES = ((2, timedelta(hours=1)), (5, timedelta(days=1)))


def make_rate_limit(settings: Settings) -> RateLimiter | None:
    """Return the limits of requests a minute: per user, and per address for requests without one.
    None if they are off.

    Polls for events have a limit of their own, because a client polls again after every event. All
    bots of one owner have a second one together. Those who bring a token of an invitation have one
    for each invitation, those who sign in where the name's owner did before have one for each name
    and place, and the vendor of video calls has one.
    """
    per_user = settings.chat_rate_limit_per_user
    limits = {
        "user": (per_user, MINUTE),
        "polls": (POLLS_PER_REQUEST * per_user, MINUTE),
        "bots": (BOTS_OF_ONE * per_user, MINUTE),
        "polls of bots": (BOTS_OF_ONE * POLLS_PER_REQUEST * per_user, MINUTE),
        "invitation": (per_user, MINUTE),
        "known place": (per_user, MINUTE),
        "notices": (per_user, MINUTE),
        "address": (settings.chat_rate_limit_per_address, MINUTE),
    }
    return RateLimiter.for_service(
        "chat",
        settings,
        limits=limits,
        counted=_counted,
        find_secret=partial(_load_secret, settings),
        announced=_announced,
    )


def _load_secret(settings: Settings) -> bytes:
    return load_secrets(settings.data_dir, settings.chat_secret, previous="")[0]


def _counted(ctx: Context) -> list[tuple[str, object]]:
    bearer = find_caller(ctx) or find_bearer(ctx)
    if bearer is None:
        return [("address", network_of_client(ctx.client))]
    if isinstance(bearer, tuple):
        return [bearer]
    return _counted_for(bearer, is_poll=ctx.operation.operation_id == POLL)


def _counted_for(actor: Actor, *, is_poll: bool = False) -> list[tuple[str, object]]:
    counted: list[tuple[str, object]] = [("polls" if is_poll else "user", actor.id)]
    if actor.bot_owner_id is not None:
        counted.append(("polls of bots" if is_poll else "bots", actor.bot_owner_id))
    return counted


def count_messages(ctx: Context, actor: Actor, number: int) -> None:
    """Count what a request sends beyond its first message. Raise `RateLimited`."""
    for _ in range(number - 1):
        _count(ctx, _counted_for(actor))


def count_for(ctx: Context, user_id: int, bot_owner_id: int | None = None) -> None:
    """Count a request for a user whom the handler has found. Raise `RateLimited`."""
    counted: list[tuple[str, object]] = [("user", user_id)]
    if bot_owner_id is not None:
        counted.append(("bots", bot_owner_id))
    _count(ctx, counted)


def _count(ctx: Context, counted: list[tuple[str, object]]) -> None:
    limiter = ctx.adapters.limiter
    if limiter is None:
        return
    try:
        limiter.count(counted, ctx.now.timestamp())
    except RateLimited as refusal:
        # The headers announce the limit under which the request was counted before: a client can
        # read only one set of them.
        raise RateLimited(limit=refusal.limit, retry_after_s=refusal.retry_after_s) from None


def _announced(requests: int, remaining: int, resets_at: float) -> tuple[tuple[str, str], ...]:
    return (
        ("X-RateLimit-Limit", str(requests)),
        ("X-RateLimit-Remaining", str(remaining)),
        ("X-RateLimit-Reset", str(ceil(resets_at - 1e-6))),
    )


async def write_attempt(ctx: Context, work: Callable[[Session], T], *, limit: int) -> T:
    """Return the result of `work`, a write unit that counts an attempt. Raise `RateLimited` with
    `limit` where too many were made.
    """
    try:
        return await ctx.write(work)
    except AttemptsUsedUp as refusal:
        # The headers announce the limit by address, under which the request was counted before:
        # a client can read only one set of them.
        raise RateLimited(limit=limit, retry_after_s=refusal.wait_s) from None


async def count_attempt(ctx: Context, realm_id: int, name: str) -> None:
    """Count one password tried under a name. Raise `RateLimited`."""
    if ctx.settings.rate_limits:
        seal, attempt = ctx.adapters.keys.seal, attempt_of(ctx, realm_id, name)
        await write_attempt(
            ctx,
            lambda session: attempts.count_attempt(session, seal, attempt, now=ctx.now),
            limit=attempts.PER_PLACE,
        )


async def count_own_attempt(ctx: Context) -> None:
    """Count one password tried by a user who is signed in. Raise `TooManyAttempts`."""
    try:
        await count_attempt(ctx, ctx.actor.realm_id, ctx.actor.delivery_email)
    except RateLimited as error:
        raise TooManyAttempts(seconds=error.retry_after_s) from None


def clear_attempts(ctx: Context, session: Session, realm_id: int, name: str) -> None:
    """Clear the attempts of this address under a name, because its password was right."""
    if ctx.settings.rate_limits:
        attempt = attempt_of(ctx, realm_id, name)
        attempts.clear_attempts(session, ctx.adapters.keys.seal, attempt, now=ctx.now)


async def count_cookie(
    ctx: Context, realm_id: int, work: Callable[[Session], T | None]
) -> T | None:
    """Return the result of `work`, a write unit that looks for the session of a cookie. Each that
    finds none counts as an attempt of its place. Raise `RateLimited`.
    """
    if not ctx.settings.rate_limits:
        return await ctx.write(work)
    seal, place = ctx.adapters.keys.seal, network_of_client(ctx.client)
    allowance = attempts.cookie_allowance(seal, realm_id, place)

    def attempt(session: Session) -> T | None:
        found = work(session)
        if found is None:
            attempts.take(session, [allowance], now=ctx.now)
        return found

    return await write_attempt(ctx, attempt, limit=attempts.COOKIES_PER_PLACE)


async def count_email_change(ctx: Context) -> None:
    """Count one request of the actor to change their email. Raise `RateLimited`."""
    if ctx.settings.rate_limits:
        seal, user_id = ctx.adapters.keys.seal, ctx.actor.id
        allowances = [
            Attempts(seal(f"email change {period} {user_id}"), requests, period)
            for requests, period in EMAIL_CHANGES
        ]
        await write_attempt(
            ctx,
            lambda session: attempts.take(session, allowances, now=ctx.now),
            limit=min(requests for requests, _ in EMAIL_CHANGES),
        )
