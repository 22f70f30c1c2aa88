"""The security headers of all pages, and their content security policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from flask import Flask, Response, request

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Swagger UI's style sheet draws its arrows and check marks from data: images.
REFERENCE_POLICY = POLICY.replace("img-src 'self'", "img-src 'self' data:")

_DIRECTIVE = re.compile(r"[a-z-]+")
_SOURCES = re.compile(r"[!-+\--:<-~]+(?: [!-+\--:<-~]+)*|")
"""Sources of a directive: visible ASCII without `,` and `;`, separated by single spaces."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}


def install(app: Flask, *, is_https: bool) -> None:
    """Add the headers to every response of `app`, including error pages and static files, unless
    the response has them already. Over HTTPS, also add HTTP Strict Transport Security (RFC 6797).
    """
    headers = {**HEADERS, "Strict-Transport-Security": "max-age=31536000"} if is_https else HEADERS

    def secure(response: Response) -> Response:
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        return response

    app.after_request(secure)


def policy_with(directives: Mapping[str, str]) -> str:
    """Return the content security policy with other values of some directives. Raise ValueError for
    a value that would change more than its directive.
    """
    policy = dict(each.split(" ", 1) for each in POLICY.split("; "))
    for name, sources in directives.items():
        if not (_DIRECTIVE.fullmatch(name) and _SOURCES.fullmatch(sources)):
            raise ValueError(f"csp: {name!r}: {sources!r} is no directive, such as 'img-src': '*'")
        policy[name] = sources
    return "; ".join(f"{name} {sources}".rstrip() for name, sources in policy.items())


def installing(
    install: Callable[[Flask], None], directives: Mapping[str, str]
) -> Callable[[Flask], None]:
    """Return a function that installs pages whose policy has other values of some directives."""
    policy = policy_with(directives)

    def install_with_policy(app: Flask) -> None:
        before = set(app.view_functions)
        install(app)
        own = app.view_functions.keys() - before

        def set_policy(response: Response) -> Response:
            if request.endpoint in own:
                response.headers.setdefault("Content-Security-Policy", policy)
            return response

        app.after_request(set_policy)  # runs before `secure`: Flask calls the last first

    return install_with_policy if directives else install
