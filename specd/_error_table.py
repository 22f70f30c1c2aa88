"""The table of a service's errors: the status, the code and the body of the answer to each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from connexion.exceptions import ProblemException

from specd._db.errors import DatabaseUnavailable, Refusal
from specd._engine.document.media import JSON, is_json
from specd._engine.errors import (
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotWritten,
    RateLimited,
    Unauthenticated,
)
from specd._engine.mocking.values import Values
from specd._engine.response import Headers, Response, encode

Shape = Mapping[str, Any]
"""The body of an error: key -> the name of a part of the answer, or another shape."""
_OPTIONAL = ("request_id", "details")
"""Parts that a body has only if the schema of the document has them."""
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
class Answer:
    """What is answered to an error, before it has the form of the service.

    `details` have a JSON pointer into the request as `path`, and a `message`.
    """

    error: Exception
    status: int
    code: str
    message: str
    request_id: str
    details: tuple[Mapping[str, Any], ...] = ()
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The answers to the errors of a service.

    Without more, errors have the body that the schema of the document's errors shows, with `code`
    and `message`, and `request_id` and `details` if the schema has them.
    """

    write: Callable[[Answer], Response] | None = None
    """Returns the response for an answer, if its body is not one that the library knows."""
    shape: Shape | None = None
    media_type: str = JSON

    def respond(self, error: Exception, request_id: str) -> Response:
        """Return the response to any exception. One that is no refusal is a bug: 500."""
        answer = self.answer(error, request_id)
        if self.write is not None:
            return self.write(answer)
        body = encode(_filled(_FULL if self.shape is None else self.shape, _parts_of(answer)))
        return Response(answer.status, body, answer.headers, self.media_type)

    def answer(self, error: Exception, request_id: str) -> Answer:
        """Return the answer to any exception."""
        if isinstance(error, Refusal):
            headers: Headers = ()
            if isinstance(error, DatabaseUnavailable):
                headers = (("Retry-After", "1"),)
            return Answer(error, error.status, error.code, str(error), request_id, (), headers)
        if isinstance(error, NotImplementedError):
            error = NotWritten()
        if not isinstance(error, ProblemException) or not hasattr(error, "code"):
            error = InternalError()
        return Answer(
            error,
            error.status,
            error.code,
            _message_of(error),
            request_id,
            _details_of(error),
            _headers_of(error),
        )

    def fitted_to(self, document: Mapping[str, Any]) -> ErrorTable:
        """Return the table with the body that the errors of a document have, unless the service
        has one of its own.
        """
        if self.write is not None or self.shape is not None:
            return self
        shape, media_type = find_shape(document)
        return replace(self, shape=shape, media_type=media_type)


def find_shape(document: Mapping[str, Any]) -> tuple[Shape, str]:
    """Return the body of errors that fits most of a document's errors, and its media type."""
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
        return fits, sum(_shown(shape, names) for _, names in schemas)

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
    """Return the properties that a schema names, also in the schemas that it combines."""
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
    """Return how many keys of a body a schema names, less those that it does not name."""
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


def _message_of(error: ProblemException) -> str:
    if isinstance(error, InvalidRequest):
        return str(error.detail)
    return str(getattr(error, "advice", error.title))


def _details_of(error: ProblemException) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(error, InvalidRequest):
        return ()
    return tuple({"path": each.path, "message": each.message} for each in error.violations)


def _headers_of(error: ProblemException) -> Headers:
    match error:
        case Unauthenticated():
            return tuple(("WWW-Authenticate", challenge) for challenge in error.challenges)
        case RateLimited():
            return (*error.rate_headers, ("Retry-After", str(error.retry_after_s)))
        case MethodNotAllowed():
            return (("Allow", ", ".join(error.allow)),)
    return ()
