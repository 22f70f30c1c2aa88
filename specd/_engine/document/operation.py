"""Operations, and the steps of a request: authenticate, parse, validate, handle, encode.

An `Operation` is immutable. Everything that depends only on the document is computed when it is
created. execution.py has its subclasses, with and without a database.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from specd._engine.context import Context
from specd._engine.document.bodies import Body
from specd._engine.document.parameters import Parameter, Parameters
from specd._engine.document.querystrings import Querystring
from specd._engine.document.responses import Responses
from specd._engine.document.security import Check
from specd._engine.document.styles import RawTexts, cookie_pairs
from specd._engine.errors import (
    InvalidRequest,
    NotFound,
    Unauthenticated,
    Violation,
    must_be_documented,
)
from specd._engine.files import File
from specd._engine.http.queries import find_violations, parse_pairs, parse_raw_pairs
from specd._engine.phases import is_reading
from specd._engine.response import Response, as_response, is_iterator
from specd._engine.service import Service
from specd._engine.threads import Threads

SAFE_METHODS = ("GET", "HEAD", "QUERY")
"""Safe methods (RFC 9110, section 9.2.1, and OpenAPI 3.2's QUERY)."""


def _pattern_of(segment: str) -> re.Pattern[bytes]:
    """Return the pattern that splits a raw path segment, as the router splits a decoded one. The
    fixed text may be percent-encoded too.
    """
    texts = re.split(r"{[^{}]*}", segment)
    own = [
        "".join(rf"(?:\x{each:02x}|(?i:%{each:02x}))" for each in text.encode()) for text in texts
    ]
    return re.compile("(.+?)".join(own).encode(), re.DOTALL)


class Call:
    """One request as it was sent, before any validation."""

    __slots__ = (
        "body",
        "extra_headers",
        "fields",
        "headers",
        "is_authorized",
        "path",
        "query",
        "texts",
    )

    body: bytes
    headers: Mapping[bytes, bytes]
    path: bytes
    query: bytes
    texts: Mapping[str, list[str]]  # path parameters
    fields: Mapping[str, list[Any]] | File | None
    """A form that was read as it arrived, or a body that is a file. It replaces `body`."""
    extra_headers: tuple[tuple[str, str], ...]
    """Headers of the response in addition to those of the handler."""
    is_authorized: bool
    """Whether authentication and authorization ran before the body was read."""


class Operation(ABC):
    """One operation of a document, bound to its handler and ready to serve."""

    __slots__ = (
        "_is_finite",
        "_is_json",
        "_others",
        "_segments",
        "authenticate",
        "body",
        "cookie_parameters",
        "function",
        "header_parameters",
        "is_async",
        "method",
        "operation_id",
        "path",
        "path_parameters",
        "query_parameters",
        "querystring",
        "readonly",
        "responses",
        "role",
        "service",
        "takes_files",
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
        cookie_parameters: Parameters,
        querystring: Querystring | None,
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
        self.cookie_parameters = cookie_parameters
        self.querystring = querystring
        self.body = body
        self.responses = responses
        self.readonly = method in SAFE_METHODS or is_reading(function)
        self.authenticate = authenticate
        self.is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(
            function
        )
        self.takes_files = service.files is not None and body is not None and body.takes_files
        """Whether the body may contain files, which are written to the disk as they arrive."""
        self._is_json = responses.are_json
        self._is_finite = responses.are_finite
        path_parameters.raw_of = self._raw_path
        query_parameters.raw_of = _raw_query
        header_parameters.raw_of = self._raw_headers
        cookie_parameters.raw_of = _raw_cookies
        self._others: list[Callable[[Call], dict[str, Any]]] = []
        """The functions that read the parameters that few operations have."""
        if cookie_parameters.declared:
            self._others.append(partial(cookie_parameters.arguments, {}))
        if querystring is not None:
            self._others.append(lambda call: querystring.arguments(call.query))
        self._segments = [
            (at, re.findall(r"{([^{}]*)}", segment), _pattern_of(segment))
            for at, segment in enumerate(path.split("/"))
            if "{" in segment
        ]

    @property
    def parameters(self) -> list[Parameter]:
        """All parameters in the path, the query, the headers and the cookies."""
        places = (
            self.path_parameters,
            self.query_parameters,
            self.header_parameters,
            self.cookie_parameters,
        )
        found = [parameter for place in places for parameter in place.declared]
        return found if self.querystring is None else [*found, self.querystring.parameter]

    @property
    def argument_names(self) -> frozenset[str]:
        """All keyword arguments that a request may set."""
        names = {parameter.argument for parameter in self.parameters}
        return frozenset(names | (self.body.arguments if self.body else set()))

    @property
    def optional(self) -> frozenset[str]:
        """The keyword arguments that a valid request may omit."""
        names = {
            parameter.argument
            for parameter in self.parameters
            if not parameter.required and not parameter.has_default
        }
        return frozenset(names | (self.body.optional if self.body else set()))

    def brings_files(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether a request's body must be written to the disk as it arrives."""
        return self.body is not None and self.body.arrival_of(headers) is not None

    @abstractmethod
    async def authorize_before_body(self, ctx: Context, call: Call, threads: Threads) -> None:
        """Authenticate and authorize before the body is read. Raise the errors that `serve` would
        raise first.
        """

    @abstractmethod
    def serve(self, ctx: Context, call: Call, threads: Threads) -> Response | Awaitable[Response]:
        """Return the response to one request, or an awaitable. Raise errors for the service's error
        table.
        """

    def finish(self, reply: Any, call: Call) -> Response:
        """Return the response for a handler's return value, validated if the service validates
        responses.
        """
        validates = self.service.validate_responses
        responses = self.responses
        try:
            if self._is_json:
                response = as_response(reply, is_finite=self._is_finite)
            else:
                response = responses.as_response(reply, validates=validates)
        except TypeError:  # no JSON
            if not is_iterator(reply[0] if type(reply) is tuple else reply):
                raise
            response = responses.as_response(reply, validates=validates)
        if validates:
            self._check(response, call, is_error=response.status >= 400)
        return response

    def check_refusal(self, response: Response, error: Exception, call: Call) -> None:
        """Raise `NonConformingResponse` unless the document allows this response to an error.
        Ignore an undocumented status that does not have to be documented. An entry without
        `content` allows any body.
        """
        if self.responses.has(response.status) or must_be_documented(type(error), response.status):
            self._check(response, call, is_error=True)

    def _check(self, response: Response, call: Call, *, is_error: bool = False) -> None:
        headers = (*response.headers, *call.extra_headers)
        sent = {name.lower(): value for name, value in headers}
        self.responses.check(response, sent, is_error=is_error)

    def authorize(self, ctx: Context, call: Call) -> None:
        """Authenticate, count and authorize the request. Raise the error of a refusal."""
        service = self.service
        ctx.texts, ctx.content = call.texts, call.body
        if self.authenticate is not None:
            try:
                ctx.actor = self.authenticate(ctx)
            except Exception as error:
                if service.rate_limit is not None:
                    call.extra_headers = service.rate_limit.take(ctx)
                if service.refuse is not None and isinstance(error, Unauthenticated):
                    raise service.refuse(ctx) from None
                raise
        if service.rate_limit is not None:
            call.extra_headers = service.rate_limit.take(ctx)
        if self.role is not None:
            self.require_role(ctx)
        call.is_authorized = True

    def require_role(self, ctx: Context) -> None:
        """Raise the service's error if the actor does not have the role that the document names."""
        if self.role is not None:
            assert self.service.require_role is not None  # the compiler refuses such a document
            self.service.require_role(ctx, self.role)

    def prepare(self, ctx: Context, call: Call) -> dict[str, Any]:
        """Authenticate and authorize, then return the handler's arguments. Raise one error with all
        mistakes of the request.
        """
        service = self.service
        if not call.is_authorized:
            self.authorize(ctx, call)
        arguments: dict[str, Any] = {}
        violations: list[Violation] = []
        query: dict[str, list[str]] = {}
        unknown: set[str] = set()
        if self.path_parameters.declared:
            try:
                ctx.path_parameters = self.path_parameters.arguments(call.texts, call)
            except InvalidRequest:
                if "malformed_paths" in service.leniency:
                    raise NotFound from None
                raise
            arguments.update(ctx.path_parameters)
        if call.query and self.querystring is None:
            query = parse_pairs(call.query, "query")
            if not query.keys() <= self.query_parameters.names:
                unknown = self.query_parameters.unknown_of(query)
            form = None if self.body is None else self.body.form
            if form is not None and "form_in_query" in service.leniency:
                unknown -= form.names
            if service.strict_queries:
                known, single = self.query_parameters.names, self.query_parameters.single
                violations += find_violations(query, unknown, known=known, single=single)
                unknown = set()
        if self.header_parameters.declared:
            try:
                arguments.update(self._header_arguments(call))
            except InvalidRequest as error:
                violations.extend(error.violations)
        if self.query_parameters.declared:
            try:
                arguments.update(self.query_parameters.arguments(query, call))
            except InvalidRequest as error:
                violations.extend(error.violations)
        for read in self._others:
            try:
                arguments.update(read(call))
            except InvalidRequest as error:
                violations.extend(error.violations)
        if self.body is not None:
            ctx.content = call.body
            try:
                if call.fields is not None:
                    values, unknown_fields = self.body.decode_arrived(call.fields, query)
                else:
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

    def _raw_path(self, call: Call) -> RawTexts:
        """Return the path parameters with their percent-encoding."""
        segments = call.path.split(b"/")
        raw: dict[str, Sequence[bytes]] = {}
        for at, names, pattern in self._segments:
            found = pattern.fullmatch(segments[at])
            assert found is not None  # because the router matched it
            raw |= {name: (text,) for name, text in zip(names, found.groups(), strict=True)}
        return raw

    def _header_arguments(self, call: Call) -> dict[str, Any]:
        parameters, sent = self.header_parameters, call.headers
        texts = {}
        for parameter in parameters.declared:
            value = sent.get(parameter.raw_name)
            if value is not None:
                texts[parameter.name] = [value.decode("latin-1")]
        return parameters.arguments(texts, call)

    def _raw_headers(self, call: Call) -> RawTexts:
        sent = call.headers
        declared = self.header_parameters.declared
        return {p.name: (sent[p.raw_name],) for p in declared if p.raw_name in sent}


def _raw_query(call: Call) -> RawTexts:
    return parse_raw_pairs(call.query, "query")


def _raw_cookies(call: Call) -> RawTexts:
    return cookie_pairs(call.headers.get(b"cookie", b""))
