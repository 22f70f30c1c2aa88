"""Exchanges of requests and responses, and the services that they belong to."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from urllib.parse import quote

from starlette.types import Message, Receive, Send

from specd import _tracing as tracing
from specd._engine.context import Context
from specd._engine.document.bodies import read_body
from specd._engine.document.compiler import CompiledAPI
from specd._engine.document.operation import Call, Operation
from specd._engine.http.answering import END, linger, raw_headers, start
from specd._engine.http.guard import Sent
from specd._engine.response import Response, standing_headers
from specd._engine.service import Service
from specd._engine.serving.documents import published
from specd._engine.serving.metrics import Meter
from specd._engine.serving.request_log import Facts
from specd._engine.threads import Threads

# Until the headers are checked, a body may follow, so the connection cannot be reused.
_UNKNOWN_FRAMING: Mapping[bytes, bytes] = {b"transfer-encoding": b"unknown"}


def _on_the_wire(path: str) -> bytes:
    """Return a path of a document as in requests, percent-encoded."""
    return quote(path, safe="%/:@!$&'()*+,;=~").encode("ascii")


class ServedAPI:
    """One compiled service with its meters, threads and published documents."""

    def __init__(self, compiled: CompiledAPI, service: Service) -> None:
        self.service = service
        sharing = service.origins.sharing
        standing = raw_headers(standing_headers(is_https=service.origins.is_https))
        self.standing = standing + sharing.standing
        self.is_shared = sharing.is_on
        self.varies_by_origin = sharing.varies
        self.router = compiled.router
        self.prefix = _on_the_wire(service.base_path) + b"/"
        self.documents = {
            _on_the_wire(path): document for path, document in published(service).items()
        }
        self.meters = {
            operation: Meter(service.name, operation.operation_id)
            for operation in compiled.operations.values()
        }
        self.operations = tuple(compiled.operations.values())
        self.unrouted = Meter(service.name, "-")
        self.explain: Callable[[Exception, Response], None] | None = None
        """Adds the reason to the response to an error, for developers."""
        self.threads = Threads(service.name, service.database)

    def close(self) -> None:
        self.threads.close()


class Exchange(Call):
    """One request in progress, with the facts for its response and its log line."""

    __slots__ = (
        "api",
        "client",
        "ctx",
        "mapped",
        "method",
        "operation",
        "request_id",
        "sent",
        "span",
        "started",
        "traceparent",
        "unread",
    )

    ctx: Context

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
        self.traceparent: str | None = None
        self.span: tracing.Span | None = None
        self.operation: Operation | None = None
        self.headers = _UNKNOWN_FRAMING
        self.unread = True
        self.body = b""
        self.fields = None
        self.extra_headers = ()
        self.is_authorized = False

    def context_of(self, operation: Operation) -> Context:
        """Return the context for the handler of the operation."""
        service = self.api.service
        self.operation = operation
        self.ctx = ctx = Context(
            operation,
            self.headers,
            self.client,
            service.clock.now(),
            self.request_id,
            service.settings,
            service.adapters,
            self.query,
            self.traceparent,
        )
        ctx.idempotency = service.idempotency
        return ctx

    async def read(self, receive: Receive) -> None:
        """Read the complete body. Raise the errors of `read_body`."""
        service = self.api.service
        self.body = await read_body(
            receive, self.headers, limit=service.body_limit, seconds=service.body_timeout_s
        )
        self.unread = False

    def begin_trace(self, header: bytes | None) -> None:
        """Continue the trace in a header, with a span if tracing is on."""
        self.traceparent = None if header is None else tracing.read(header)
        if tracing.tracer is not None:
            facts = {"http.request.method": self.method, "specd.service": self.api.service.name}
            self.span = tracing.tracer.begin(self.method, tracing.SERVER, self.traceparent, facts)
            self.traceparent = self.span.traceparent

    def end_trace(self, status: int) -> None:
        """End the span of the request. It has no path, which may contain a secret."""
        if self.span is None:
            return
        facts: dict[str, str | int] = {
            "http.response.status_code": status,
            "specd.request_id": self.request_id,
        }
        name = None
        if self.operation is not None:
            name = self.operation.operation_id
            facts["http.route"] = self.operation.path
        self.span.end(facts, name=name, failed=status >= 500)

    def line(self, status: int, seconds: float) -> Facts:
        """Return the facts of the request's log line."""
        service, operation = self.api.service, self.operation
        name = actor = key = None
        if operation is not None:
            name, actor, key = operation.operation_id, self.ctx.actor_id, self.ctx.key_id
        facts = {
            "event": "request",
            "level": "info",
            "timestamp": service.clock.now(),
            "id": self.request_id,
            "service": service.name,
            "operation": name,
            "method": self.method,
            "status": status,
            "actor": actor,
            "key": key,
            "address": self.client,
            "ms": int(seconds * 1e6) / 1000,
        }
        if self.traceparent is not None:
            facts["trace"] = tracing.trace_id(self.traceparent)
        return facts

    @property
    def reader(self) -> Hashable:
        """The reader of the response: the account in the service, or else the address."""
        actor = self.actor_id
        return self.client if actor is None else (self.api.service.name, actor)

    @property
    def operation_id(self) -> str | None:
        return None if self.operation is None else self.operation.operation_id

    @property
    def actor_id(self) -> int | str | None:
        return None if self.operation is None else self.ctx.actor_id

    @property
    def key_id(self) -> str | None:
        return None if self.operation is None else self.ctx.key_id

    def leaves_a_body(self) -> bool:
        """Return whether a body is unread, so that the connection cannot be reused."""
        return self.unread and (
            b"transfer-encoding" in self.headers
            or self.headers.get(b"content-length", b"0") != b"0"
        )


def head_of(response: Response, exchange: Exchange) -> Message:
    """Return the start message of a response."""
    request_id = (b"request-id", exchange.request_id.encode("ascii"))
    api = exchange.api
    head = start(response, [request_id], exchange.extra_headers, api.standing)
    if api.varies_by_origin and b"origin" in exchange.mapped:
        api.service.origins.sharing.share(exchange.mapped, head["headers"])
    return head


async def deliver(response: Response, exchange: Exchange, receive: Receive, send: Send) -> None:
    """Send a response as ASGI messages. If the body was not read, end the connection."""
    head = head_of(response, exchange)
    body = b"" if exchange.method == "HEAD" else response.body
    if not exchange.leaves_a_body():
        await send(head)
        await send({"type": "http.response.body", "body": body})
        return
    head["headers"].append((b"connection", b"close"))
    await send(head)
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if b"expect" not in exchange.headers:
        await linger(receive)
    await send(END)
