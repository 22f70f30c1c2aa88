"""Compiles documents at the start: every operation becomes one immutable pipeline.

connexion finds each operation's function and the functions of security schemes. All mistakes that
can be found before a request are reported here, with their operation and place.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from connexion.exceptions import ResolverError
from connexion.operations import AbstractOperation
from connexion.resolver import Resolution, Resolver
from connexion.spec import Specification

from specd._engine.document.bodies import Body
from specd._engine.document.connexion_seams import OperationsOfDocument
from specd._engine.document.execution import operation_of
from specd._engine.document.media import MULTIPART, URLENCODED
from specd._engine.document.operation import Operation
from specd._engine.document.parameters import ArgumentNames, Parameters, is_integer
from specd._engine.document.querystrings import Querystring
from specd._engine.document.responses import Responses
from specd._engine.document.routing import Router
from specd._engine.document.schemas import Schemas
from specd._engine.document.security import compile_security, query_keys
from specd._engine.document.signatures import spot_of, wanted
from specd._engine.errors import DocumentError, DocumentErrors
from specd._engine.idempotency import is_idempotent
from specd._engine.openapi.naming import handlers_of, name_by_hand
from specd._engine.openapi.structure import resolved
from specd._engine.openapi.wording import did_you_mean, reach
from specd._engine.phases import preparation_of
from specd._engine.service import Service

BODILESS = ("GET", "HEAD")
NO_FIELDS: Mapping[str, Any] = {
    "content": {key: {"schema": {"properties": {}}} for key in (URLENCODED, MULTIPART)}
}
"""A form without fields."""


def skeleton(service: Service) -> dict[str, Any]:
    """Return the parts of a service's documents that connexion needs: operations, their handler
    functions, and security. The other parts are compiled here, for every version of OpenAPI.
    """
    document = service.document
    schemes = document.get("components", {}).get("securitySchemes", {})
    operations = [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]
    has_modules = not is_single_module(service.handlers)
    handlers = handlers_of(
        service.handlers, operations, has_modules=has_modules, snake_case=service.snake_case
    )
    paths: dict[str, dict[str, Any]] = {}
    for path, method, operation in operations:
        paths.setdefault(path, {})[method] = {
            "operationId": str(handlers[path, method]),
            "security": _security_of(service, operation, schemes),
            "responses": {"default": {"description": ""}},
        }
    return {
        "openapi": "3.0.3",
        "info": {"title": service.name, "version": "1"},
        "paths": paths,
        "components": {
            "securitySchemes": {
                name: dict(resolved(document, scheme)) for name, scheme in schemes.items()
            }
        },
    }


def _security_of(service: Service, operation: Mapping[str, Any], schemes: Mapping[str, Any]) -> Any:
    """Return the security requirements of an operation. If its security is optional, it accepts the
    credentials of each scheme.
    """
    own = operation.get("security", service.document.get("security", []))
    if not own and str(operation["operationId"]) in service.optional_security:
        return [{}, *({name: []} for name in schemes)]
    return own


class _Handlers(Resolver):
    """Finds handlers, with `find_handler` if it is given. A missing handler is replaced by an
    `_Absent` function, so that its operation is still compiled and the error can show the signature
    of the handler.
    """

    def __init__(self, find_handler: Callable[[str, str], Callable[..., Any]] | None) -> None:
        super().__init__()
        self._find_handler = find_handler

    def resolve(self, operation: AbstractOperation) -> Resolution:
        """Return the function of an operation."""
        if self._find_handler is None:
            return super().resolve(operation)
        function = self._find_handler(operation.path, operation.method)
        return Resolution(function, operation.operation_id)

    def resolve_function_from_operation_id(self, operation_id: str) -> Callable[..., Any]:
        try:
            function: Callable[..., Any] = super().resolve_function_from_operation_id(operation_id)
        except ResolverError as error:
            module, _, name = operation_id.rpartition(".")
            by_hand = name_by_hand(name)
            if by_hand != name:
                with suppress(ImportError, AttributeError):
                    written = getattr(importlib.import_module(module), by_hand)
                    if is_handler(written, module):
                        return written  # type: ignore[no-any-return]
            return _Absent(operation_id, str(error))
        return function


class _Absent:
    def __init__(self, dotted: str, reason: str) -> None:
        self.module, _, self.name = dotted.rpartition(".")
        self.reason = reason

    def __call__(self, ctx: Any, **_: Any) -> Any:
        raise NotImplementedError

    def fault(self, operation: Operation, place: str) -> str:
        """Return the message about the missing function of an operation."""
        with suppress(ImportError):
            module = importlib.import_module(self.module)
            handlers = [name for name, it in vars(module).items() if is_handler(it, self.module)]
            right = did_you_mean(self.name, handlers)
            if right:
                return f"{place}: no function {self.module}.{self.name}{right}"
        return (
            f"{place}: no function {self.module}.{self.name} ({self.reason}): "
            f"write `{wanted(operation, self.name)}`"
        )


class CompiledAPI(OperationsOfDocument[Operation]):
    """The compiled operations of one service, and their router."""

    def __init__(self, specification: Specification, *, service: Service) -> None:
        self.service = service
        self.document: Mapping[str, Any] = service.document
        self.router: Router[Operation] = Router(
            strict_integers="malformed_paths" in service.leniency
        )
        self.operations: dict[str, Operation] = {}
        self.requests = Schemas(self.document, drop="readOnly")
        self.answers = Schemas(self.document, drop="writeOnly")
        self._errors: list[DocumentError] = []
        self._places: dict[str, tuple[str, str, str]] = {}
        """The name of an operation in errors -> the steps to it."""
        self._named: set[Callable[..., Any]] = set()
        """The functions that operations name, including those that do not fit."""
        resolver = _Handlers(service.find_handler)
        super().__init__(
            specification, base_path=service.base_path, resolver=resolver, pythonic_params=True
        )
        self._find_dead_handlers()
        self._check_optional_security()
        for schemas in (self.requests, self.answers):
            try:
                schemas.finish()
            except DocumentError as error:
                several = error.errors if isinstance(error, DocumentErrors) else (error,)
                self._errors += [DocumentError(str(one), self._holder(one)) for one in several]
        if self._errors:
            raise DocumentErrors(self._errors)

    def _holder(self, error: DocumentError) -> tuple[str | int, ...]:
        """Return the steps to the place of a schema's error, or else to its operation."""
        held = (at for place, at in self._places.items() if str(error).startswith(place))
        return error.at or next(held, ())

    def make_operation(self, operation: AbstractOperation) -> Operation:
        """Compile one operation. Raise `DocumentError`."""
        path, method = operation.path, operation.method
        self._named.add(operation.function)
        raw = self.document["paths"][path][method]
        operation_id = str(raw["operationId"])
        place = f"{self.service.name}: {operation_id} ({method.upper()} {path})"
        self._places[place] = ("paths", path, method)
        if operation_id in self.operations:
            raise DocumentError(f"{place}: this operationId is used twice")
        if "x-required-role" in raw and self.service.require_role is None:
            raise DocumentError(f"{place}: x-required-role needs the service's require_role")
        declared = self._parameters(raw)
        body = raw.get("requestBody")
        security = operation.security or []
        keys = query_keys(security, operation.security_schemes)
        names = ArgumentNames("ctx", *(() if body is None else ("body",)))
        compiled = operation_of(
            self.service,
            operation_id=operation_id,
            method=method.upper(),
            # The paths of a document may or may not include the base path.
            path=path if path.startswith(self.base_path + "/") else self.base_path + path,
            function=operation.function,
            authenticate=compile_security(security, operation.security_schemes, place),
            role=raw.get("x-required-role"),
            path_parameters=self._in("path", declared, place, names),
            query_parameters=self._in("query", declared, place, names, keys),
            header_parameters=self._in("header", declared, place, names),
            cookie_parameters=self._in("cookie", declared, place, names),
            querystring=self._querystring(declared, place, names),
            body=self._body(
                method, None if body is None else self.requests.resolve(body), place, names
            ),
            responses=Responses(
                raw.get("responses", {}),
                self.answers,
                place,
                with_headers=self.service.validate_responses,
            ),
        )
        if is_idempotent(operation.function) and self.service.idempotency is None:
            raise DocumentError(
                f"{place}: the handler is idempotent, and the service has no table of keys; add one"
                " to its models: `class IdempotencyKey(IdempotencyKeyColumns, Base)`",
                spot=spot_of(operation.function),
            )
        if isinstance(operation.function, _Absent):
            raise DocumentError(operation.function.fault(compiled, place))
        try:
            check_signature(compiled, operation.function, place)
        except DocumentError as error:
            right = wanted(compiled, getattr(operation.function, "__name__", "handler"))
            message = f"{error}; the document wants `{right}`"
            raise DocumentError(message, spot=spot_of(operation.function)) from None
        self.operations[operation_id] = compiled
        return compiled

    def _body(
        self, method: str, declared: Mapping[str, Any] | None, place: str, names: ArgumentNames
    ) -> Body | None:
        """Return the body of an operation. If the query may contain form fields, an operation
        without a body gets an empty form, to report the parameters that it ignores.
        """
        if declared is None:
            if "form_in_query" not in self.service.leniency or method.upper() in BODILESS:
                return None
            declared = NO_FIELDS
        return Body(
            declared,
            self.requests,
            place,
            form_in_query="form_in_query" in self.service.leniency,
            ignore_foreign="foreign_bodies" in self.service.leniency,
            names=names,
        )

    def _parameters(self, raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        merged: dict[tuple[str, str], Mapping[str, Any]] = {}
        for node in raw.get("parameters", ()):
            parameter = self.requests.resolve(node)
            merged[parameter["name"], parameter["in"]] = parameter
        return list(merged.values())

    def _in(
        self,
        where: str,
        declared: list[Mapping[str, Any]],
        place: str,
        names: ArgumentNames,
        credentials: frozenset[str] = frozenset(),
    ) -> Parameters:
        chosen = [parameter for parameter in declared if parameter["in"] == where]
        return Parameters(where, chosen, self.requests, place, names, credentials=credentials)

    def _querystring(
        self, declared: list[Mapping[str, Any]], place: str, names: ArgumentNames
    ) -> Querystring | None:
        chosen = [parameter for parameter in declared if parameter["in"] == "querystring"]
        if not chosen:
            return None
        return Querystring(chosen[0], self.requests, place, names)

    def add(self, path: str, method: str, operation: Operation) -> None:
        schemas = {
            parameter["name"]: self.requests.resolve(parameter.get("schema", {}))
            for parameter in self._parameters(self.document["paths"][path][method])
            if parameter["in"] == "path"
        }
        self.router.add(
            operation.path,
            operation.method,
            self._integers(path),
            operation,
            # connexion's format for parameters that may contain slashes
            takes_slashes=any(schema.get("format") == "path" for schema in schemas.values()),
        )

    def _integers(self, path: str) -> frozenset[str]:
        """Return the parameters of a path that are integers for all its methods. Other parameters
        accept any text, so that the path has one route with all methods.
        """
        of_methods = [
            {
                parameter["name"]
                for parameter in self._parameters(operation)
                if parameter["in"] == "path" and is_integer(parameter, self.requests)
            }
            for operation in self.document["paths"][path].values()
        ]
        return frozenset(set.intersection(*of_methods))

    def refuse(self, path: str, method: str, error: Exception) -> None:
        at = ("paths", path, method)
        place = f"{self.service.name}: {method.upper()} {path}"
        if isinstance(error, DocumentError):
            self._errors.append(DocumentError(str(error), error.at or at, spot=error.spot))
        else:
            message = f"{place}: {error.__class__.__name__}: {error}"
            self._errors.append(DocumentError(message, at))

    def _check_optional_security(self) -> None:
        """Add errors for operations whose security cannot be optional."""
        places = {
            str(operation["operationId"]): ("paths", path, method)
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
        }
        has_schemes = {
            path
            for document in self.service.documents
            if document.content.get("components", {}).get("securitySchemes")
            for path in document.content.get("paths", {})
        }
        for name in self.service.optional_security:
            at = places.get(name, ())
            if not at:
                why = f"no operation has this name{did_you_mean(name, places)}"
            elif reach(self.document, at).get("security", self.document.get("security")):
                why = "it has `security` of its own"
            elif at[1] not in has_schemes:
                why = "the document has no security schemes"
            else:
                continue
            message = f'{self.service.name}: optional_security names "{name}", but {why}'
            self._errors.append(DocumentError(message, at))

    def _find_dead_handlers(self) -> None:
        """Add errors for handlers that no operation names, in the modules of those that
        are named.
        """
        for name in sorted({function.__module__ for function in self._named}):
            if not name.startswith(f"{self.service.handlers}."):
                continue
            for attribute, function in vars(importlib.import_module(name)).items():
                if is_handler(function, name) and function not in self._named:
                    self._errors.append(
                        DocumentError(
                            f"{self.service.name}: {name}.{attribute} is a handler, "
                            "but no operation of the document names it",
                            spot=spot_of(function),
                        )
                    )


def is_single_module(handlers: str) -> bool:
    """Return whether the handlers of a service are in a single module instead of a package."""
    try:
        spec = find_spec(handlers) if handlers else None
    except (ImportError, ValueError):  # no such module, or a module without a file
        return False
    return spec is not None and spec.submodule_search_locations is None


def is_handler(function: Any, module: str) -> bool:
    """Return whether an attribute is a public handler that the module defines, whose first
    parameter is `ctx`.
    """
    if not inspect.isfunction(function) or function.__module__ != module:
        return False
    first = next(iter(inspect.signature(function).parameters), None)
    return first == "ctx" and not function.__name__.startswith("_")


def check_signature(operation: Operation, function: Callable[..., Any], place: str) -> None:
    """Raise `DocumentError` unless the parameters of the handler are exactly those that the
    document allows. If it has two phases, their parameters are combined.
    """
    first = preparation_of(function)
    if first is None:
        taken = check_phase(operation, function, 1, place)
    else:
        taken = check_phase(operation, first, 1, place) | check_phase(operation, function, 2, place)
    name = f"{function.__module__}.{function.__qualname__}"
    for missing in sorted(operation.argument_names - taken):
        raise DocumentError(f"{place}: {name} does not take the parameter {missing}")


def check_phase(
    operation: Operation, function: Callable[..., Any], positional: int, place: str
) -> frozenset[str]:
    """Return the parameters of a handler or its first phase that follow the `positional` ones.
    Raise `DocumentError` for a parameter that does not fit the document.
    """
    offered = operation.argument_names
    parameters = list(inspect.signature(function).parameters.values())
    name = f"{function.__module__}.{function.__qualname__}"
    if not parameters or parameters[0].name != "ctx":
        raise DocumentError(f"{place}: {name} must take `ctx` first")
    taken = set()
    for parameter in parameters[positional:]:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            return offered  # it accepts all others
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            raise DocumentError(f"{place}: {name}: parameter {parameter.name} must be keyword-only")
        if parameter.name not in offered:
            raise DocumentError(
                f"{place}: {name} takes {parameter.name}, which the document does not know"
            )
        if parameter.default is inspect.Parameter.empty and parameter.name in operation.optional:
            raise DocumentError(
                f"{place}: {name} needs {parameter.name}, which the document makes optional: "
                "give it a default"
            )
        taken.add(parameter.name)
    return frozenset(taken)
