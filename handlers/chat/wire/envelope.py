"""The shape of every answer: `result`, `msg`, then data; a newline at the end; never cached.

Operations that people reach by a link answer a browser with a page instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from handlers.chat.wire.context import Context
from specd import Response, encode

if TYPE_CHECKING:
    from handlers.chat import types

T = TypeVar("T", bound=Mapping[str, object])
Answer = tuple[T, Literal[200]]
"""A success as type checkers compare it with the document. It is an encoded `Response`."""
OK: types.Success = {"result": "success", "msg": ""}
"""What the body of each success begins with."""
MAX_IGNORED = 100
"""How many ignored parameters an answer names; the document has the same bound."""
HEADERS = (("Cache-Control", "max-age=0, no-cache, no-store, must-revalidate, private"),)
PAGE_HEADERS = (
    *HEADERS,
    ("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
)


@overload
def success(
    ctx: Context, *, headers: tuple[tuple[str, str], ...] = ...
) -> Answer[types.Success]: ...
@overload
def success(ctx: Context, body: T, *, headers: tuple[tuple[str, str], ...] = ...) -> Answer[T]: ...
def success(
    ctx: Context, body: Mapping[str, object] = OK, *, headers: tuple[tuple[str, str], ...] = ()
) -> object:
    """Return a 200 with `body` and the names of the parameters that the operation does not have.

    `body` begins with `OK`.
    """
    ignored = [name for name in ctx.unknown_parameters if name != "client"]
    if ignored:
        body = {**body, "ignored_parameters_unsupported": ignored[:MAX_IGNORED]}
    return Response(200, encode(body, is_finite=True) + b"\n", HEADERS + headers)


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


def page(html: str, status: int = 200, *, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """Return an answer for browsers."""
    return Response(status, html.encode(), PAGE_HEADERS + headers, "text/html; charset=utf-8")
