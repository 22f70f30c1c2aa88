"""Video calls at the vendor on a user's behalf, with tokens that are refreshed when necessary."""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta

from adapters.video_vendor.vendor import TokenRejected, VendorFailed
from handlers.chat.wire.context import Context
from models.chat import calls
from models.chat.calls import (
    CallNotCreated,
    InvalidVendorToken,
    InvalidZoomToken,
    VendorNotConfigured,
    VendorTokens,
    ZoomCallNotCreated,
    ZoomNotConfigured,
)

LOOK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True)
class CallErrors:
    """The errors of one path."""

    not_configured: type[VendorNotConfigured]
    invalid_token: type[InvalidVendorToken]
    failed: type[CallNotCreated]


NEUTRAL = CallErrors(VendorNotConfigured, InvalidVendorToken, CallNotCreated)
REFERENCE = CallErrors(ZoomNotConfigured, InvalidZoomToken, ZoomCallNotCreated)


async def create_call(ctx: Context, errors: CallErrors, *, is_video_call: bool) -> str:
    """Return the address of a new call of the actor. Raise the classes of `errors`."""
    vendor = ctx.adapters.vendor
    if not vendor.is_configured:
        raise errors.not_configured()
    tokens = await _find(ctx)
    if tokens is None:
        raise errors.invalid_token()
    if not tokens.is_fresh(ctx.now):
        tokens = await _refresh(ctx, tokens, errors)
    try:
        try:
            url: str = await vendor.create_meeting(tokens.access_token, is_video_call=is_video_call)
        except TokenRejected:
            # The vendor may end a token before it expires.
            tokens = await _refresh(ctx, tokens, errors)
            url = await vendor.create_meeting(tokens.access_token, is_video_call=is_video_call)
    except TokenRejected:
        await _forget(ctx, tokens.generation)
        raise errors.invalid_token() from None
    except VendorFailed:
        raise errors.failed() from None
    return url


async def _refresh(ctx: Context, stale: VendorTokens, errors: CallErrors) -> VendorTokens:
    """Return newer tokens, fetched here or by another request that is fetching them already."""
    timeout_s = ctx.adapters.vendor.timeout_s
    # Longer than the longest wait below and the fetching after it.
    lease = timedelta(seconds=4 * timeout_s + 10)
    deadline = time.monotonic() + 2 * timeout_s
    while True:
        current = await _find(ctx)
        if current is None:
            raise errors.invalid_token()
        if current.generation != stale.generation:
            return current
        if not current.is_being_refreshed(ctx.now) and await ctx.write(
            lambda session: calls.try_claim_refresh(
                session, ctx.actor.id, stale.generation, lease=lease, now=ctx.now
            )
        ):
            # Shielded: the vendor takes a refresh token only once, so the new tokens must be
            # stored even if the client disconnects.
            return await asyncio.shield(_fetch(ctx, stale, errors))
        if time.monotonic() > deadline:
            raise errors.failed()
        await asyncio.sleep(LOOK_AGAIN_S)


async def _fetch(ctx: Context, stale: VendorTokens, errors: CallErrors) -> VendorTokens:
    user_id, generation = ctx.actor.id, stale.generation
    try:
        fresh = await ctx.adapters.vendor.refresh(stale.refresh_token)
    except TokenRejected:
        await _forget(ctx, generation)
        raise errors.invalid_token() from None
    except VendorFailed:
        await ctx.write_down(lambda session: calls.release_refresh(session, user_id, generation))
        raise errors.failed() from None
    expires_at = ctx.now + timedelta(seconds=fresh.expires_in_s)
    await ctx.write_down(
        lambda session: calls.store_refreshed_tokens(
            session,
            ctx.adapters.vault,
            user_id,
            generation,
            tokens=(fresh.access_token, fresh.refresh_token),
            expires_at=expires_at,
        )
    )
    return VendorTokens(fresh.access_token, fresh.refresh_token, generation + 1, expires_at, None)


async def _find(ctx: Context) -> VendorTokens | None:
    return await ctx.read(lambda db: calls.find_tokens(db, ctx.adapters.vault, ctx.actor.id))


async def _forget(ctx: Context, generation: int) -> None:
    """Delete tokens that the vendor rejects, unless newer ones are stored by now."""
    await ctx.write_down(
        lambda session: calls.forget_tokens(
            session, ctx.actor.realm_id, [ctx.actor.id], generation=generation, now=ctx.now
        )
    )
