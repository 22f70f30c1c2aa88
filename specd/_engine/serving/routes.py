"""Finds the operation of a request, and checks every response."""

from __future__ import annotations

from collections.abc import Awaitable

from connexion.exceptions import ProblemException

from specd import _tracing as tracing
from specd._engine.document.operation import Operation
from specd._engine.document.routing import Route
from specd._engine.errors import MethodNotAllowed, NotFound
from specd._engine.http.browsers import SAFE_METHODS
from specd._engine.http.cors import is_preflight
from specd._engine.http.guard import check_answer_headers, check_headers, check_target
from specd._engine.response import JSON, Response
from specd._engine.serving.exchange import Exchange


def find_route(exchange: Exchange) -> Route[Operation] | Response:
    """Return the route of a request, or the response with a published document or to a preflight
    request. Raise `NotFound` and the errors of the guard and of the service's origins.
    """
    api, path = exchange.api, exchange.path
    exchange.headers = headers = check_headers(exchange.sent, exchange.mapped)
    traceparent = headers.get(tracing.HEADER)
    if traceparent is not None or tracing.tracer is not None:
        exchange.begin_trace(traceparent)
    exchange.unread = b"content-length" in headers or b"transfer-encoding" in headers
    if api.is_shared and is_preflight(exchange.method, headers) and path not in api.documents:
        return _answer_preflight(exchange)
    check_target(path, exchange.query)
    found = api.router.find(path)
    if found is None:
        document = api.documents.get(path)
        if document is None:
            raise NotFound
        return document.respond(exchange.method, headers)
    if exchange.method not in SAFE_METHODS:
        api.service.origins.check(headers)
    route, exchange.texts = found
    return route


def _answer_preflight(exchange: Exchange) -> Response:
    """Return the response to a preflight request. It is not passed to an operation, because it has
    no credentials. A path that is refused gets a response too, because pages could not read the
    error otherwise.
    """
    allow: tuple[str, ...] = ()
    try:
        check_target(exchange.path, exchange.query)
        found = exchange.api.router.find(exchange.path)
        allow = () if found is None else tuple(found[0].allow)
    except ProblemException:
        pass
    sharing = exchange.api.service.origins.sharing
    shared = sharing.preflight(exchange.headers, allow)
    return Response(204, b"", ((("Allow", ", ".join(allow)),) if allow else ()) + shared)


def operation_of(route: Route[Operation], method: str) -> Operation | Response:
    """Return the operation of a method, or the response to OPTIONS. Raise `MethodNotAllowed`."""
    operation = route.methods.get(method)
    if operation is None and method == "HEAD":
        operation = route.methods.get("GET")
    if operation is None:
        if method == "OPTIONS":
            return Response(204, b"", (("Allow", ", ".join(route.allow)),))
        raise MethodNotAllowed(route.allow)
    return operation


def checked(response: Response) -> Response:
    """Return the same response. Raise `ValueError` for headers that cannot be sent."""
    if response.headers:
        check_answer_headers(response.headers)
    if response.media_type != JSON:
        check_answer_headers((("Content-Type", response.media_type),))
    return response


async def whole(reply: Response | Awaitable[Response]) -> Response:
    """Return an operation's response, and await it if necessary."""
    return reply if isinstance(reply, Response) else await reply


def merge_slashes(path: bytes) -> bytes:
    """Return a path with several slashes in a row replaced by one."""
    while path != (merged := path.replace(b"//", b"/")):
        path = merged
    return path
