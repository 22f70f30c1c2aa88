"""Cookies of a request."""

from contextlib import suppress
from http.cookies import CookieError, SimpleCookie

from handlers.chat.wire.context import Context

SESSION = "__Host-specd_session"
"""With this prefix browsers take the cookie for this host alone, and only over HTTPS or from the
machine itself (RFC 6265bis, section 4.1.3.2).
"""


def find_cookie(ctx: Context, name: str) -> str | None:
    """Return the value of the cookie of that name; None without one."""
    jar: SimpleCookie = SimpleCookie()
    with suppress(CookieError):
        jar.load(ctx.header("cookie") or "")
    return jar[name].value if name in jar else None
