"""Authentication, compiled once per operation.

The document names a function for each security scheme, by connexion's extensions (such as
`x-bearerInfoFunc`) or environment variables, and connexion finds it. This module has the functions
that call it for each request. They run in the reading unit, wherever the engine runs it, so that
the look-up of a key does not block the event loop.
"""

from __future__ import annotations

import base64
import binascii
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from connexion.security import AbstractSecurityHandler

from specd._engine.context import Context
from specd._engine.document.connexion_seams import find_security_function
from specd._engine.document.styles import cookie_pairs
from specd._engine.errors import DocumentError, InsufficientScope, Unauthenticated
from specd._engine.http.queries import parse_pairs
from specd._engine.openapi.structure import resolved

NO_CREDENTIALS = object()
"""The result of a scheme for which the request has no credentials."""

Check = Callable[[Context], Any]
"""Returns the actor of a request, `NO_CREDENTIALS`, or None for invalid credentials."""
Call = Callable[..., Any]
"""A scheme's function. Its arguments are the credentials, and our context as connexion's
`request`.
"""
Reading = Callable[[Call], Check]
"""Returns the function that reads the credentials of a request and calls a scheme's function.
Malformed credentials are invalid.
"""

TOKEN_FUNCTION = "x-tokenInfoFunc"
_WITH_TOKEN = ("oauth2", "openIdConnect")


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of scheme: how its credentials are read, and the extensions and the environment
    variable that can name its function.
    """

    reading: Reading
    extensions: tuple[str, ...]
    variable: str


class _Function(AbstractSecurityHandler):
    """Finds a function that a document names, as connexion does."""

    def __init__(self, extension: str, variable: str) -> None:
        self.security_definition_key = extension
        self.environ_key = variable


def compile_security(
    requirements: Sequence[Mapping[str, Sequence[str]]],
    schemes: Mapping[str, Mapping[str, Any]],
    place: str,
) -> Check | None:
    """Return a function that authenticates a request by an operation's `security`, or None for
    `[]`.

    Alternatives are tried in the document's order. All schemes of an alternative must succeed, and
    the actor comes from the first. The function raises `Unauthenticated` if no alternative
    succeeds, and `InsufficientScope` if one only lacks scopes. `{}`, in any position, accepts a
    request without credentials. Raise `DocumentError` for a scheme that is unknown or not
    supported, or that names no function.
    """
    if not requirements:
        return None
    alternatives: list[tuple[Check, ...]] = []
    for requirement in requirements:
        checks = []
        for name, scopes in requirement.items():
            if name not in schemes:
                raise DocumentError(f"{place}: no security scheme {name}")
            try:
                checks.append(_compile_check(schemes[name], tuple(scopes)))
            except (DocumentError, ImportError, AttributeError, ValueError) as error:
                raise DocumentError(f"{place}: security scheme {name}: {error}") from error
        if checks:
            alternatives.append(tuple(checks))
    is_optional = len(alternatives) < len(requirements)
    challenges = tuple(dict.fromkeys(_challenge(schemes[n]) for r in requirements for n in r))

    def authenticate(ctx: Context) -> Any:
        refusal: Exception | None = None
        has_sent = False
        for checks in alternatives:
            try:
                actors = [check(ctx) for check in checks]
            except InsufficientScope as error:
                refusal = error
                continue
            if all(map(_is_somebody, actors)):
                return actors[0]
            has_sent = has_sent or any(actor is not NO_CREDENTIALS for actor in actors)
        if is_optional and refusal is None and not has_sent:
            return None
        raise refusal or Unauthenticated(challenges)

    return authenticate


def start_security(document: Mapping[str, Any], settings: Any, *, is_optional: bool) -> None:
    """Pass the settings to the method `__specd_start__` of each security function that has it. The
    method raises `SettingsError` if the service cannot be served with them. If `is_optional`, some
    operations accept credentials of all schemes.
    """
    schemes = document.get("components", {}).get("securitySchemes", {})
    operations = [each for item in document["paths"].values() for each in item.values()]
    named = {name for each in (document, *operations) for name in _named(each)}
    for name in schemes if is_optional else named:
        scheme = resolved(document, schemes[name])
        kind = _kind_of(scheme)
        start = getattr(_find(kind.extensions, kind.variable, scheme), "__specd_start__", None)
        if start is not None:
            start(settings)


def _named(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the schemes in the `security` of a document or an operation."""
    for requirement in node.get("security", ()):
        yield from requirement


def _is_somebody(actor: Any) -> bool:
    """Return whether the result of a scheme is an actor. False, 0 and an empty text are not, so
    that a function can return the result of a comparison of credentials.
    """
    return actor is not NO_CREDENTIALS and (bool(actor) or isinstance(actor, Mapping))


def query_keys(
    requirements: Sequence[Mapping[str, Any]], schemes: Mapping[str, Mapping[str, Any]]
) -> frozenset[str]:
    """Return the names of query parameters that are credentials of an operation."""
    used = [schemes[name] for each in requirements for name in each if name in schemes]
    return frozenset(scheme["name"] for scheme in used if scheme.get("in") == "query")


def _compile_check(scheme: Mapping[str, Any], scopes: tuple[str, ...]) -> Check:
    kind = _kind_of(scheme)
    function = _find(kind.extensions, kind.variable, scheme)
    if function is None:
        named = " or ".join(kind.extensions)
        raise DocumentError(f"names no function by {named}, nor does {kind.variable}")
    check = kind.reading(_calls(function, scopes))
    if not scopes or scheme["type"] not in _WITH_TOKEN:
        return check
    takes_scopes = "required_scopes" in _keywords(function)
    validate = _find(("x-scopeValidateFunc",), "SCOPEVALIDATE_FUNC", scheme) or has_scopes

    def check_with_scopes(ctx: Context) -> Any:
        actor = check(ctx)
        if not _is_somebody(actor):
            return None if actor is not NO_CREDENTIALS else actor
        granted = _scopes_of(actor)
        if granted is None and takes_scopes:
            return actor  # the function has checked them itself
        if not validate(list(scopes), granted or []):
            raise InsufficientScope(scopes)
        return actor

    return check_with_scopes


def _find(
    extensions: tuple[str, ...], variable: str, scheme: Mapping[str, Any]
) -> Callable[..., Any] | None:
    for extension in extensions:
        function = find_security_function(_Function(extension, variable), scheme)
        if function is not None:
            return function
    return None


def _keywords(function: Callable[..., Any]) -> Collection[str]:
    """Return the optional keywords of connexion that a security function accepts."""
    parameters = inspect.signature(function).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return ("request", "required_scopes")
    return parameters.keys() & {"request", "required_scopes"}


def _calls(function: Callable[..., Any], scopes: tuple[str, ...]) -> Call:
    """Return a function that calls `function` with our context as connexion's keyword `request`,
    and with the scopes as `required_scopes`, if it accepts these keywords.
    """
    for each in (function, type(function).__call__):
        if inspect.iscoroutinefunction(each) or inspect.isgeneratorfunction(each):
            name = getattr(function, "__qualname__", repr(function))
            raise DocumentError(f"security function {name} must be a plain def")
    keywords = _keywords(function)
    call = function
    if "required_scopes" in keywords:
        call = _with_scopes(function, scopes)
    return call if "request" in keywords else lambda *credentials, request: call(*credentials)


def _with_scopes(function: Call, scopes: tuple[str, ...]) -> Call:
    """Return a function that calls `function` with a new list of the scopes that an operation
    requires.
    """

    def call(*credentials: Any, **others: Any) -> Any:
        return function(*credentials, required_scopes=list(scopes), **others)

    return call


def has_scopes(required: Collection[str], granted: Collection[str]) -> bool:
    """Return whether all scopes that an operation requires are granted."""
    return set(required) <= set(granted)


def _scopes_of(actor: Any) -> list[str] | None:
    """Return the scopes in the result of a function, as connexion finds them: a list or a text in
    `scope` or `scopes` (RFC 7662, section 2.2). Return None if it has none of these.
    """
    if not isinstance(actor, Mapping):
        return None
    granted = actor.get("scope", actor.get("scopes"))
    return granted.split() if isinstance(granted, str) else granted


def _kind_of(scheme: Mapping[str, Any]) -> _Kind:
    """Return the kind of a scheme. Raise `DocumentError` for an unsupported scheme."""
    kind = scheme["type"]
    if kind == "oauth2":
        return _Kind(_bearer, (TOKEN_FUNCTION,), "TOKENINFO_FUNC")
    if kind == "openIdConnect":
        return _Kind(_bearer, ("x-openIdConnectInfoFunc", TOKEN_FUNCTION), "TOKENINFO_FUNC")
    if kind == "apiKey":
        if str(scheme.get("x-authentication-scheme", "")).lower() == "bearer":
            return _Kind(_bearer, ("x-bearerInfoFunc",), "BEARERINFO_FUNC")
        return _Kind(_KEYS[scheme["in"]](scheme["name"]), ("x-apikeyInfoFunc",), "APIKEYINFO_FUNC")
    if kind == "http":
        name = scheme["scheme"].lower()
        reading = _HTTP[name] if name in _HTTP else _authorization(name)
        return _Kind(reading, (f"x-{name}InfoFunc",), f"{name.upper()}INFO_FUNC")
    if kind == "mutualTLS":
        raise DocumentError("mutualTLS is not served, because the proxy in front ends TLS")
    raise DocumentError(f"the type {kind} is not served")


def _authorization(scheme: str) -> Reading:
    """Return the reading of an HTTP scheme's credentials (RFC 9110, section 11.4)."""
    wanted = scheme.encode("latin-1")

    def reading(call: Call) -> Check:
        def check(ctx: Context) -> Any:
            kind, _, credentials = ctx.headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != wanted:
                return NO_CREDENTIALS
            return call(credentials.decode("latin-1").strip(), request=ctx)

        return check

    return reading


_bearer = _authorization("bearer")
"""RFC 6750."""


def _basic(call: Call) -> Check:
    """RFC 7617."""

    def call_with_both(credentials: str, *, request: Context) -> Any:
        try:
            decoded = base64.b64decode(credentials, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return None
        user, colon, password = decoded.partition(":")
        return call(user, password, request=request) if colon else None

    return _authorization("basic")(call_with_both)


def _key(find: Callable[[Context], str | None]) -> Reading:
    """Return the reading of an API key, which `find` finds in a request."""

    def reading(call: Call) -> Check:
        def check(ctx: Context) -> Any:
            key = find(ctx)
            return NO_CREDENTIALS if key is None else call(key, request=ctx)

        return check

    return reading


def _key_in_header(name: str) -> Reading:
    return _key(lambda ctx: ctx.header(name))


def _key_in_query(name: str) -> Reading:
    return _key(lambda ctx: parse_pairs(ctx.query, "query").get(name, [None])[-1])


def _key_in_cookie(name: str) -> Reading:
    def find(ctx: Context) -> str | None:
        keys = cookie_pairs(ctx.headers.get(b"cookie", b"")).get(name)
        return None if keys is None else keys[-1].decode("latin-1")

    return _key(find)


_HTTP: Mapping[str, Reading] = {"bearer": _bearer, "basic": _basic}
_KEYS: Mapping[str, Callable[[str], Reading]] = {
    "header": _key_in_header,
    "query": _key_in_query,
    "cookie": _key_in_cookie,
}


def _challenge(scheme: Mapping[str, Any]) -> str:
    """Return the challenge for clients without credentials (RFC 9110, section 11.6.1). There is no
    registered scheme for keys, so `ApiKey` names the place of the key.
    """
    if scheme["type"] == "http":
        name = str(scheme["scheme"]).capitalize()
        return f'{name} realm="api", charset="UTF-8"' if name == "Basic" else name  # RFC 7617
    if scheme["type"] in _WITH_TOKEN:
        return "Bearer"
    if str(scheme.get("x-authentication-scheme", "")).lower() == "bearer":
        return "Bearer"
    return f'ApiKey in="{scheme.get("in")}", name="{quote(str(scheme.get("name")), safe=_PLAIN)}"'


_PLAIN = " !#$&'()*+,/:;<=>?@[]^`{|}"
"""The characters that need no encoding in a quoted text of a header, in addition to letters and
digits.
"""
