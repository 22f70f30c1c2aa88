"""One request's way through one operation: authenticate, parse, validate, handle, encode.

Who asks is looked at twice where a request changes something: before anything it sent is parsed,
and again in the unit that makes the change, because much may have happened while it waited.

An `Operation` is immutable; everything that depends on the document alone was decided when it was
made. Where the work runs is decided by the database and the document: a read that never waits
(SQLite) runs on the event loop, unless it may take long there: one that answers with a list, and
whatever came with a request of more than `SMALL` bytes, runs in one of the threads for that. What
may wait for a lock or a network runs in one hop in the service's threads.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from security_events import asking
from server.context import Context
from server.document.bodies import Body
from server.document.parameters import Parameters, parse_pairs
from server.document.responses import Responses
from server.document.security import Check
from server.document.threads import Threads
from server.errors import InvalidRequest, Unauthenticated, Violation
from server.phases import is_reading, preparation_of
from server.response import Response, as_response
from server.service import Service

SMALL = 8 * 1024
ENGINE_HEADERS = frozenset(("content-type", "content-length", "request-id"))


class Call:
    """What one request sent, before anything of it is trusted."""

    __slots__ = ("body", "extra_headers", "headers", "path", "query")

    def __init__(
        self,
        headers: Mapping[bytes, bytes],
        path: Mapping[str, list[str]],
        query: bytes,
        body: bytes,
    ) -> None:
        self.headers = headers
        self.path = path
        self.query = query
        self.body = body
        self.extra_headers: tuple[tuple[str, str], ...] = ()


class Operation:
    """One operation of a document, bound to its handler and ready to serve."""

    __slots__ = (
        "_authenticate",
        "_inline_reads",
        "_is_async",
        "_is_long_read",
        "_prepare_function",
        "body",
        "function",
        "header_parameters",
        "method",
        "operation_id",
        "path",
        "path_parameters",
        "query_parameters",
        "readonly",
        "responses",
        "role",
        "service",
    )

    def __init__(
        self,
        *,
        service: Service,
        operation_id: str,
        method: str,
        path: str,
        function: Callable[..., Any],
        authenticate: Check | None,
        role: str | None,
        path_parameters: Parameters,
        query_parameters: Parameters,
        header_parameters: Parameters,
        body: Body | None,
        responses: Responses,
    ) -> None:
        self.service = service
        self.operation_id = operation_id
        self.method = method
        self.path = path
        self.function = function
        self.role = role
        self.path_parameters = path_parameters
        self.query_parameters = query_parameters
        self.header_parameters = header_parameters
        self.body = body
        self.responses = responses
        self.readonly = method == "GET" or is_reading(function)
        self._authenticate = authenticate
        self._is_async = inspect.iscoroutinefunction(function)
        self._inline_reads = service.database is None or service.database.reads_inline
        self._is_long_read = is_reading(function) or (self.readonly and responses.hold_lists)
        self._prepare_function = preparation_of(function)

    @property
    def argument_names(self) -> frozenset[str]:
        """Every keyword a request may give the handler."""
        places = (self.path_parameters, self.query_parameters, self.header_parameters)
        names = {parameter.argument for place in places for parameter in place.declared}
        return frozenset(names | (self.body.arguments if self.body else set()))

    @property
    def optional(self) -> frozenset[str]:
        """The keywords that a valid request may leave out."""
        places = (self.path_parameters, self.query_parameters, self.header_parameters)
        names = {
            parameter.argument
            for place in places
            for parameter in place.declared
            if not parameter.required and not parameter.has_default
        }
        return frozenset(names | (self.body.optional if self.body else set()))

    async def serve(self, ctx: Context, call: Call, threads: Threads) -> Response:
        """The answer to one request. Raises what the service's error table maps."""
        database = self.service.database
        if database is None:
            arguments = self._prepare(ctx, call)
            if self._is_async:
                return self._finish(await self.function(ctx, **arguments), call)
            return self._finish(self.function(ctx, **arguments), call)
        loop = asyncio.get_running_loop()
        is_large = len(call.query) + len(call.body) > SMALL
        if self._is_async:
            return await self._serve_async(ctx, call, threads, is_large=is_large)
        if self.readonly:
            if self._inline_reads and not (self._is_long_read or is_large):
                return self._read(ctx, call)
            return await loop.run_in_executor(threads.reading, self._read, ctx, call)
        if not self._inline_reads:
            return await loop.run_in_executor(threads.writing, self._prepare_and_write, ctx, call)
        arguments = await self._prepare_off(ctx, call, threads, is_large=is_large)
        return await loop.run_in_executor(threads.writing, self._write, ctx, call, arguments)

    async def _prepare_off(
        self, ctx: Context, call: Call, threads: Threads, *, is_large: bool
    ) -> dict[str, Any]:
        """The handler's arguments, and its first phase where it has two; on the event loop only
        where that takes no time.
        """
        if self._inline_reads and not is_large and self._prepare_function is None:
            return self._prepare_with(ctx, call)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads.reading, self._prepare_with, ctx, call)

    async def _serve_async(
        self, ctx: Context, call: Call, threads: Threads, *, is_large: bool
    ) -> Response:
        loop = asyncio.get_running_loop()
        database = self.service.database
        assert database is not None
        arguments = await self._prepare_off(ctx, call, threads, is_large=is_large)
        ctx.session = None

        def read(work: Callable[[Any], Any]) -> Any:
            with database.reading() as connection:
                return work(connection)

        def write(work: Callable[[Any], Any]) -> Any:
            def unit(session: Any) -> Any:
                self._ask_again(ctx, session)
                return work(session)

            return database.run(_asked_by(ctx, unit))

        ctx.bind_units(
            read=lambda work: loop.run_in_executor(threads.reading, read, work),
            write=lambda work: loop.run_in_executor(threads.writing, write, work),
            write_down=lambda work: loop.run_in_executor(
                threads.writing, database.run, _asked_by(ctx, work)
            ),
        )
        return self._finish(await self.function(ctx, **arguments), call)

    def _prepare_with(self, ctx: Context, call: Call) -> dict[str, Any]:
        assert self.service.database is not None
        with self.service.database.reading() as connection:
            ctx.session = connection
            arguments = self._prepare(ctx, call)
            if self._prepare_function is not None:
                ctx.prepared = self._prepare_function(ctx, **arguments)
            return arguments

    def _read(self, ctx: Context, call: Call) -> Response:
        assert self.service.database is not None
        with self.service.database.reading() as connection:
            ctx.session = connection
            arguments = self._prepare(ctx, call)
            return self._finish(self.function(ctx, **arguments), call)

    def _prepare_and_write(self, ctx: Context, call: Call) -> Response:
        return self._write(ctx, call, self._prepare_with(ctx, call))

    def _write(self, ctx: Context, call: Call, arguments: dict[str, Any]) -> Response:
        # The answer is encoded and checked inside the unit: an answer that cannot go out must not
        # leave its effects behind.
        def work(session: Any) -> Response:
            self._ask_again(ctx, session)
            ctx.session = session
            with asking(ctx):
                return self._finish(self.function(ctx, **arguments), call)

        assert self.service.database is not None
        return self.service.database.run(work)

    def _ask_again(self, ctx: Context, session: Any) -> None:
        """Who asks, and whether they may, as it is in this write unit."""
        if self._authenticate is None:
            return
        here = copy.copy(ctx)  # the session of an async handler stays None
        here.session = session
        ctx.actor = here.actor = self._authenticate(here)
        if self.role is not None:
            assert self.service.require_role is not None
            self.service.require_role(here, self.role)

    def _finish(self, reply: Any, call: Call) -> Response:
        response = as_response(reply)
        if self.service.validate_responses:
            names = (name.lower() for name, _ in (*response.headers, *call.extra_headers))
            self.responses.check(response, ENGINE_HEADERS.union(names))
        return response

    def _prepare(self, ctx: Context, call: Call) -> dict[str, Any]:
        """Who asks, whether they may, and the handler's arguments, in this order."""
        service = self.service
        if self._authenticate is not None:
            try:
                ctx.actor = self._authenticate(ctx)
            except Exception as error:
                if service.rate_limit is not None:
                    call.extra_headers = service.rate_limit.take(ctx)
                if service.refuse is not None and isinstance(error, Unauthenticated):
                    raise service.refuse(ctx) from None
                raise
        if service.rate_limit is not None:
            call.extra_headers = service.rate_limit.take(ctx)
        if self.role is not None:
            assert service.require_role is not None, "x-required-role needs Service.require_role"
            service.require_role(ctx, self.role)
        return self._parse(ctx, call)

    def _parse(self, ctx: Context, call: Call) -> dict[str, Any]:
        """Handler arguments from everything sent, or all that is wrong with it at once."""
        arguments: dict[str, Any] = {}
        violations: list[Violation] = []
        query: dict[str, list[str]] = {}
        unknown: set[str] = set()
        if self.path_parameters:
            try:
                ctx.path_parameters = self.path_parameters.arguments(call.path)
            except InvalidRequest:
                if self.service.malformed_path is not None:
                    raise self.service.malformed_path() from None
                raise
            arguments.update(ctx.path_parameters)
        if call.query:
            query = parse_pairs(call.query, "query")
            unknown = query.keys() - self.query_parameters.names
            if self.service.form_in_query and self.body is not None and self.body.form is not None:
                unknown -= self.body.form.names
        if self.header_parameters:
            try:
                arguments.update(self.header_parameters.arguments(self._header_texts(call)))
            except InvalidRequest as error:
                violations.extend(error.violations)
        if self.query_parameters:
            try:
                arguments.update(self.query_parameters.arguments(query))
            except InvalidRequest as error:
                violations.extend(error.violations)
        if self.body is not None:
            try:
                values, unknown_fields = self.body.decode(call.body, call.headers, query)
                arguments.update(values)
                unknown |= unknown_fields
            except InvalidRequest as error:
                violations.extend(error.violations)
        if unknown:
            ctx.unknown_parameters = tuple(sorted(unknown))
        if violations:
            raise InvalidRequest(violations)
        return arguments

    def _header_texts(self, call: Call) -> dict[str, list[str]]:
        texts = {}
        for parameter in self.header_parameters.declared:
            value = call.headers.get(parameter.raw_name)
            if value is not None:
                texts[parameter.name] = [value.decode("latin-1")]
        return texts


def _asked_by(ctx: Context, work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`work`, whose events are told as this request's."""

    def asked(session: Any) -> Any:
        with asking(ctx):
            return work(session)

    return asked
