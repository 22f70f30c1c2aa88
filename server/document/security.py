"""Authentication, compiled once per operation.

connexion's `SecurityHandlerFactory` reads the security schemes and resolves the functions they name
(`x-bearerInfoFunc` and its kin); the handlers below replace its per-request half by plain functions
that run inside the reading unit, wherever the engine runs that, so that a key look-up never blocks
the event loop by accident.
"""

from __future__ import annotations

import base64
import binascii
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from connexion.security import (
    AbstractSecurityHandler,
    ApiKeySecurityHandler,
    BasicSecurityHandler,
    BearerSecurityHandler,
    SecurityHandlerFactory,
)

from server.context import Context
from server.document.connexion_seams import find_security_function
from server.errors import DocumentError, Unauthenticated

NO_CREDENTIALS = object()
"""The result of a scheme that the request does not use."""

Check = Callable[[Context], Any]
"""From a request to the actor, `NO_CREDENTIALS`, or None for invalid credentials."""


def _calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with our context as connexion's optional keyword `request`."""
    if inspect.iscoroutinefunction(function):
        raise DocumentError(f"security function {function.__qualname__} must be a plain def")
    if "request" in inspect.signature(function).parameters:
        return function
    return lambda *credentials, request: function(*credentials)


class _PlainFunctions(AbstractSecurityHandler):
    """A scheme of which `check_of` compiles one use: from a request to its function's answer."""

    def get_fn(self, security_scheme: Any, required_scopes: Any) -> Check | None:
        function = find_security_function(self, security_scheme)
        return None if function is None else self.check_of(_calls(function), security_scheme)

    def check_of(self, call: Callable[..., Any], scheme: Mapping[str, Any]) -> Check:
        raise NotImplementedError


class Bearer(_PlainFunctions, BearerSecurityHandler):
    """`type: http, scheme: bearer` (RFC 6750)."""

    def check_of(self, call: Callable[..., Any], scheme: Mapping[str, Any]) -> Check:
        def check(ctx: Context) -> Any:
            kind, _, token = ctx.headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer":
                return NO_CREDENTIALS
            return call(token.decode("latin-1").strip(), request=ctx)

        return check


class Basic(_PlainFunctions, BasicSecurityHandler):
    """`type: http, scheme: basic` (RFC 7617)."""

    def check_of(self, call: Callable[..., Any], scheme: Mapping[str, Any]) -> Check:
        def check(ctx: Context) -> Any:
            kind, _, credentials = ctx.headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"basic":
                return NO_CREDENTIALS
            try:
                decoded = base64.b64decode(credentials.strip(), validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError, ValueError):
                return None
            user, colon, password = decoded.partition(":")
            return call(user, password, request=ctx) if colon else None

        return check


class ApiKey(_PlainFunctions, ApiKeySecurityHandler):
    """`type: apiKey` in a header."""

    def check_of(self, call: Callable[..., Any], scheme: Mapping[str, Any]) -> Check:
        if scheme["in"] != "header":
            raise DocumentError("an apiKey security scheme must be in a header")
        name = scheme["name"]

        def check(ctx: Context) -> Any:
            key = ctx.header(name)
            return NO_CREDENTIALS if key is None else call(key, request=ctx)

        return check


SECURITY_MAP: dict[str, type[AbstractSecurityHandler]] = {
    "bearer": Bearer,
    "basic": Basic,
    "apiKey": ApiKey,
}


def compile_security(
    requirements: Sequence[Mapping[str, Sequence[str]]],
    schemes: Mapping[str, Mapping[str, Any]],
    place: str,
) -> Check | None:
    """Return one function that authenticates a request by an operation's `security`; None for `[]`.

    Alternatives are tried in the document's order; all schemes of one alternative must hold, and
    the actor is the first one's. The function raises `Unauthenticated` when no alternative holds.
    Raise `DocumentError` for a scheme that is unknown, or names no function.
    """
    if not requirements:
        return None
    factory = SecurityHandlerFactory(SECURITY_MAP)
    alternatives: list[tuple[Check, ...]] = []
    for requirement in requirements:
        checks = []
        for name, scopes in requirement.items():
            if name not in schemes:
                raise DocumentError(f"{place}: no security scheme {name}")
            try:
                check = factory.parse_security_scheme(dict(schemes[name]), list(scopes))
            except (DocumentError, ImportError, AttributeError, ValueError) as error:
                raise DocumentError(f"{place}: security scheme {name}: {error}") from error
            if check is None:
                raise DocumentError(f"{place}: security scheme {name} names no function")
            checks.append(check)
        alternatives.append(tuple(checks))
    challenges = tuple(dict.fromkeys(_challenge(schemes[n]) for r in requirements for n in r))

    def authenticate(ctx: Context) -> Any:
        for checks in alternatives:
            if not checks:
                return None
            actors = [check(ctx) for check in checks]
            if all(actor is not None and actor is not NO_CREDENTIALS for actor in actors):
                return actors[0]
        raise Unauthenticated(challenges)

    return authenticate


def _challenge(scheme: Mapping[str, Any]) -> str:
    if scheme["type"] == "http":
        return str(scheme["scheme"]).capitalize()
    return str(scheme.get("name", scheme["type"]))
