"""Operations of the tag sign_in: from a name to an API key."""

import asyncio

from handlers.chat import envelope
from handlers.chat.auth import host_of
from models.chat import sign_in
from models.chat.actors import access_realm
from models.chat.errors.identity import NotInProduction
from models.chat.passwords import is_password
from models.chat.users import check_email
from server.context import Context
from server.response import Response


async def fetch_api_key(ctx: Context, *, username: str, password: str) -> Response:
    """Get your API key for your password."""
    host = host_of(ctx)
    realm = await ctx.read(lambda reader: access_realm(reader, host))
    ctx.adapters.sign_in_limit.take(ctx, realm.id, username)
    account = await ctx.read(lambda reader: sign_in.find_account(reader, realm, username))
    # Some 50 ms of work by design: in a thread, holding no connection and no lock.
    known = account.password_hash if account else None
    is_right = await asyncio.to_thread(is_password, password, known)
    usable = sign_in.require_usable(realm, account if is_right else None)
    ctx.adapters.sign_in_limit.forget(realm.id, username)
    keys = ctx.adapters.keys
    api_key = await ctx.write(lambda session: sign_in.tell_key(session, keys, usable))
    return envelope.success(ctx, api_key=api_key, email=usable.delivery_email, user_id=usable.id)


def dev_fetch_api_key(ctx: Context, *, username: str) -> Response:
    """Get anybody's API key, on a development server."""
    if not ctx.settings.development:
        raise NotInProduction()
    realm = access_realm(ctx.session, host_of(ctx))
    check_email(username)
    account = sign_in.require_usable(realm, sign_in.find_account(ctx.session, realm, username))
    return envelope.success(
        ctx,
        api_key=sign_in.tell_key(ctx.session, ctx.adapters.keys, account),
        email=account.delivery_email,
        user_id=account.id,
    )
