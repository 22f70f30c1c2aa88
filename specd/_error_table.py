"""The error table of a service: the status, code and body of the response to each error."""

from __future__ import annotations

import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import product
from typing import Any

from connexion.exceptions import ProblemException

from specd._db.errors import Refusal
from specd._engine.document.media import JSON, is_json
from specd._engine.error_docs import Failure, first_paragraph, help_link
from specd._engine.errors import (
    ENGINE_ERRORS,
    ForeignOrigin,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotWritten,
    RateLimited,
    Unauthenticated,
)
from specd._engine.mocking.values import Values
from specd._engine.response import Headers, Response, encode
from specd._engine.service import Service as EngineService
from specd._security_events import SecurityEvent

BODY_LIMIT = EngineService.body_limit
_BY_STATUS: Mapping[int, type[Exception]] = {kind.status: kind for kind in reversed(ENGINE_ERRORS)}
_EVENTS: Mapping[type[Exception], SecurityEvent] = {
    Unauthenticated: "credential_refused",
    RateLimited: "limit_hit",
    ForeignOrigin: "foreign_origin",
}

Shape = Mapping[str, Any]
"""The body of an error: key -> the name of a part of the response, or another shape."""
_OPTIONAL = ("request_id", "details")
"""Parts that a body has only if the document's schema has them."""
_SHAPES: tuple[Shape, ...] = (
    {"code": "code", "message": "message"},
    {"code": "status", "message": "message"},
    {"type": "type", "title": "code", "status": "status", "detail": "message"},
    {"error": {"code": "code", "message": "message"}},
    {"error": "code", "message": "message"},
    {"error": "message"},
    {"message": "message"},
    {"detail": "message"},
)
"""The bodies that documents describe most often. The first that fits is used."""
_FULL: Shape = {
    **_SHAPES[0],
    **{part: part for part in _OPTIONAL},
}


@dataclass(frozen=True, slots=True)
class Row:
    """The row of an error in a table. A value that is not given is that of the error's class.

    `code` is None for an error that is identified by its status alone. `sentence` may contain
    placeholders: the facts of a `Refusal`, `limit` and `accepted`. `extra` names the facts that
    become keys of the body. `at` is a JSON pointer into the request and a message about this place,
    and `shown` names the facts that this detail has as keys. `retry_after_s` is given if a later
    request can succeed. `is_definitive` says that the same request would always be refused, so an
    idempotency key stores the response. `event` is logged (see `specd.emit`).
    """

    status: int | None = None
    code: str | None = ""
    sentence: str = ""
    extra: tuple[str, ...] = ()
    headers: Headers = ()
    retry_after_s: int | None = None
    at: tuple[str, str] | None = None
    shown: tuple[str, ...] = ()
    is_definitive: bool = False
    event: SecurityEvent | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The parts of the response to an error, from which its body is written.

    `details` have a JSON pointer into the request as `path`, and a `message`.
    """

    error: Exception
    status: int
    code: str | None
    message: str
    request_id: str
    extra: Mapping[str, Any]
    details: tuple[Mapping[str, Any], ...] = ()
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The responses to the errors of a service.

    `rows` overrides values of the error classes, by class or by code. The row of a class also
    applies to its subclasses. None marks an error that no caller gets. An error without a row and
    without a `status` is a bug, like every other exception, and gets a 500.

    By default, the body of an error follows the schema of the document's errors, with `code` and
    `message`, and with `request_id` and `details` if the schema has them. `write(answer)` returns
    another response. `translate(error)` returns the error that replaces the given error.

    Responses link to the page of errors of `service`, by code. Errors with the code `general` are
    described by class and grouped by module. The composition of a service sets `service`, and
    `prefix` to the path of the public address.
    """

    rows: Mapping[type[Exception] | str, Row | None] = field(default_factory=dict)
    write: Callable[[Answer], Response] | None = None
    translate: Callable[[Exception], Exception] | None = None
    general: str = ""
    service: str = ""
    prefix: str = ""
    shape: Shape | None = None
    media_type: str = JSON

    def respond(self, error: Exception, request_id: str) -> Response:
        """Return the response to any exception."""
        answer = self.answer(error, request_id)
        if self.write is not None:
            return self.write(answer)
        shape = _FULL if self.shape is None else self.shape
        body = {**_filled(shape, _parts_of(answer)), **answer.extra}
        return Response(answer.status, encode(body), answer.headers, self.media_type)

    def answer(self, error: Exception, request_id: str) -> Answer:
        """Return the parts of the response to any exception."""
        if self.translate is not None:
            error = self.translate(error)
        if isinstance(error, NotImplementedError):
            error = NotWritten()
        kind = _kind_of(error)
        row = self.find_row(kind)
        if row is None:
            error, kind = InternalError(), InternalError
            row = self.find_row(kind) or Row()
        known: Any = kind
        named = {name for name, _ in row.headers}
        headers = (*(each for each in _headers_of(error) if each[0] not in named), *row.headers)
        retry_after_s = row.retry_after_s or getattr(kind, "retry_after_s", None)
        if retry_after_s is not None:
            headers += (("Retry-After", str(retry_after_s)),)
        if self.service:
            headers = (self._link_to(self._anchor_of(kind, row)), *headers)
        extra = {}
        if isinstance(error, Refusal):
            extra = {name: error.facts[name] for name in row.extra}
        return Answer(
            error,
            row.status or known.status,
            known.code if row.code == "" else row.code,
            _message_of(error, known, row),
            request_id,
            extra,
            _details_of(error, row),
            headers,
        )

    def find_row(self, kind: type[Exception]) -> Row | None:
        """Return the row of a class of errors, or None if no caller gets these errors."""
        for base in kind.__mro__:
            if base in self.rows:
                return self.rows[base]
        if not issubclass(kind, Refusal | ProblemException):
            return None
        code = getattr(kind, "code", None)
        return self.rows.get(code, Row() if hasattr(kind, "status") else None) if code else None

    def is_definitive(self, error: Exception) -> bool:
        """Return whether the same request would be refused at any time."""
        row = self.find_row(type(error))
        return row is not None and row.is_definitive

    def link_of(self, code: str) -> tuple[str, str]:
        """Return the header with the link to the description of a code."""
        return self._link_to(code)

    def _link_to(self, anchor: str) -> tuple[str, str]:
        return help_link(self.service, anchor, self.prefix)

    @property
    def security_events(self) -> dict[type[Exception], SecurityEvent]:
        """The classes of errors that are logged as security events."""
        own = {
            kind: row.event
            for kind, row in self.rows.items()
            if isinstance(kind, type) and row is not None and row.event is not None
        }
        return {**_EVENTS, **own}

    def list_failures(
        self, packages: Sequence[str], others: Iterable[type[Exception]] = ()
    ) -> tuple[Failure, ...]:
        """Return the errors that callers can get, sorted by subject and status: the refusals
        defined below some packages, `others`, and the errors of the engine.
        """
        kinds = [*find_refusals(packages), *others]
        found = [failure for kind in kinds if (failure := self._describe(kind)) is not None]
        for kind in ENGINE_ERRORS:
            failure = self._describe(kind)
            if failure is not None and failure.anchor not in {each.anchor for each in found}:
                found.append(failure)
        return tuple(sorted(found, key=lambda each: (each.subject, each.status, each.code or "")))

    def _describe(self, kind: Any) -> Failure | None:
        row = self.find_row(kind)
        if row is None:
            return None
        code = kind.code if row.code == "" else row.code
        subject = ""
        if code and code == self.general:
            subject = inspect.getdoc(sys.modules[kind.__module__]) or ""
        return Failure(
            anchor=self._anchor_of(kind, row),
            code=code,
            status=row.status or kind.status,
            message=row.sentence or getattr(kind, "sentence", "") or kind.advice,
            when=first_paragraph(kind),
            advice=getattr(kind, "advice", ""),
            extra=(*row.extra, *((row.at[0],) if row.at else ())),
            subject=subject.partition("\n")[0],
        )

    def _anchor_of(self, kind: Any, row: Row) -> str:
        """Return the anchor of an error on the page of errors: its code, its class if the code is
        the general one, or its status if it has no code.
        """
        code = kind.code if row.code == "" else row.code
        if code and code == self.general:
            return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
        return code or str(row.status or kind.status)

    def fitted_to(self, document: Mapping[str, Any]) -> ErrorTable:
        """Return the table with the error body that fits a document, unless the service defines the
        body itself.
        """
        if self.write is not None or self.shape is not None:
            return self
        shape, media_type = find_shape(document)
        return replace(self, shape=shape, media_type=media_type)


def find_status(table: ErrorTable, kind: type[Exception]) -> int | None:
    """Return the status of the responses to a class of errors. Return None if no caller gets these
    errors, or if the status depends on the error.
    """
    error = kind.__new__(kind)  # without the facts that it may need
    row = table.find_row(kind)
    if row is None:
        return None
    try:
        if table.translate is not None and table.translate(error) is not error:
            return None
        known: Any = kind
        status = int(row.status or known.status)
        if table.write is None:
            return status
        code = known.code if row.code == "" else row.code
        return table.write(Answer(error, status, code, "", "", {}, (), row.headers)).status
    except Exception:  # it needs the facts
        return None


def find_refusals(packages: Iterable[str]) -> list[type[Refusal]]:
    """Import some packages and return the refusals defined below them, sorted by module and then in
    the order of their definitions.
    """
    below = tuple(packages)
    import_all(below)
    kinds = [
        kind
        for kind in _subclasses_of(Refusal)
        if f"{kind.__module__}.".startswith(tuple(f"{package}." for package in below))
        and hasattr(kind, "sentence")
    ]
    # Without the sort, classes would be in the order of imports.
    return sorted(kinds, key=lambda kind: kind.__module__)


def import_all(packages: Iterable[str]) -> None:
    """Import modules, and all modules below those that are packages."""
    for package in packages:
        module = import_module(package)
        for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{package}."):
            import_module(found.name)


def _subclasses_of(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses_of(child)


def find_shape(document: Mapping[str, Any]) -> tuple[Shape, str]:
    """Return the error body that fits most of a document's errors, and its media type."""
    values = Values(document, drop="writeOnly")
    found = {
        (media_type, json.dumps(schema, sort_keys=True, default=str)): schema
        for media_type, schema in _errors_of(document, values)
    }
    if not found:
        return _FULL, JSON
    schemas = [(schema, _properties_of(schema, values)) for schema in found.values()]

    def fitness(shape: Shape) -> tuple[int, int]:
        example = _filled(shape, _EXAMPLE)
        fits = sum(values.fits(schema, example) for schema, _ in schemas)
        # The schema of a `default` may be that of all answers, and shows nothing of errors.
        return fits, sum(max(_shown(shape, names), 0) for _, names in schemas)

    media_types = {media_type for media_type, _ in found}
    media_type = media_types.pop() if len(media_types) == 1 else JSON
    return max(_variants(), key=fitness), media_type


def _variants() -> Iterator[Shape]:
    for shape, has_request_id, has_details in product(_SHAPES, (True, False), (True, False)):
        has = (has_request_id, has_details)
        more = {part: part for part, is_there in zip(_OPTIONAL, has, strict=True) if is_there}
        if isinstance(shape.get("error"), Mapping):
            yield {"error": {**shape["error"], **more}}
        else:
            yield {**shape, **more}


def _errors_of(document: Mapping[str, Any], values: Values) -> Iterator[tuple[str, Any]]:
    """Yield the media type and the schema of each error in a document."""
    resolve = values.schemas.resolve
    for item in document["paths"].values():
        for operation in item.values():
            for status, response in operation.get("responses", {}).items():
                if str(status)[0] in "45d":
                    for media_type, media in resolve(response).get("content", {}).items():
                        if is_json(media_type):
                            yield media_type, media.get("schema", True)


def _properties_of(schema: Any, values: Values) -> dict[str, Any]:
    """Return the properties that a schema names, including those of the schemas that it
    combines.
    """
    if not isinstance(schema, Mapping):
        return {}
    resolved = values.schemas.resolve(schema)
    found = dict(resolved.get("properties", {}))
    for combination in ("allOf", "anyOf", "oneOf"):
        for part in resolved.get(combination, ()):
            found |= _properties_of(part, values)
    if isinstance(found.get("error"), Mapping):
        found["error"] = _properties_of(found["error"], values)
    return found


def _shown(shape: Shape, names: Mapping[str, Any]) -> int:
    """Return the number of keys of a body that a schema names, minus the number of those it does
    not.
    """
    score = 0
    for key, part in shape.items():
        score += 1 if key in names else -1
        if isinstance(part, Mapping):
            score += _shown(part, names.get(key) or {})
    return score


def _filled(shape: Shape, parts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _filled(part, parts) if isinstance(part, Mapping) else parts[part]
        for key, part in shape.items()
    }


def _parts_of(answer: Answer) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "status": answer.status,
        "code": answer.code,
        "message": answer.message,
        "request_id": answer.request_id,
        "details": list(answer.details),
    }


_EXAMPLE = {
    "type": "about:blank",
    "status": 404,
    "code": "not_found",
    "message": "There is no such thing.",
    "request_id": "3fa85f6457174562b3fc2c963f66afa6",
    "details": [{"path": "/body/name", "message": "is too long"}],
}


def _kind_of(error: Exception) -> type[Exception]:
    """Return the class of an error. Connexion's own problems are identified by their status."""
    if isinstance(error, ProblemException) and not hasattr(error, "code"):
        return _BY_STATUS.get(error.status, InternalError)
    return type(error)


def _message_of(error: Exception, kind: Any, row: Row) -> str:
    if isinstance(error, Refusal):
        return row.sentence.format(**error.facts) if row.sentence else str(error)
    if row.sentence:
        accepted = " or ".join(getattr(error, "accepted", (JSON,)))
        return row.sentence.format(limit=getattr(error, "limit", BODY_LIMIT), accepted=accepted)
    if isinstance(error, InvalidRequest):
        return str(error.detail)
    return str(getattr(error, "advice", kind.advice))


def _details_of(error: Exception, row: Row) -> tuple[Mapping[str, Any], ...]:
    if isinstance(error, InvalidRequest):
        return tuple({"path": each.path, "message": each.message} for each in error.violations)
    if row.at is None or not isinstance(error, Refusal):
        return ()
    pointer, message = row.at
    shown = {name: str(error.facts[name]) for name in row.shown}
    return ({"path": pointer, "message": message.format(**error.facts), **shown},)


def _headers_of(error: Exception) -> Headers:
    match error:
        case Unauthenticated():
            return tuple(("WWW-Authenticate", challenge) for challenge in error.challenges)
        case RateLimited():
            return (*error.rate_headers, ("Retry-After", str(error.retry_after_s)))
        case MethodNotAllowed():
            return (("Allow", ", ".join(error.allow)),)
    return ()
