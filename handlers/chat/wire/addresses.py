"""Addresses of the organization that a request is for."""

from hashlib import md5
from urllib.parse import urlsplit

from handlers.chat.wire.context import Context


def realm_url(ctx: Context) -> str:
    """Return the organization's address with the host of the request, which selects the
    organization, and the scheme of the public URL.
    """
    return f"{urlsplit(ctx.settings.public_url).scheme}://{ctx.header('host') or ''}"


def icon_url(host: str) -> str:
    """Return the address of the organization's picture at the external provider."""
    digest = md5(host.encode("utf-8"), usedforsecurity=False).hexdigest()
    return f"https://secure.gravatar.com/avatar/{digest}?d=identicon"
