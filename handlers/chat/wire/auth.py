"""Who asks: HTTP Basic with an API email (real or dummy) and an API key, at an organization's host.

The reference tells a missing header, another scheme and a malformed one apart; so do we.
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

FOR_WEBHOOK_BOTS = frozenset(("send_message",))
"""What an incoming webhook bot may call besides its own address: scripts and the integrations of
other products send messages with its key.
"""


def host_of(ctx: Context) -> str:
    """The organization's host as the client wrote it, without its port."""
    return parse_host(ctx.header("host") or "")


def authenticate(user: str, password: str, *, request: Context) -> Actor:
    """The user whose API email and key these are. Raises what is wrong with them."""
    request.key_id = key_id_of(password)
    if ":" in password:
        actors.access_realm(request.session, host_of(request))
        raise InvalidAuthorizationHeader()
    actor = actors.authenticate(
        request.session,
        host=host_of(request),
        email=user,
        api_key=password,
        for_webhooks=request.operation.operation_id in FOR_WEBHOOK_BOTS,
    )
    request.actor_id = actor.id
    return actor


def authenticate_webhook(ctx: Context, api_key: str) -> Actor:
    """The user whose API key stands in the address. Raises what is wrong with it."""
    ctx.key_id = key_id_of(api_key)
    actor = actors.authenticate_webhook(ctx.session, host=host_of(ctx), api_key=api_key)
    ctx.actor_id = actor.id
    return actor


def refuse(ctx: Context) -> ChatError:
    """What to say to a request without credentials that HTTP Basic can read."""
    actors.access_realm(ctx.session, host_of(ctx))
    header = ctx.header("authorization")
    if header is None:
        return NotLoggedIn()
    if header.partition(" ")[0].lower() != "basic":
        return BasicAuthenticationRequired()
    return InvalidAuthorizationHeader()


def require_role(ctx: Context, role: str) -> None:
    """The document's `x-required-role`, checked before parameters are looked at."""
    membership.require_role(ctx.actor, role)
