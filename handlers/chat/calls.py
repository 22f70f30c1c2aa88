"""Operations of the tag calls."""

from __future__ import annotations

import hmac
from contextlib import suppress
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from adapters.video_vendor.vendor import TokenRejected, VendorFailed
from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import realm_url
from handlers.chat.wire.auth import host_of
from handlers.chat.wire.context import Context, find_caller
from handlers.chat.wire.cookies import find_cookie
from handlers.chat.wire.vendor_tokens import NEUTRAL, REFERENCE, create_call
from models.chat import calls
from models.chat.access.membership import require_role
from models.chat.calls import (
    InvalidVendorCredentials,
    InvalidVendorSession,
    NotFromVendor,
    VendorNotConfigured,
    VendorSession,
)
from models.chat.identity.actors import Actor, access_realm
from models.chat.identity.errors import NotLoggedIn
from models.chat.identity.links import find_link, make_link, try_spend
from specd import Response
from specd.db import Db

if TYPE_CHECKING:
    from handlers.chat import types

PATH = "/api/v1/calls/vendor"
COOKIE = "specd_vendor_session"
WITHDRAWN = "app_deauthorized"
CLOSE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Authorized</title>'
    "<p>Video calls are set up. You can close this window.</p></html>\n"
)
CONTINUE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Video calls</title>'
    "<p>Video calls will be made in the name of <b>{name}</b> at <b>{host}</b>, with your account"
    " at the vendor.</p><p>Go on only if that is you and you have asked for it:"
    ' <a href="{url}">continue to the vendor</a>.</p></html>\n'
)
"""A person has to see whose account it is: anybody can send them a link."""


async def create_video_call(ctx: Context, *, is_video_call: bool) -> envelope.Answer[types.Call]:
    """Create a video call."""
    return envelope.success(
        ctx, {**envelope.OK, "url": await create_call(ctx, NEUTRAL, is_video_call=is_video_call)}
    )


async def create_zoom_call(ctx: Context, *, is_video_call: bool) -> envelope.Answer[types.Call]:
    """Create a video call, by Zulip's path."""
    return envelope.success(
        ctx, {**envelope.OK, "url": await create_call(ctx, REFERENCE, is_video_call=is_video_call)}
    )


def begin_vendor_authorization(
    ctx: Context, *, link: str | None = None
) -> envelope.Answer[types.Call] | Response:
    """Authorize this server with the video-call vendor."""
    if link is not None:
        return _send_to_vendor(ctx, link)
    caller = find_caller(ctx)
    if caller is None:
        raise NotLoggedIn()
    require_role(caller, "human")
    if not ctx.adapters.vendor.is_configured:
        raise VendorNotConfigured()
    link = make_link(ctx.adapters.vault, caller, purpose=calls.LINK, now=ctx.now)
    url = f"{_address(ctx)}/register?link={link}"
    answer: types.Call = {**envelope.OK, "url": url}
    return envelope.success(ctx, answer)


def _send_to_vendor(ctx: Context, text: str) -> envelope.Answer[types.Call] | Response:
    """Return the vendor's address for the user of a link, with the cookie of the browser."""
    vendor, vault = ctx.adapters.vendor, ctx.adapters.vault
    realm = access_realm(ctx.connection, host_of(ctx))
    if not vendor.is_configured:
        raise VendorNotConfigured()
    found = find_link(
        ctx.connection, vault, text, purpose=calls.LINK, realm_id=realm.id, now=ctx.now
    )
    if found is None:
        raise InvalidVendorSession()
    link, actor = found
    begun = calls.begin_session(actor, link, f"{_address(ctx)}/complete")
    url = vendor.authorization_url(
        redirect_uri=begun.redirect_uri,
        state=begun.state(vault, now=ctx.now),
        challenge=begun.challenge,
    )
    cookie = ("Set-Cookie", _cookie(ctx, begun.browser))
    if envelope.wants_page(ctx):
        whose = {"name": escape(actor.full_name), "host": escape(host_of(ctx))}
        return envelope.page(CONTINUE.format(**whose, url=escape(url)), headers=(cookie,))
    answer: types.Call = {**envelope.OK, "url": url}
    return envelope.success(ctx, answer, headers=(cookie,))


async def complete_vendor_authorization(
    ctx: Context, *, code: str | None = None, error: str | None = None, state: str | None = None
) -> envelope.Answer[types.Success] | Response:
    """Complete the authorization after the vendor's consent page."""
    vendor, vault = ctx.adapters.vendor, ctx.adapters.vault
    if not vendor.is_configured:
        raise VendorNotConfigured()
    host, browser = host_of(ctx), find_cookie(ctx, _cookie_name(ctx))

    def find(db: Db) -> tuple[VendorSession, Actor]:
        realm = access_realm(db, host)
        return calls.access_session(
            db, vault, state or "", realm_id=realm.id, browser=browser, now=ctx.now
        )

    begun, _ = await ctx.read(find)
    if not code or error:
        raise InvalidVendorCredentials()
    try:
        tokens = await vendor.exchange_code(
            code, redirect_uri=begun.redirect_uri, verifier=begun.verifier
        )
        vendor_user_id = await vendor.find_user_id(tokens.access_token)
    except (TokenRejected, VendorFailed):
        raise InvalidVendorCredentials() from None

    def keep(session: Session) -> None:
        _, actor = find(session)  # the user may be deactivated by now
        if not try_spend(session, begun.link, now=ctx.now):
            raise InvalidVendorSession()
        calls.store_tokens(
            session,
            vault,
            realm_id=actor.realm_id,
            user_id=actor.id,
            vendor_user_id=vendor_user_id,
            tokens=(tokens.access_token, tokens.refresh_token),
            expires_at=ctx.now + timedelta(seconds=tokens.expires_in_s),
            now=ctx.now,
        )

    await ctx.write(keep)
    cookie = ("Set-Cookie", _cookie(ctx, "", max_age_s=0))
    if envelope.wants_page(ctx):
        return envelope.page(CLOSE, headers=(cookie,))
    return envelope.success(ctx, headers=(cookie,))


def get_vendor_token_state(ctx: Context) -> envelope.Answer[types.VendorTokenState]:
    """Get whether you have authorized video calls."""
    return envelope.success(
        ctx, {**envelope.OK, "has_vendor_token": calls.has_token(ctx.connection, ctx.actor.id)}
    )


async def revoke_vendor_token(ctx: Context) -> envelope.Answer[types.Success]:
    """Revoke your authorization of video calls."""
    vault, user_id = ctx.adapters.vault, ctx.actor.id
    tokens = await ctx.read(lambda db: calls.find_tokens(db, vault, user_id))
    await ctx.write(
        lambda session: calls.forget_tokens(session, ctx.actor.realm_id, [user_id], now=ctx.now)
    )
    if tokens is not None:
        # Our tokens are deleted whatever the vendor answers; its own expire by themselves.
        with suppress(TokenRejected, VendorFailed):
            await ctx.adapters.vendor.revoke(tokens.refresh_token)
    return envelope.success(ctx)


def receive_vendor_notice(
    ctx: Context, *, body: types.VendorNotice
) -> envelope.Answer[types.Success]:
    """Receive the vendor's notice of a deauthorization."""
    access_realm(ctx.session, host_of(ctx))
    shared = ctx.settings.video_vendor_notice_token
    if not shared:
        raise VendorNotConfigured()
    token = (ctx.header("authorization") or "").encode("latin-1")
    if not hmac.compare_digest(token, shared.encode("utf-8")):
        raise NotFromVendor()
    if body["event"] == WITHDRAWN:
        calls.forget_vendor_user(ctx.session, body["payload"]["user_id"], now=ctx.now)
    return envelope.success(ctx)


def _cookie(ctx: Context, value: str, *, max_age_s: int | None = None) -> str:
    """Return a cookie that no script can read: Lax, because the browser comes from another site."""
    age = calls.SESSION_LIFETIME.total_seconds() if max_age_s is None else max_age_s
    secure = "; Secure" if _is_https(ctx) else ""
    flags = f"Path={PATH}; Max-Age={age:.0f}; HttpOnly; SameSite=Lax{secure}"
    return f"{_cookie_name(ctx)}={value}; {flags}"


def _address(ctx: Context) -> str:
    """Return the public address of these operations."""
    return f"{realm_url(ctx)}{PATH}"


def _cookie_name(ctx: Context) -> str:
    """Return a name that over HTTPS only HTTPS can set (RFC 6265bis, section 4.1.3.1)."""
    return f"__Secure-{COOKIE}" if _is_https(ctx) else COOKIE


def _is_https(ctx: Context) -> bool:
    return urlsplit(ctx.settings.public_url).scheme == "https"
