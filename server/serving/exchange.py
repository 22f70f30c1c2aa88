"""One request being answered: what the engine knows of it so far."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.types import Receive, Scope, Send

from server.context import Context
from server.document.operation import Call, Operation
from server.response import Response
from server.serving.served import ServedAPI
from server.wire.answering import END, linger, start

# Until the headers are known to be sound, a body may follow, and the connection cannot go on.
_UNKNOWN_FRAMING: Mapping[bytes, bytes] = {b"transfer-encoding": b"unknown"}


class Exchange:
    """One request being answered: what is known of it so far, for its log line and its end."""

    __slots__ = (
        "api",
        "call",
        "client",
        "ctx",
        "headers",
        "method",
        "operation",
        "path",
        "request_id",
        "scope",
        "started",
        "unread",
    )

    def __init__(self, api: ServedAPI, path: bytes, scope: Scope, request_id: str) -> None:
        self.started = time.perf_counter()
        self.api = api
        self.path = path
        self.scope = scope
        self.method: str = scope["method"]
        self.request_id = request_id
        client = scope.get("client")
        self.client: str = client[0] if client else ""
        self.operation: Operation | None = None
        self.call: Call | None = None
        self.ctx: Context | None = None
        self.headers = _UNKNOWN_FRAMING
        self.unread = True

    @property
    def operation_id(self) -> str | None:
        return None if self.operation is None else self.operation.operation_id

    @property
    def actor_id(self) -> int | str | None:
        return None if self.ctx is None else self.ctx.actor_id

    @property
    def key_id(self) -> str | None:
        return None if self.ctx is None else self.ctx.key_id

    @property
    def extra_headers(self) -> tuple[tuple[str, str], ...]:
        return () if self.call is None else self.call.extra_headers

    @property
    def leaves_a_body(self) -> bool:
        """Is there a body that nobody has read, so that the connection cannot go on?"""
        return self.unread and (
            b"transfer-encoding" in self.headers
            or self.headers.get(b"content-length", b"0") != b"0"
        )


async def deliver(response: Response, exchange: Exchange, receive: Receive, send: Send) -> None:
    """Send an answer as ASGI messages; a body that nobody has read ends the connection."""
    headers = [(b"request-id", exchange.request_id.encode("ascii"))]
    body = b"" if exchange.method == "HEAD" else response.body
    standing, extra = exchange.api.standing, exchange.extra_headers
    if not exchange.leaves_a_body:
        await send(start(response, headers, extra, standing))
        await send({"type": "http.response.body", "body": body})
        return
    headers.append((b"connection", b"close"))
    await send(start(response, headers, extra, standing))
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if b"expect" not in exchange.headers:
        await linger(receive)
    await send(END)
