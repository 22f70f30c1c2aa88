"""The shape of every answer: `result`, `msg`, then data; a newline at the end; never cached.

Operations that people reach by a link answer a browser with a page instead.
"""

from typing import Any

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from handlers.chat.wire.context import Context
from specd import Response, encode

MAX_IGNORED = 100
"""How many ignored parameters an answer names; the document has the same bound."""
HEADERS = (("Cache-Control", "max-age=0, no-cache, no-store, must-revalidate, private"),)
PAGE_HEADERS = (
    *HEADERS,
    ("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
)


def success(ctx: Context, data: dict[str, Any] | None = None, /, **more: Any) -> Response:
    """Return a 200 with `data` and the names of the parameters that the operation does not have."""
    body: dict[str, Any] = {"result": "success", "msg": "", **(data or {}), **more}
    ignored = [name for name in ctx.unknown_parameters if name != "client"]
    if ignored:
        body["ignored_parameters_unsupported"] = ignored[:MAX_IGNORED]
    return Response(200, encode(body, is_finite=True) + b"\n", HEADERS)


def failure(
    status: int,
    msg: str,
    code: str | None,
    extra: dict[str, Any] | None = None,
    headers: tuple[tuple[str, str], ...] = (),
) -> Response:
    """Return an error, which never has `ignored_parameters_unsupported`."""
    body: dict[str, Any] = {"result": "error", "msg": msg, **(extra or {})}
    if code is not None:
        body["code"] = code
    return Response(status, encode(body) + b"\n", HEADERS + headers)


def wants_page(ctx: Context) -> bool:
    """Return whether the caller likes HTML better than JSON: a browser, to show it to a person."""
    accept = parse_accept_header(ctx.header("accept"), MIMEAccept)
    return accept["text/html"] > accept["application/json"]


def page(html: str, status: int = 200) -> Response:
    """Return an answer for browsers."""
    return Response(status, html.encode(), PAGE_HEADERS, "text/html; charset=utf-8")
