"""Addresses of the organization that a request is for."""

from handlers.chat.wire.context import Context
from models.chat.ground import hosts


def realm_url(ctx: Context) -> str:
    """The organization's address as this client reaches it: by its own Host header, which chose
    the organization.
    """
    return hosts.realm_url(ctx.settings.public_url, ctx.header("host") or "")
