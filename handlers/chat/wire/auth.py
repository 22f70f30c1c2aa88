"""Authentication: HTTP Basic with an API email (real or dummy) and an API key.

A missing header, another scheme and a malformed header have errors of their own, as in the
reference.
"""

from handlers.chat.wire.context import Context
from models.chat.access import membership
from models.chat.common.hosts import parse_host
from models.chat.errors import ChatError
from models.chat.identity import actors
from models.chat.identity.actors import Actor
from models.chat.identity.errors import (
    BasicAuthenticationRequired,
    InvalidAuthorizationHeader,
    NotLoggedIn,
)
from models.chat.identity.key_digests import key_id_of
from specd.db import Db

FOR_WEBHOOK_BOTS = frozenset(("send_message",))
"""The operations that an incoming webhook bot may call besides its own: scripts and integrations of
other products send messages with its key.
"""


def host_of(ctx: Context) -> str:
    """Return the host of the request without its port."""
    return parse_host(ctx.header("host") or "")


def authenticate(user: str, password: str, *, request: Context) -> Actor:
    """Return the user with this API email and key. Raise the error of wrong ones."""
    request.key_id = key_id_of(password)
    if ":" in password:
        actors.access_realm(request.connection, host_of(request))
        raise InvalidAuthorizationHeader()
    actor = actors.authenticate(
        _db(request),
        host=host_of(request),
        email=user,
        api_key=password,
        for_webhooks=request.operation.operation_id in FOR_WEBHOOK_BOTS,
    )
    request.actor_id = actor.id
    return actor


def authenticate_webhook(ctx: Context, api_key: str) -> Actor:
    """Return the user with the API key in the address. Raise the error of a wrong one."""
    ctx.key_id = key_id_of(api_key)
    actor = actors.authenticate_webhook(_db(ctx), host=host_of(ctx), api_key=api_key)
    ctx.actor_id = actor.id
    return actor


def _db(ctx: Context) -> Db:
    """Return the session if the unit writes, because the models lock the caller's row then."""
    return ctx.connection if ctx.is_read_only else ctx.session


def refuse(ctx: Context) -> ChatError:
    """Return the error for a request without credentials that HTTP Basic can read."""
    actors.access_realm(ctx.connection, host_of(ctx))
    header = ctx.header("authorization")
    if header is None:
        return NotLoggedIn()
    if header.partition(" ")[0].lower() != "basic":
        return BasicAuthenticationRequired()
    return InvalidAuthorizationHeader()


def require_role(ctx: Context, role: str) -> None:
    """Raise unless the actor has the document's `x-required-role`."""
    membership.require_role(ctx.actor, role)
