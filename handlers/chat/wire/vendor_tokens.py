"""Access to the video-call vendor on a user's behalf: tokens that work, refreshed when need be."""

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
    KnownTokens,
    VendorNotConfigured,
    ZoomCallNotCreated,
    ZoomNotConfigured,
)

LOOK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True)
class Wording:
    """How the refusals of a path read."""

    not_configured: type[VendorNotConfigured]
    invalid_token: type[InvalidVendorToken]
    failed: type[CallNotCreated]


NEUTRAL = Wording(VendorNotConfigured, InvalidVendorToken, CallNotCreated)
REFERENCE = Wording(ZoomNotConfigured, InvalidZoomToken, ZoomCallNotCreated)


async def create_call(ctx: Context, wording: Wording, *, is_video_call: bool) -> str:
    """The address of a new call of the actor's. Raises the classes of `wording`."""
    vendor = ctx.adapters.vendor
    if not vendor.is_configured:
        raise wording.not_configured()
    tokens = await _find(ctx)
    if tokens is None:
        raise wording.invalid_token()
    if not tokens.is_fresh(ctx.now):
        tokens = await _refresh(ctx, tokens, wording)
    try:
        try:
            url: str = await vendor.create_meeting(tokens.access_token, is_video_call=is_video_call)
        except TokenRejected:
            # Ended before its time: the vendor may do that whenever it likes.
            tokens = await _refresh(ctx, tokens, wording)
            url = await vendor.create_meeting(tokens.access_token, is_video_call=is_video_call)
    except TokenRejected:
        await _forget(ctx, tokens.generation)
        raise wording.invalid_token() from None
    except VendorFailed:
        raise wording.failed() from None
    return url


async def _refresh(ctx: Context, stale: KnownTokens, wording: Wording) -> KnownTokens:
    """Newer tokens than these: fetched by us, or by whoever is fetching them already."""
    timeout_s = ctx.adapters.vendor.timeout_s
    # Longer than the longest wait below and the fetching after it.
    lease = timedelta(seconds=4 * timeout_s + 10)
    deadline = time.monotonic() + 2 * timeout_s
    while True:
        current = await _find(ctx)
        if current is None:
            raise wording.invalid_token()
        if current.generation != stale.generation:
            return current
        if not current.is_being_refreshed(ctx.now) and await ctx.write(
            lambda session: calls.try_claim_refresh(
                session, ctx.actor.id, stale.generation, lease=lease, now=ctx.now
            )
        ):
            # Shielded: a refresh token is used up the moment the vendor sees it. What it gives
            # for it must be kept even if nobody waits for the call any more.
            return await asyncio.shield(_fetch(ctx, stale, wording))
        if time.monotonic() > deadline:
            raise wording.failed()
        await asyncio.sleep(LOOK_AGAIN_S)


async def _fetch(ctx: Context, stale: KnownTokens, wording: Wording) -> KnownTokens:
    user_id, generation = ctx.actor.id, stale.generation
    try:
        fresh = await ctx.adapters.vendor.refresh(stale.refresh_token)
    except TokenRejected:
        await _forget(ctx, generation)
        raise wording.invalid_token() from None
    except VendorFailed:
        await ctx.write_down(lambda session: calls.release_refresh(session, user_id, generation))
        raise wording.failed() from None
    expires_at = ctx.now + timedelta(seconds=fresh.expires_in_s)
    await ctx.write_down(
        lambda session: calls.keep_refreshed(
            session,
            ctx.adapters.vault,
            user_id,
            generation,
            tokens=(fresh.access_token, fresh.refresh_token),
            expires_at=expires_at,
        )
    )
    return KnownTokens(fresh.access_token, fresh.refresh_token, generation + 1, expires_at, None)


async def _find(ctx: Context) -> KnownTokens | None:
    return await ctx.read(lambda db: calls.find_tokens(db, ctx.adapters.vault, ctx.actor.id))


async def _forget(ctx: Context, generation: int) -> None:
    """Forget tokens that the vendor does not take, unless newer ones have come meanwhile."""
    await ctx.write_down(
        lambda session: calls.forget_tokens(
            session, ctx.actor.realm_id, [ctx.actor.id], generation=generation, now=ctx.now
        )
    )
