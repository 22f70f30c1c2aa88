"""The connexion `SpecMiddleware` that serves documents: it passes ASGI requests to operations.

All errors get the response format of the service that the request is for.

`Engine.answer` responds to every request. An ASGI server starts it in a task. If the request has
arrived completely, our protocol starts it in the parser's callback (at_once.py). Then the operation
and the database decide whether a task is needed and where the handler runs:

| operation | no database | SQLite | PostgreSQL |
|---|---|---|---|
| reads, at most 8 KiB sent, no list in the answer | no task | no task | task, thread |
| other reads | no task | task, thread | task, thread |
| writes | no task | task, thread | task, thread |
| `async` handlers, files | task | task, threads | task, threads |
| streams, once their handler has returned | task | task | task |
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import quote

import structlog
from connexion.middleware.abstract import SpecMiddleware
from connexion.spec import Specification
from starlette.types import ASGIApp, Receive, Scope, Send

from specd import _security_events as security_events
from specd._engine.document.arrivals import arriving
from specd._engine.document.bodies import Disconnected
from specd._engine.document.checking import locate
from specd._engine.document.compiler import CompiledAPI
from specd._engine.document.media import URLENCODED
from specd._engine.errors import DocumentError, NonConformingResponse, UnsupportedMediaType
from specd._engine.http.answering import raw_headers, start
from specd._engine.http.browsers import is_browser, without_browser_challenge
from specd._engine.http.guard import Sent
from specd._engine.http.proxies import TrustedProxies
from specd._engine.http.slow_readers import READER
from specd._engine.http.started import in_a_task
from specd._engine.openapi.mistakes import Mistake
from specd._engine.response import Response, Stream, standing_headers
from specd._engine.service import Service
from specd._engine.serving.exchange import Exchange, ServedAPI, deliver
from specd._engine.serving.health import PATHS, Probes, is_inside
from specd._engine.serving.metrics import METRICS_LAG_S, Meter
from specd._engine.serving.override import find_overriding_method, media_type_of
from specd._engine.serving.page_visits import PAGES, ROUTE, UNROUTED, PageVisit
from specd._engine.serving.request_log import RequestLog
from specd._engine.serving.routes import checked, find_route, merge_slashes, operation_of, whole
from specd._engine.serving.streams import Source, deliver_stream
from specd._engine.serving.waiting import Waiting

log = structlog.get_logger("specd.requests")
requests = RequestLog()
_ENDS = [f"{number:02x}" for number in range(256)]


class Engine(SpecMiddleware):
    """Serves the documents that were passed to connexion's `add_api`, and passes other requests to
    the inner application.
    """

    def __init__(
        self, app: ASGIApp, *, probes: Probes, proxies: TrustedProxies, prefix: str = ""
    ) -> None:
        self.app = app
        self.probes = probes
        self.proxies = proxies
        self._prefix = prefix
        probes.flush_metrics = self.flush_metrics
        self.apis: list[ServedAPI] = []
        self.mistakes: list[Mistake] = []
        self.waiting = Waiting()
        self._ids = _request_ids()
        self._page_meters: dict[str, Meter] = {}

    def add_api(self, specification: Specification, *, service: Service, **_: Any) -> None:
        """Compile one service, or record its mistakes if it cannot be served."""
        try:
            compiled = CompiledAPI(specification, service=service)
        except DocumentError as error:
            self.mistakes += locate(service.documents, [error])
            return
        self.apis.append(ServedAPI(compiled, service))
        self.probes.watch(service)

    def flush_metrics(self) -> None:
        """Pass the counts of all requests so far to Prometheus."""
        for meter in self._page_meters.values():
            meter.flush()
        for api in self.apis:
            for meter in (api.unrouted, *api.meters.values()):
                meter.flush()

    def close(self) -> None:
        """Stop all threads after the running requests."""
        self.flush_metrics()
        self.probes.close()
        for api in self.apis:
            api.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope.get("root_path"):
            scope = _below_root_path(scope)
        peer = scope.get("client")
        exchange = self.begin(
            scope["method"],
            (scope.get("raw_path") or quote(scope["path"]).encode("ascii")).partition(b"?")[0],
            scope["query_string"],
            scope["headers"],
            peer[0] if peer else "",
            dict(scope["headers"]),
        )
        if exchange is not None:
            await self.finish(exchange, self.answer(exchange, receive), scope, receive, send)
            return
        # A proxy compares these paths without decoding, so encoded spellings must not match.
        if scope["path"] in PATHS and _is_as_sent(scope):
            response = await self.probes.respond(
                scope["path"], scope["method"], is_inside=is_inside(scope)
            )
            head = scope["method"] == "HEAD"
            await send(start(response, [], (), raw_headers(standing_headers(is_https=False))))
            await send({"type": "http.response.body", "body": b"" if head else response.body})
            return
        seen = self.proxies.seen_through(scope)
        client = seen["client"][0] if seen.get("client") else ""
        _note_reader(scope, client)
        page = PageVisit(scope["method"], client, next(self._ids))
        seen[ROUTE] = UNROUTED
        if prefix := self._prefix or scope.get("root_path", ""):
            # For the links of pages (SCRIPT_NAME of WSGI). The path contains it (ASGI, 2.3).
            seen["root_path"], seen["path"] = prefix, prefix + scope["path"]
        try:
            await self.app(seen, receive, partial(page.send, send))
        finally:
            self._conclude_page(page, seen[ROUTE])

    def begin(
        self,
        method: str,
        path: bytes,
        query: bytes,
        sent: Sent,
        peer: str,
        mapped: dict[bytes, bytes],
    ) -> Exchange | None:
        """Return a new exchange for a request whose headers have arrived, or None if no service has
        its path. `mapped` is `dict(sent)`.
        """
        for api in self.apis:
            at = merge_slashes(path) if "slashes" in api.service.leniency else path
            if at.startswith(api.prefix):
                client = self.proxies.client_of(peer, sent)
                return Exchange(api, method, at, query, sent, mapped, client, next(self._ids))
        return None

    async def answer(self, exchange: Exchange, receive: Receive) -> Response | None:
        """Return the response to a request, also for errors, or None if the client has
        disconnected.
        """
        try:
            return checked(await self._answer(exchange, receive))
        except Disconnected:
            service = exchange.api.service.name
            facts = {"id": exchange.request_id, "service": service, "status": 499}
            requests.line({"event": "request", **facts})
            exchange.end_trace(499)
            return None
        except Exception as error:
            return self._failure(error, exchange)

    async def finish(
        self,
        exchange: Exchange,
        answer: Awaitable[Response | None],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Send the response and conclude the exchange, unless the client has disconnected."""
        response = await answer
        if response is not None:
            _note_reader(scope, exchange.reader)
            if isinstance(response, Stream):
                await deliver_stream(response, exchange, send)
            else:
                await deliver(response, exchange, receive, send)
            self.conclude(exchange, response)

    def conclude(self, exchange: Exchange, response: Response) -> None:
        """Count a completed request, and write its line in the log."""
        seconds = time.perf_counter() - exchange.started
        api, operation = exchange.api, exchange.operation
        meter = api.unrouted if operation is None else api.meters[operation]
        if meter.is_flushed:
            asyncio.get_running_loop().call_later(METRICS_LAG_S, meter.flush)
        meter.count(response.status, seconds)
        exchange.end_trace(response.status)
        requests.line(exchange.line(response.status, seconds))

    def _conclude_page(self, page: PageVisit, route: str) -> None:
        """Count a request for a page, and write its line in the log."""
        meter = self._page_meters.get(route)
        if meter is None:
            meter = self._page_meters[route] = Meter(PAGES, route)
        if meter.is_flushed:
            asyncio.get_running_loop().call_later(METRICS_LAG_S, meter.flush)
        meter.count(page.status, page.seconds)
        requests.line(page.line(route))

    async def _answer(self, exchange: Exchange, receive: Receive) -> Response:
        route = find_route(exchange)
        if isinstance(route, Response):
            return route
        api, method, headers = exchange.api, exchange.method, exchange.headers
        taker = route.methods.get(method)
        if taker is not None and taker.takes_files and taker.brings_files(headers):
            await in_a_task()
            ctx = exchange.context_of(taker)
            await taker.authorize_before_body(
                ctx, exchange, api.threads
            )  # before the body is stored
            async with arriving(taker, exchange, receive):
                exchange.unread = False
                reply = await whole(taker.serve(ctx, exchange, api.threads))
                return await self._begun(reply, exchange, receive)
        if "method_override" in api.service.leniency and method == "POST":
            await exchange.read(receive)
            meant = await find_overriding_method(exchange.body, headers, api.threads)
            if meant == "GET" and media_type_of(headers) == URLENCODED:
                parts = filter(None, (exchange.query, exchange.body))
                exchange.query = b"&".join(parts)  # a GET's parameters are in its query
            method = meant or method
        operation = operation_of(route, method)
        if isinstance(operation, Response):
            return operation
        if operation.body is not None and exchange.unread:
            await exchange.read(receive)
        ctx = exchange.context_of(operation)
        if operation.is_async:
            await in_a_task()
            ctx.wait = partial(self.waiting.wait, receive)
        response = await whole(operation.serve(ctx, exchange, api.threads))
        return await self._begun(response, exchange, receive) if response.is_stream else response

    async def _begun(self, response: Response, exchange: Exchange, receive: Receive) -> Response:
        """Return a response. If it is a stream, wait for its first piece."""
        if isinstance(response, Stream):
            await in_a_task()
            seconds = exchange.api.service.stream_timeout_s
            response.source = Source(response, self.waiting, receive, seconds)
            await response.source.begin()
        return response

    def _failure(self, error: Exception, exchange: Exchange) -> Response:
        """Return the service's response to an error. An unexpected 5xx is logged with its
        traceback, and a security event of the service is logged as such.
        """
        api = exchange.api
        name = _nearest(type(error), api.service.security_events)
        if name is not None:
            security_events.emit(
                name,
                caller=exchange,
                service=api.service.name,
                operation=exchange.operation_id,
                reason=type(error).__name__,
            )
        response = _respond(error, exchange)
        operation = exchange.operation
        if operation is not None and api.service.validate_responses:
            try:
                operation.check_refusal(response, error, exchange)
            except NonConformingResponse as wrong:
                wrong.__cause__ = error
                error, response = wrong, _respond(wrong, exchange)
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
        if api.explain is not None:
            api.explain(error, response)
        return response


def _respond(error: Exception, exchange: Exchange) -> Response:
    """Return the response of the service's error table to an error."""
    try:
        response = _refuse_in(exchange, error) or exchange.api.service.respond(
            error, exchange.request_id
        )
    except Exception:
        log.exception("error table failed", id=exchange.request_id)
        response = Response(500, b"{}")
    if isinstance(error, UnsupportedMediaType):
        response = replace(response, headers=(*response.headers, error.header))
    return response


def _refuse_in(exchange: Exchange, error: Exception) -> Response | None:
    """Return the service's response that depends on the operation, or None."""
    refuse_in, operation_id = exchange.api.service.refuse_in, exchange.operation_id
    return refuse_in(operation_id, error) if refuse_in and operation_id else None


def _below_root_path(scope: Scope) -> Scope:
    """Return the scope of an application that is mounted below a path, without this path."""
    root = scope["root_path"].rstrip("/")
    path, raw = scope["path"], scope.get("raw_path") or quote(scope["path"]).encode("ascii")
    start = quote(root).encode("ascii")
    if not (path.startswith(f"{root}/") and raw.startswith(start + b"/")):
        return scope
    return {**scope, "path": path[len(root) :], "raw_path": raw[len(start) :]}


def _is_as_sent(scope: Scope) -> bool:
    """Return whether a path was sent without any percent-encoding."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return bool(raw.partition(b"?")[0] == scope["path"].encode())


def _note_reader(scope: Scope, reader: Hashable) -> None:
    """Set the reader of the response, if our own server runs the application."""
    set_reader = scope.get(READER)
    if set_reader is not None:
        set_reader(reader)


def _request_ids() -> Iterator[str]:
    """Yield ids of 24 hexadecimal digits. Those of one process share a random prefix, which is
    generated with the first id, and therefore after the fork.
    """
    prefix = os.urandom(8).hex()
    for number in count(int.from_bytes(os.urandom(3), "big")):
        start = f"{prefix}{number & 0xFFFFFF:06x}"
        for end in _ENDS:
            yield start + end


def _nearest(kind: type[Exception], events: Mapping[type[Exception], Any]) -> Any:
    """Return the entry of a class of errors, or of its nearest base class, or None."""
    return next((events[base] for base in kind.__mro__ if base in events), None)


def _is_foreseen(status: int) -> bool:
    """Return whether a 5xx is expected: another system failed (502, 503), or a handler is not
    written yet (501). Any other 5xx is a bug.
    """
    return status in (501, 502, 503)
