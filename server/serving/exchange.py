"""One request being answered: what the engine knows of it so far."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.types import Receive, Send

from server.context import Context
from server.document.bodies import read_body
from server.document.operation import Call, Operation
from server.errors import BodyTooLarge
from server.response import Response
from server.serving.request_log import Facts
from server.serving.served import ServedAPI
from server.wire.answering import END, linger, start
from server.wire.guard import Sent

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
        "mapped",
        "method",
        "operation",
        "path",
        "query",
        "request_id",
        "sent",
        "started",
        "texts",
        "unread",
    )

    ctx: Context
    texts: Mapping[str, list[str]]

    def __init__(
        self,
        api: ServedAPI,
        method: str,
        path: bytes,
        query: bytes,
        sent: Sent,
        mapped: dict[bytes, bytes],
        client: str,
        request_id: str,
    ) -> None:
        self.started = time.perf_counter()
        self.api = api
        self.method = method
        self.path = path
        self.query = query
        self.sent = sent
        self.mapped = mapped
        self.client = client
        self.request_id = request_id
        self.operation: Operation | None = None
        self.call: Call | None = None
        self.headers = _UNKNOWN_FRAMING
        self.unread = True

    def call_of(self, operation: Operation, query: bytes, body: bytes) -> Call:
        """What the request sent to an operation; from here on there is a context."""
        service = self.api.service
        self.ctx = Context(
            operation=operation,
            headers=self.headers,
            client=self.client,
            now=service.clock.now(),
            request_id=self.request_id,
            settings=service.settings,
            adapters=service.adapters,
        )
        self.operation = operation
        self.call = call = Call(self.headers, self.texts, query, body)
        return call

    async def read(self, receive: Receive) -> bytes:
        """The whole body. Raises as `read_body` does."""
        service = self.api.service
        body = await read_body(
            receive, self.headers, limit=service.body_limit, seconds=service.body_timeout_s
        )
        self.unread = False
        return body

    def take(self, body: bytes) -> bytes:
        """The whole body, which has arrived as the parser framed it. Raises `BodyTooLarge`."""
        limit = self.api.service.body_limit
        if len(body) > limit:
            raise BodyTooLarge(limit)
        self.unread = False
        return body

    def line(self, status: int, seconds: float) -> Facts:
        """The request's line in the log."""
        service, operation = self.api.service, self.operation
        line: Facts = {
            "event": "request",
            "level": "info",
            "timestamp": service.clock.now(),
            "id": self.request_id,
            "service": service.name,
            "operation": None,
            "method": self.method,
            "status": status,
            "actor": None,
            "key": None,
            "address": self.client,
            "ms": int(seconds * 1e6) / 1000,
        }
        if operation is not None:
            line["operation"] = operation.operation_id
            line["actor"] = self.ctx.actor_id
            line["key"] = self.ctx.key_id
        return line

    @property
    def operation_id(self) -> str | None:
        return None if self.operation is None else self.operation.operation_id

    @property
    def actor_id(self) -> int | str | None:
        return None if self.operation is None else self.ctx.actor_id

    @property
    def key_id(self) -> str | None:
        return None if self.operation is None else self.ctx.key_id

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
