"""The same documents and handlers on stock connexion's AsyncApp.

They are unchanged: a resolver wraps each function and passes its `ctx`, security handlers adapt
ours to its calling convention, and errors use the service's own table.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from connexion import AsyncApp
from connexion.context import context as connexion_context
from connexion.context import request as connexion_request
from connexion.exceptions import ProblemException
from connexion.lifecycle import ConnexionRequest, ConnexionResponse
from connexion.operations import AbstractOperation
from connexion.options import SwaggerUIOptions
from connexion.resolver import Resolution, Resolver
from connexion.security import (
    ApiKeySecurityHandler,
    BasicSecurityHandler,
    BearerSecurityHandler,
)
from starlette.exceptions import HTTPException

from specd import Context, Response
from specd._engine.context import WITHOUT_DATABASE
from specd._engine.openapi.naming import argument_name, handler_of
from specd._engine.openapi.structure import lookup
from specd._engine.phases import preparation_of, taking_its_own
from specd._engine.response import as_response
from specd._engine.service import Service

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def make_context(service: Service, request: Any, operation: Any) -> Context:
    """Return our `ctx` from the data of stock connexion about a request."""
    headers: dict[bytes, bytes] = {}
    for name, value in request._starlette_request.headers.raw:
        headers[name] = headers[name] + b", " + value if name in headers else value
    ctx: Context = Context(
        operation=operation,
        headers=headers,
        client="",
        now=service.clock.now(),
        request_id="0" * 24,
        settings=service.settings,
        adapters=service.adapters,
    )
    ctx.idempotency = service.idempotency
    return ctx


class Unit:
    """A unit of work with an optional database."""

    def __init__(self, service: Service) -> None:
        self.database = service.database

    def read_in(self, work: Callable[[Any], Any], *, is_snapshot: bool = False) -> Any:
        if self.database is None:
            return work(WITHOUT_DATABASE)
        with self.database.reading_unit(is_snapshot=is_snapshot) as part:
            return work(part)

    def write_in(self, work: Callable[[Any], Any]) -> Any:
        if self.database is None:
            return work(WITHOUT_DATABASE)
        return self.database.run_unit(work)

    def read(self, work: Callable[[Any], Any]) -> Any:
        return self.read_in(lambda part: work(part.connection))

    def read_snapshot(self, work: Callable[[Any], Any]) -> Any:
        return self.read_in(lambda part: work(part.connection), is_snapshot=True)

    def write(self, work: Callable[[Any], Any]) -> Any:
        return self.write_in(lambda part: work(part.session))


class StockResolver(Resolver):
    """Finds functions like our resolver, and wraps them for connexion's calling convention."""

    def __init__(self, service: Service, reached: Callable[[], Response | None]) -> None:
        super().__init__()
        self.service = service
        self.reached = reached

    def resolve(self, operation: AbstractOperation) -> Resolution:
        raw = self.service.document["paths"][operation.path][operation.method]
        name = str(handler_of(self.service.handlers, operation.path, operation.method, raw))
        function = self.resolve_function_from_operation_id(name)
        return Resolution(self._wrap(function, operation), name)

    def _wrap(self, function: Callable[..., Any], operation: AbstractOperation) -> Any:
        service, unit = self.service, Unit(self.service)
        first = preparation_of(function)
        phases = [function] if first is None else [first, function]
        takes = {name for phase in phases for name in inspect.signature(phase).parameters} - {"ctx"}
        facts = SimpleNamespace(
            operation_id=operation.operation_id,
            method=operation.method.upper(),
            path=service.base_path + operation.path.removeprefix(service.base_path),
        )

        def prepare(sent: Mapping[str, Any]) -> tuple[Context, dict[str, Any]]:
            ctx = make_context(service, connexion_request, facts)
            ctx.actor = (connexion_context.get("token_info") or {}).get("sub")
            ctx.path_parameters = {
                argument_name(p["name"]): sent[argument_name(p["name"])]
                for p in operation.parameters
                if p["in"] == "path"
            }
            values = {argument_name(k): v for k, v in sent.items()} | dict(sent)
            for parameter in operation.parameters:  # connexion does not pass headers
                value = ctx.header(parameter["name"])
                if parameter["in"] == "header" and value is not None:
                    values[argument_name(parameter["name"])] = value
            if connexion_request.mimetype in FORMS:
                schema = operation.body_schema(connexion_request.mimetype)
                for name, item in schema.get("properties", {}).items():
                    if "default" in item:
                        values.setdefault(argument_name(name), item["default"])
                values |= {argument_name(k): v for k, v in (sent.get("body") or {}).items()}
            return ctx, {name: value for name, value in values.items() if name in takes}

        async def call(**sent: Any) -> ConnexionResponse:
            stopped = self.reached()
            if stopped is not None:
                return answer(stopped)
            ctx, arguments = prepare(sent)
            if inspect.iscoroutinefunction(function):
                ctx.read = lambda work: asyncio.to_thread(unit.read, work)
                ctx.read_snapshot = lambda work: asyncio.to_thread(unit.read_snapshot, work)
                ctx.write = ctx.write_down = lambda work: asyncio.to_thread(unit.write, work)
                ctx.wait = wait
                return answer(as_response(await function(ctx, **arguments)))

            def look(part: Any) -> Any:
                ctx._unit = part
                return taking_its_own(first)(ctx, **arguments)

            made = [] if first is None else [await asyncio.to_thread(unit.read_in, look)]

            def work(part: Any) -> Response:
                ctx._unit = part
                return as_response(taking_its_own(function)(ctx, *made, **arguments))

            run = unit.read_in if facts.method == "GET" else unit.write_in
            return answer(await asyncio.to_thread(run, work))

        return call


async def wait(future: asyncio.Future[Any], seconds: float) -> bool:
    done, _ = await asyncio.wait([future], timeout=seconds)
    return bool(done)


def answer(response: Response) -> ConnexionResponse:
    return ConnexionResponse(
        status_code=response.status,
        mimetype=response.media_type,
        content_type=response.media_type,
        body=response.body,
        headers=dict(response.headers),
    )


def security_map(service: Service) -> dict[str, Any]:
    """Return connexion's own security handlers, which call our functions with our context."""
    unit = Unit(service)

    def adapt(function: Callable[..., Any]) -> Callable[..., Any]:
        wants_request = "request" in inspect.signature(function).parameters

        def check(*credentials: str, request: Any) -> dict[str, Any] | None:
            def work(part: Any) -> Any:
                if not wants_request:
                    return function(*credentials)
                ctx = make_context(service, request, None)
                ctx._unit = part
                return function(*credentials, request=ctx)

            actor = unit.read_in(work)
            return None if actor is None else {"sub": actor}

        return check

    def handler(base: Any) -> Any:
        class Adapted(base):
            def _generic_check(self, func: Any, exception_msg: str) -> Any:
                return super()._generic_check(adapt(func), exception_msg)

        return Adapted

    return {
        "bearer": handler(BearerSecurityHandler),
        "basic": handler(BasicSecurityHandler),
        "apiKey": handler(ApiKeySecurityHandler),
    }


def servable(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without the parts that stock connexion cannot serve, which `oracles`
    lists.
    """

    def parameters(nodes: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        kept = []
        for node in nodes:
            parameter = lookup(document, node["$ref"]) if "$ref" in node else node
            if "type" in parameter.get("schema", {}) or "$ref" in parameter.get("schema", {}):
                kept.append(node)
        return kept

    def visit(node: Any) -> Any:
        if isinstance(node, list):
            return [visit(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        made = {key: visit(item) for key, item in node.items()}
        if isinstance(made.get("parameters"), list):
            made["parameters"] = parameters(made["parameters"])
        properties = made.get("properties")
        if isinstance(properties, dict):
            hidden = {n for n, item in properties.items() if item.get("readOnly")}
            made["properties"] = {n: v for n, v in properties.items() if n not in hidden}
            if "required" in made:
                made["required"] = [name for name in made["required"] if name not in hidden]
        return made

    served: dict[str, Any] = visit(document)
    served["paths"] = dict(sorted(served["paths"].items(), key=lambda item: "{" in item[0]))
    return served


def build_stock(
    service: Service, *, reached: Callable[[], Response | None] = lambda: None
) -> AsyncApp:
    """Return stock connexion with a service's document and handlers. `reached` is called for every
    request that reaches a handler, and can return its response.
    """
    app = AsyncApp(__name__)

    def respond(_: ConnexionRequest, error: Exception) -> ConnexionResponse:
        if isinstance(error, HTTPException) and not isinstance(error, ProblemException):
            error = ProblemException(status=error.status_code, title=str(error.detail))
        return answer(service.respond(error, "0" * 24))

    async def respond_async(request: ConnexionRequest, error: Exception) -> ConnexionResponse:
        return respond(request, error)

    for kind in (ProblemException, HTTPException, Exception):
        app.add_error_handler(kind, respond_async)
    document = servable(service.document)
    inside = any(path.startswith(f"{service.base_path}/") for path in document["paths"])
    app.add_api(
        document,
        base_path="" if inside else service.base_path,
        resolver=StockResolver(service, reached),
        pythonic_params=True,
        strict_validation=service.strict_queries,
        security_map=security_map(service),
        swagger_ui_options=SwaggerUIOptions(swagger_ui=False),
    )
    return app
