"""Mocked services of documents, and the application that serves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connexion.exceptions import ProblemException
from starlette.types import ASGIApp, Receive, Scope, Send

from specd._cors import ANY, Cors
from specd._engine.context import Context
from specd._engine.errors import (
    InvalidRequest,
    MethodNotAllowed,
    Unauthenticated,
    UnsupportedMediaType,
)
from specd._engine.http.browsers import Origins
from specd._engine.http.cors import Sharing
from specd._engine.mocking.answers import Answers
from specd._engine.mocking.values import Values
from specd._engine.openapi.servers import base_path_of, base_paths_of
from specd._engine.openapi.structure import resolved
from specd._engine.openapi.union import Document, unite
from specd._engine.response import Response, encode
from specd._engine.service import Service
from specd._engine.serving.app import Wrapped, build_app
from specd._engine.serving.health import PATHS

PROBLEM = "application/problem+json"
_FUNCTIONS = ("x-apikeyInfoFunc", "x-bearerInfoFunc", "x-openIdConnectInfoFunc", "x-tokenInfoFunc")


@dataclass(frozen=True, slots=True)
class Anybody:
    """The caller of a mock, for any credentials."""


def admit(*credentials: str, **_: Any) -> Anybody:
    """Accept any credentials."""
    return Anybody()


class _SharingWithAll(Sharing):
    """Allows pages of every origin to read every response and to send credentials."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Cors((ANY,)))
        self.varies = True
        self.standing = ((b"vary", b"Origin"),)

    def names(self, origin: bytes) -> bool:
        return True


class AnyOrigin(Origins):
    """Allows changes from pages of every origin, because a mock does not change anything."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.sharing = _SharingWithAll()

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        pass


def respond(error: Exception, request_id: str) -> Response:
    """Return the response to a refused request, as a problem (RFC 9457)."""
    status = error.status if isinstance(error, ProblemException) else 500
    title = error.title if isinstance(error, ProblemException) else "Internal Server Error"
    problem: dict[str, Any] = {"title": title, "status": status, "request_id": request_id}
    headers = tuple((getattr(error, "headers", None) or {}).items())
    if detail := _detail_of(error):
        problem["detail"] = detail
    if isinstance(error, InvalidRequest):
        problem["details"] = [
            {"path": each.path, "message": each.message} for each in error.violations
        ]
    if isinstance(error, Unauthenticated):
        headers = tuple(("WWW-Authenticate", challenge) for challenge in error.challenges)
    return Response(status, encode(problem), headers, PROBLEM)


def _detail_of(error: Exception) -> str | None:
    """Return the detail of a refusal for the client, or None."""
    match error:
        case Unauthenticated() if error.challenges:
            return f"Send credentials: {' or '.join(error.challenges)}."
        case UnsupportedMediaType():
            return error.advice
        case MethodNotAllowed():
            return f"The path has {', '.join(error.allow)}."
        case ProblemException(status=404) if not error.detail:
            return "The document has no such path."
        case ProblemException():
            return str(error.detail) if error.detail else None
    return None


def mocked(documents: Sequence[Document]) -> Service:
    """Return a mocked service of documents with the same base path, without a database or
    handlers.
    """
    ready = [Document(d.name, _with_open_doors(d.content), d.text, d.path) for d in documents]
    content = unite(documents[0].name, ready)
    answers = Answers(content, Values(content, drop="writeOnly"))
    return Service(
        name=documents[0].name,
        documents=ready,
        handlers="",
        base_path=base_path_of(content),
        respond=respond,
        find_handler=answers.handler,
        refuse_in=answers.refusal,
        require_role=_admit_to_role,
        origins=AnyOrigin(),
        body_limit=16 * 1024 * 1024,
    )


def build_mock(documents: Sequence[Document], *, is_checked: bool = True) -> ASGIApp:
    """Return an application that mocks documents and accepts pages of every origin (CORS).

    A path outside of the documents' servers belongs to the first document. With `is_checked`, check
    the rules of OpenAPI first. Raise `DocumentError`.
    """
    groups: dict[str, list[Document]] = {}
    for document in documents:
        groups.setdefault(base_path_of(document.content), []).append(document)
    services = [mocked(group) for group in groups.values()]
    first = services[0].base_path
    services.sort(key=lambda service: -len(service.base_path))
    app = build_app(services, has_defaults=False, is_checked=is_checked)
    prefixes = tuple(f"{service.base_path}/" for service in services)

    others = {
        f"{other}/": service.base_path
        for service in reversed(services)
        for document in service.documents
        for other in base_paths_of(document.content)
        if other
    }
    others = dict(sorted(others.items(), key=lambda each: -len(each[0])))

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = _at_first_server(scope, others)
        if scope["type"] == "http" and not scope["path"].startswith((*prefixes, *PATHS)):
            raw = scope.get("raw_path")
            scope = {**scope, "path": first + scope["path"]}
            if raw is not None:
                scope["raw_path"] = first.encode() + raw
        await app(scope, receive, send)

    return Wrapped(routed, app)


def _at_first_server(scope: Scope, others: Mapping[str, str]) -> Scope:
    """Return the scope of a request below another server of a document, moved below its first
    server.
    """
    path = scope["path"]
    for other, first in others.items():
        if path.startswith(other) and other != f"{first}/":
            raw = scope.get("raw_path")
            changed = {**scope, "path": first + path[len(other) - 1 :]}
            if raw is not None and raw.startswith(other.encode()):
                changed["raw_path"] = first.encode() + raw[len(other) - 1 :]
            return changed
        if path.startswith(other):
            break
    return scope


def _with_open_doors(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document whose security schemes accept any credentials."""
    components = dict(content.get("components") or {})
    schemes = components.get("securitySchemes")
    if not schemes:
        return dict(content)
    function = f"{__name__}.{admit.__name__}"
    components["securitySchemes"] = {
        name: _with_open_door(resolved(content, scheme), function)
        for name, scheme in schemes.items()
    }
    return {**content, "components": components}


def _with_open_door(scheme: Mapping[str, Any], function: str) -> dict[str, Any]:
    own = {key: value for key, value in scheme.items() if key != "x-scopeValidateFunc"}
    return {**own, **dict.fromkeys((*_FUNCTIONS, _of_http(scheme)), function)}


def _of_http(scheme: Mapping[str, Any]) -> str:
    """Return the key that names the function of any HTTP scheme."""
    return f"x-{str(scheme.get('scheme', 'bearer')).lower()}InfoFunc"


def _admit_to_role(ctx: Context, role: str) -> None:
    pass
