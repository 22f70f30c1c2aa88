"""The shape of every answer: `result`, `msg`, then data; a newline at the end; never cached."""

from typing import Any

from handlers.chat.wire.context import Context
from server.response import Response, encode

MOST_IGNORED = 100
"""Names of parameters that an answer tells back; the document has the same bound."""
HEADERS = (("Cache-Control", "max-age=0, no-cache, no-store, must-revalidate, private"),)


def success(ctx: Context, data: dict[str, Any] | None = None, /, **more: Any) -> Response:
    """A 200 with `data`; names the parameters that the operation does not know, if any came."""
    body: dict[str, Any] = {"result": "success", "msg": "", **(data or {}), **more}
    ignored = [name for name in ctx.unknown_parameters if name != "client"]
    if ignored:
        body["ignored_parameters_unsupported"] = ignored[:MOST_IGNORED]
    return Response(200, encode(body) + b"\n", HEADERS)


def failure(
    status: int,
    msg: str,
    code: str | None,
    extra: dict[str, Any] | None = None,
    headers: tuple[tuple[str, str], ...] = (),
) -> Response:
    """An error. Never carries `ignored_parameters_unsupported`."""
    body: dict[str, Any] = {"result": "error", "msg": msg, **(extra or {})}
    if code is not None:
        body["code"] = code
    return Response(status, encode(body) + b"\n", HEADERS + headers)
