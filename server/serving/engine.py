"""The connexion `SpecMiddleware` that serves documents: from ASGI to an operation and back.

Everything that goes wrong on the way comes out in the envelope of the service it belongs to.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Mapping
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import quote

import structlog
from connexion.middleware.abstract import SpecMiddleware
from connexion.spec import Specification
from starlette.types import ASGIApp, Receive, Scope, Send

import security_events
from server.context import Context
from server.document.arrivals import arriving_form
from server.document.bodies import MULTIPART, URLENCODED, Disconnected, read_body
from server.document.compiler import CompiledAPI
from server.document.operation import Call, Operation
from server.document.routing import merge_slashes
from server.errors import MethodNotAllowed, NotFound
from server.response import Response, standing_headers
from server.service import Service
from server.serving.exchange import Exchange, deliver
from server.serving.health import Probes
from server.serving.metrics import METRICS_LAG_S
from server.serving.override import find_overriding_method, media_type_of
from server.serving.request_log import RequestLog
from server.serving.served import ServedAPI
from server.serving.waiting import Waiting
from server.wire.answering import raw_headers, start
from server.wire.browsers import SAFE_METHODS, is_browser, without_browser_challenge
from server.wire.guard import check_answer_headers, check_headers, check_target
from server.wire.proxies import TrustedProxies
from server.wire.started import into_a_task

log = structlog.get_logger("specd.requests")
requests = RequestLog()


class Engine(SpecMiddleware):
    """Serves every document given to connexion's `add_api`; passes all else to the inner app."""

    def __init__(self, app: ASGIApp, *, probes: Probes, proxies: TrustedProxies) -> None:
        self.app = app
        self.probes = probes
        self.proxies = proxies
        probes.flush_metrics = self.flush_metrics
        self.apis: list[ServedAPI] = []
        self.waiting = Waiting()
        self._ids = count(int.from_bytes(os.urandom(4), "big"))
        self._id_prefix = ""

    def add_api(self, specification: Specification, *, service: Service, **_: Any) -> None:
        """Compile one document. Raises `DocumentError`."""
        compiled = CompiledAPI(specification, service=service)
        self.apis.append(ServedAPI(compiled, service))
        self.probes.watch(service)

    def flush_metrics(self) -> None:
        """Hand every request counted so far to Prometheus."""
        for api in self.apis:
            for meter in (api.unrouted, *api.meters.values()):
                meter.flush()

    def close(self) -> None:
        """Let go of all threads; requests under way finish first."""
        self.flush_metrics()
        for api in self.apis:
            api.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = self.seen(scope)
        exchange = self.begin(scope)
        if exchange is not None:
            await self.finish(exchange, self.answer(exchange, receive), receive, send)
            return
        if self.probes.knows(scope["path"]):
            response = await self.probes.respond(scope["path"], scope["method"])
            head = scope["method"] == "HEAD"
            await send(start(response, [], (), raw_headers(standing_headers(is_https=False))))
            await send({"type": "http.response.body", "body": b"" if head else response.body})
            return
        await self.app(scope, receive, send)

    def seen(self, scope: Scope) -> Scope:
        """The scope as a trusted proxy in front tells it."""
        return self.proxies.seen_through(scope) if self.proxies else scope

    def begin(self, scope: Scope) -> Exchange | None:
        """The request that a scope is, if it is one for a service here."""
        path: bytes = scope.get("raw_path") or quote(scope["path"]).encode("ascii")
        if b"?" in path:
            path = path.partition(b"?")[0]
        for api in self.apis:
            if b"//" in path and api.service.merge_slashes:
                path = merge_slashes(path)
            if path.startswith(api.prefix):
                if not self._id_prefix:  # made on first use, so each worker has its own
                    self._id_prefix = os.urandom(8).hex()
                request_id = f"{self._id_prefix}{next(self._ids) & 0xFFFFFFFF:08x}"
                return Exchange(api, path, scope, request_id)
        return None

    async def answer(self, exchange: Exchange, receive: Receive) -> Response:
        """The answer to a request, whatever goes wrong. Raises `Disconnected`."""
        try:
            return await self._answer(exchange, receive)
        except Disconnected:
            raise
        except Exception as error:
            return self._failure(error, exchange)

    async def finish(
        self, exchange: Exchange, answer: Awaitable[Response], receive: Receive, send: Send
    ) -> None:
        """Send the answer when it is there, if somebody is, and conclude the exchange."""
        try:
            response = await answer
        except Disconnected:
            service = exchange.api.service.name
            requests.line(event="request", id=exchange.request_id, service=service, status=499)
            return
        await deliver(response, exchange, receive, send)
        self.conclude(exchange, response)

    def conclude(self, exchange: Exchange, response: Response) -> None:
        """Count a request that was answered, and write its line in the log."""
        seconds = time.perf_counter() - exchange.started
        api, operation = exchange.api, exchange.operation
        meter = api.unrouted if operation is None else api.meters[operation]
        if meter.is_flushed:
            asyncio.get_running_loop().call_later(METRICS_LAG_S, meter.flush)
        meter.count(response.status, seconds)
        requests.line(
            event="request",
            level="info",
            timestamp=api.service.clock.now(),
            id=exchange.request_id,
            service=api.service.name,
            operation=exchange.operation_id,
            method=exchange.method,
            status=response.status,
            actor=exchange.actor_id,
            key=exchange.key_id,
            address=exchange.client,
            ms=round(seconds * 1000, 3),
        )

    async def _answer(self, exchange: Exchange, receive: Receive) -> Response:
        api, path, scope, method = exchange.api, exchange.path, exchange.scope, exchange.method
        service = api.service
        query: bytes = scope["query_string"]
        exchange.headers = headers = check_headers(scope["headers"])
        check_target(path, query)
        found = api.router.find(path)
        if found is None:
            document = api.documents.get(path)
            if document is None:
                raise NotFound
            return document.respond(method, headers)
        route, texts = found
        if method not in SAFE_METHODS:
            service.origins.check(headers)
        taker = route.methods.get(method)
        if taker is not None and taker.takes_files and media_type_of(headers) == MULTIPART:
            ctx = self._context(api, taker, exchange)
            exchange.call = call = Call(headers, texts, query, b"")
            await into_a_task()
            await taker.admit(ctx, call, api.threads)  # nothing of a stranger's is kept
            async with arriving_form(taker, call, receive):
                exchange.unread = False
                return _checked(await taker.serve(ctx, call, api.threads))
        body = b""
        if service.method_override and method == "POST":
            body = await self._read_body(service, receive, headers, exchange)
            meant = await find_overriding_method(body, headers, api.threads)
            if meant == "GET" and media_type_of(headers) == URLENCODED:
                query = b"&".join(filter(None, (query, body)))  # a GET's parameters are its query
            method = meant or method
        operation = route.methods.get("GET" if method == "HEAD" else method)
        if operation is None:
            if method == "OPTIONS":
                return Response(204, b"", (("Allow", ", ".join(route.allow)),))
            raise MethodNotAllowed(route.allow)
        ctx = self._context(api, operation, exchange)
        if operation.is_async:
            await into_a_task()
            ctx.bind_wait(partial(self.waiting.wait, receive))
        if operation.body is not None and exchange.unread:
            body = await self._read_body(service, receive, headers, exchange)
        exchange.call = call = Call(headers, texts, query, body)
        return _checked(await operation.serve(ctx, call, api.threads))

    def _context(self, api: ServedAPI, operation: Operation, exchange: Exchange) -> Context:
        service = api.service
        exchange.operation = operation
        exchange.ctx = ctx = Context(
            operation=operation,
            headers=exchange.headers,
            client=exchange.client,
            now=service.clock.now(),
            request_id=exchange.request_id,
            settings=service.settings,
            adapters=service.adapters,
        )
        return ctx

    async def _read_body(
        self, service: Service, receive: Receive, headers: Mapping[bytes, bytes], exchange: Exchange
    ) -> bytes:
        body = await read_body(
            receive, headers, limit=service.body_limit, seconds=service.body_timeout_s
        )
        exchange.unread = False
        return body

    def _failure(self, error: Exception, exchange: Exchange) -> Response:
        """The service's own answer to an error; a 500 also goes to the log with its traceback, and
        what the service calls a security event as one.
        """
        api = exchange.api
        name = _nearest(type(error), api.service.security_events)
        if name is not None:
            security_events.tell(
                name,
                asker=exchange,
                service=api.service.name,
                operation=exchange.operation_id,
                reason=type(error).__name__,
            )
        try:
            response = api.service.respond(error, exchange.request_id)
        except Exception:
            log.exception("error table failed", id=exchange.request_id)
            response = Response(500, b"{}")
        if response.status == 401 and is_browser(exchange.headers):
            response = without_browser_challenge(response)
        if response.status >= 500 and not _is_foreseen(response.status):
            log.error(
                "request failed",
                id=exchange.request_id,
                service=api.service.name,
                operation=exchange.operation_id,
                exc_info=error,
            )
        return response


def _checked(response: Response) -> Response:
    if response.headers:
        check_answer_headers(response.headers)
    return response


def _nearest(kind: type[Exception], events: Mapping[type[Exception], Any]) -> Any:
    """What stands for a class of errors, or for the nearest one it derives from."""
    return next((events[base] for base in kind.__mro__ if base in events), None)


def _is_foreseen(status: int) -> bool:
    """A 502 and a 503 say who else failed; any other 5xx is a bug and wants its traceback."""
    return status in (502, 503)
