"""The headers every page carries, and the two content security policies."""

from __future__ import annotations

from flask import Flask, Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Swagger UI's style sheet draws its arrows and ticks from data: images; it needs nothing else more.
REFERENCE_POLICY = POLICY.replace("img-src 'self'", "img-src 'self' data:")

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
    """Add the headers to every answer of `app`, error pages and static files included, unless it
    has set them; over HTTPS also HTTP Strict Transport Security (RFC 6797).
    """
    headers = {**HEADERS, "Strict-Transport-Security": "max-age=31536000"} if is_https else HEADERS

    def secure(response: Response) -> Response:
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        return response

    app.after_request(secure)
