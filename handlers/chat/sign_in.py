"""Operations of the tag sign_in: from a name to an API key, and browsers that keep one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope, limits
from handlers.chat.wire.auth import host_of
from handlers.chat.wire.context import Context
from handlers.chat.wire.cookies import SESSION, find_cookie
from handlers.chat.wire.pools import run_hashing
from models.chat.access.naming import access_user
from models.chat.access.people import find_visible_user_ids
from models.chat.identity import browser_sessions, jwt_sign_in, sign_in
from models.chat.identity.actors import RealmView, access_realm, find_actor
from models.chat.identity.errors import NotInProduction
from models.chat.identity.passwords import hash_password, is_imported, is_password
from models.chat.identity.sign_in import Account
from models.chat.people import view as user_view
from models.chat.people.emails import as_stored, check_email

if TYPE_CHECKING:
    from handlers.chat import types

COOKIE_FLAGS = "Path=/; Secure; HttpOnly; SameSite=Strict"


async def fetch_api_key(
    ctx: Context, *, username: str, password: str
) -> envelope.Answer[types.ApiKey]:
    """Get your API key for your password."""
    host = host_of(ctx)
    realm = await ctx.read(lambda db: access_realm(db, host))
    username = as_stored(username)  # before it is counted: variants of one name count together
    await limits.count_attempt(ctx, realm.id, username)
    account, imported = await ctx.read(
        lambda db: (
            sign_in.find_account(db, realm, username), sign_in.find_imported_hashes(db, realm)
        )
    )  # fmt: skip
    ctx.actor_id = None if account is None else account.id
    password_hash = None if account is None else account.password_hash
    is_right = await run_hashing(is_password, password, password_hash, imported)
    usable = sign_in.require_usable(realm, account if is_right else None)
    limits.count_for(ctx, usable.id)
    new_hash = await run_hashing(hash_password, password) if is_imported(password_hash) else None

    def reveal(session: Session) -> str:
        limits.clear_attempts(ctx, session, realm.id, username)
        return sign_in.reveal_key(
            session, ctx.adapters.keys, usable, by="password", now=ctx.now, new_hash=new_hash
        )

    api_key = await ctx.write(reveal)
    return envelope.success(
        ctx,
        {**envelope.OK, "api_key": api_key, "email": usable.delivery_email, "user_id": usable.id},
    )


def dev_fetch_api_key(ctx: Context, *, username: str) -> envelope.Answer[types.ApiKey]:
    """Get any user's API key on a development server."""
    if not ctx.settings.development:
        raise NotInProduction()
    realm = access_realm(ctx.session, host_of(ctx))
    account, api_key = _reveal_key(ctx, realm, check_email(username), by="development")
    limits.count_for(ctx, account.id)
    return envelope.success(
        ctx,
        {**envelope.OK, "api_key": api_key, "email": account.delivery_email, "user_id": account.id},
    )


def jwt_fetch_api_key(
    ctx: Context, *, token: str, include_profile: bool
) -> envelope.Answer[types.TokenApiKey]:
    """Get your API key for a signed token."""
    realm = access_realm(ctx.session, host_of(ctx))
    rules = jwt_sign_in.access_rules(ctx.session, ctx.adapters.vault, realm.id)
    email = as_stored(jwt_sign_in.read_email(token, rules, now=ctx.now))
    account, api_key = _reveal_key(ctx, realm, email, by="jwt")
    answer: types.TokenApiKey = {
        "result": "success",
        "msg": "",
        "api_key": api_key,
        "email": account.delivery_email,
    }
    if include_profile:
        actor = find_actor(ctx.session, account.id)
        assert actor is not None
        row = access_user(ctx.session, actor, account.id)
        described = user_view.describe_user(
            row,
            actor,
            visible_ids=find_visible_user_ids(ctx.session, actor),
            client_extavatar=False,
        )
        answer["user"] = cast("types.User", described)
    return envelope.success(ctx, answer)


async def session_fetch_api_key(ctx: Context) -> envelope.Answer[types.SessionApiKey]:
    """Get your API key for your browser session."""
    host, token = host_of(ctx), find_cookie(ctx, SESSION)
    realm = await ctx.read(lambda db: access_realm(db, host))
    if token is None:
        return envelope.success(ctx, {"result": "success", "msg": ""})

    def resume(session: Session) -> types.SessionApiKey | None:
        used = browser_sessions.use_session(session, token, realm_id=realm.id, now=ctx.now)
        if used is None:
            return None
        session_id, account = used
        ctx.actor_id = account.id
        keys = ctx.adapters.keys
        return {
            "result": "success",
            "msg": "",
            "api_key": sign_in.reveal_key(session, keys, account, by="session", now=ctx.now),
            "email": account.delivery_email,
            "user_id": account.id,
            "session_id": session_id,
        }

    resumed = await limits.count_cookie(ctx, realm.id, resume)
    if resumed is None:
        return envelope.success(
            ctx, {"result": "success", "msg": ""}, headers=(_cookie("", lifetime_s=0),)
        )
    return envelope.success(ctx, resumed)


def begin_session(ctx: Context) -> envelope.Answer[types.BegunSession]:
    """Keep your browser signed in."""
    begun = browser_sessions.begin_session(
        ctx.session,
        ctx.actor,
        before=find_cookie(ctx, SESSION),
        user_agent=ctx.header("user-agent") or "",
        now=ctx.now,
    )
    cookie = _cookie(begun.token, lifetime_s=int(browser_sessions.LIFETIME.total_seconds()))
    described = cast("types.BrowserSession", begun.described)
    return envelope.success(ctx, {**envelope.OK, "session": described}, headers=(cookie,))


def list_own_sessions(ctx: Context) -> envelope.Answer[types.SessionList]:
    """List your browser sessions."""
    token = find_cookie(ctx, SESSION)
    sessions = browser_sessions.find_sessions(ctx.connection, ctx.actor, token, now=ctx.now)
    return envelope.success(
        ctx, {**envelope.OK, "sessions": cast("list[types.BrowserSession]", sessions)}
    )


def end_session(ctx: Context, *, session_id: int) -> envelope.Answer[types.Success]:
    """End a browser session."""
    token = find_cookie(ctx, SESSION)
    is_current = browser_sessions.end_session(ctx.session, ctx.actor, session_id, token)
    return envelope.success(ctx, headers=(_cookie("", lifetime_s=0),) if is_current else ())


def _cookie(token: str, *, lifetime_s: int) -> tuple[str, str]:
    return "Set-Cookie", f"{SESSION}={token}; Max-Age={lifetime_s}; {COOKIE_FLAGS}"


def _reveal_key(ctx: Context, realm: RealmView, email: str, *, by: str) -> tuple[Account, str]:
    """Return the account of an email address, which may sign in, and its API key."""
    candidate = sign_in.find_account(ctx.session, realm, email)
    ctx.actor_id = None if candidate is None else candidate.id
    account = sign_in.require_usable(realm, candidate)
    key = sign_in.reveal_key(ctx.session, ctx.adapters.keys, account, by=by, now=ctx.now)
    return account, key
