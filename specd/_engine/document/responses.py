"""The compiled responses of an operation: converts return values of handlers, and validates
responses against the document, which all tests do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from specd._engine.document.kinds import kinds_of
from specd._engine.document.media import (
    EVENT_STREAM,
    JSON,
    essence,
    family_of,
    find_key,
    frame_event,
    frame_item,
    is_json,
    is_range,
    is_sequence,
)
from specd._engine.document.parameters import Parameters
from specd._engine.document.schemas import Schemas, Validate
from specd._engine.document.styles import scalar
from specd._engine.errors import InvalidRequest, NonConformingResponse, Violation
from specd._engine.response import (
    Headers,
    Response,
    Stream,
    as_bytes,
    as_response,
    encode,
    is_iterator,
)

SHORT_LIST = 100
MANY = 100
ENGINE_HEADERS = frozenset(("content-type", "content-length", "request-id"))
"""Headers of every response, regardless of its handler."""
_OF_RANGES = {"text/*": "text/plain", "application/*": "application/octet-stream"}


class _Media:
    """One media type of one response."""

    def __init__(self, key: str, media: Mapping[str, Any], schemas: Schemas, place: str) -> None:
        self.key = key
        self.family = family_of(essence(key))
        schema = media.get("schema", {})
        self._kinds = kinds_of(schema, schemas)
        self.validate = schemas.compile(schema, place)
        items = media.get("itemSchema")
        self.validate_item: Validate | None = None
        if items is not None:
            self.validate_item = schemas.compile(items, place)

    def violations(self, body: bytes, media_type: str) -> Sequence[Any]:
        """Return the violations of a complete body. A body that is neither JSON nor text always
        fits.
        """
        family = family_of(essence(media_type))
        if family == "json":
            try:
                value = json.loads(body)
            except ValueError:
                return (Violation("/body", "is not JSON"),)
            return self.validate(value, "/body")
        if family == "text" and (not self._kinds or self._kinds - {"array", "object", "null"}):
            return self.validate(scalar(body.decode("utf-8"), self._kinds), "/body")
        return ()


class _Answer:
    """The documented response of one status: its media types and headers."""

    def __init__(
        self, node: Mapping[str, Any], schemas: Schemas, place: str, *, with_headers: bool
    ) -> None:
        self.media = {
            key: _Media(key, schemas.resolve(media), schemas, f"{place} {key}")
            for key, media in node.get("content", {}).items()
        }
        headers = [
            {**schemas.resolve(header), "name": name, "in": "header"}
            for name, header in node.get("headers", {}).items()
            if name.lower() not in ENGINE_HEADERS
        ]
        self.headers: Parameters | None = None
        if headers and with_headers:
            self.headers = Parameters("header", headers, schemas, place)

    def media_of(self, media_type: str) -> _Media | None:
        key = find_key(media_type, self.media)
        return None if key is None else self.media[key]

    def media_type_for(self, body: Any) -> str:
        """Return the media type of a body for which the handler names none: the first in the
        document that fits the type of the body.
        """
        if isinstance(body, str):
            wanted = self._first("text", "bytes")
        elif isinstance(body, bytes):
            wanted = self._first("bytes", "text")
        elif is_iterator(body):
            return next(iter(self._concrete()), "application/octet-stream")
        else:
            return next((key for key in self._concrete() if is_json(key)), JSON)
        if wanted is not None:
            return wanted
        ranges = [key for key in self.media if is_range(key)]
        if ranges and JSON not in self.media:
            text = "text/plain" if isinstance(body, str) else "application/octet-stream"
            return text if find_key(text, ranges) else _OF_RANGES.get(ranges[0], text)
        return JSON

    def _concrete(self) -> Iterator[str]:
        return (key for key in self.media if not is_range(key))

    def _first(self, *families: str) -> str | None:
        for family in families:
            for key in self._concrete():
                if self.media[key].family == family:
                    return key
        return None


def key_of(status: int, declared: Container[str]) -> str | None:
    """Return the key of `responses` that a status belongs to (OpenAPI 3.0.4, section 4.8.16)."""
    for key in (str(status), f"{status // 100}XX", "default"):
        if key in declared:
            return key
    return None


class Responses:
    """The documented responses of one operation, by status."""

    def __init__(
        self,
        declared: Mapping[str, Any],
        schemas: Schemas,
        place: str,
        *,
        with_headers: bool = True,
    ) -> None:
        """`with_headers` says whether `check` also validates the values of headers."""
        self._place = place
        self._answers: dict[str, _Answer] = {}
        self.hold_lists = False
        """Whether a successful response may contain a list longer than `SHORT_LIST`, and may
        therefore take long to generate.
        """
        bodies: list[Any] = []
        for status, node in declared.items():
            response = schemas.resolve(node)
            key = str(status).upper() if str(status)[1:].upper() == "XX" else str(status)
            self._answers[key] = _Answer(
                response, schemas, f"{place} response {key}", with_headers=with_headers
            )
            bodies += [media.get("schema", {}) for media in response.get("content", {}).values()]
            if key.startswith("2"):
                self.hold_lists |= any(
                    holds_list(schemas, media.get("schema", {}))
                    for media in response.get("content", {}).values()
                )
        self.are_json = all(set(answer.media) <= {JSON} for answer in self._answers.values())
        """Whether all responses are plain JSON."""
        self.are_finite = not any(may_hold_fractions(schemas, schema) for schema in bodies)
        """Whether no response may contain a float, so that a search for NaN is not needed."""

    def has(self, status: int) -> bool:
        """Return whether a status is documented, by its number, its range or `default`."""
        return key_of(status, self._answers) is not None

    def _find(self, status: int) -> tuple[str, _Answer] | None:
        key = key_of(status, self._answers)
        return None if key is None else (key, self._answers[key])

    def as_response(self, reply: Any, *, validates: bool = False) -> Response:
        """Return the response for a handler's return value, in the media type that the handler
        names in its headers, or else in that of the document. With `validates`, each item of a
        stream is validated if items have a schema.
        """
        if isinstance(reply, Response):
            return reply
        body, status = reply, 200
        headers: Mapping[str, str] = {}
        if isinstance(reply, tuple):
            body, status, *rest = reply
            headers = rest[0] if rest else {}
        if self.are_json and not is_iterator(body):
            return as_response(reply, is_finite=self.are_finite)
        found = self._find(status)
        answer = None if found is None else found[1]
        named = [value for name, value in headers.items() if name.lower() == "content-type"]
        media_type = named[0] if named else JSON if answer is None else answer.media_type_for(body)
        others = tuple(pair for pair in headers.items() if pair[0].lower() != "content-type")
        if is_iterator(body):
            media = None if answer is None else answer.media_of(media_type)
            check = media.validate_item if media is not None and validates else None
            return self._stream(body, status, others, media_type, check)
        if isinstance(body, str) and not is_json(media_type):
            has_charset = ";" in media_type or not media_type.startswith("text/")
            utf_8 = "" if has_charset else "; charset=utf-8"
            return Response(status, body.encode("utf-8"), others, media_type + utf_8)
        if not isinstance(body, bytes):
            body = b"" if body is None else encode(body)
        return Response(status, body, others, media_type)

    def _stream(
        self, pieces: Any, status: int, headers: Headers, media_type: str, check: Validate | None
    ) -> Stream:
        make: Callable[[Any], bytes] = as_bytes
        if is_sequence(media_type):
            make = frame_item(media_type)
        elif essence(media_type) == EVENT_STREAM:
            make = frame_event

        def frame(piece: Any) -> bytes:
            if isinstance(piece, (bytes, str)):
                return as_bytes(piece)
            violations = () if check is None else check(piece, "/body")
            if violations:
                first = violations[0]
                raise NonConformingResponse(f"{self._place}: {status}{first.path} {first.message}")
            return make(piece)

        return Stream(status, b"", headers, media_type, pieces, frame)

    def check(self, response: Response, sent: Mapping[str, str], *, is_error: bool = False) -> None:
        """Raise `NonConformingResponse` unless the document allows this response.

        `sent` are its headers, except `ENGINE_HEADERS`, by lower-case names. The pieces of a stream
        are checked when they are sent. The response to an error may have a body even if its entry
        has no `content`, because most documents omit the content of errors.
        """
        found = self._find(response.status)
        if found is None:
            raise NonConformingResponse(f"{self._place}: status {response.status} is undocumented")
        key, answer = found
        place = f"{self._place}: {key}"
        if answer.headers is not None:
            _check_headers(answer.headers, sent, place)
        if not answer.media:
            if (response.body or response.is_stream) and not is_error:
                raise NonConformingResponse(f"{place} must have no body")
            return
        media = answer.media_of(response.media_type)
        if media is None:
            raise NonConformingResponse(f"{place} has the media type {response.media_type}")
        violations = (
            () if response.is_stream else media.violations(response.body, response.media_type)
        )
        if violations:
            first = violations[0]
            raise NonConformingResponse(f"{place}{first.path} {first.message}")


def _check_headers(headers: Parameters, sent: Mapping[str, str], place: str) -> None:
    names = {each.name: each.name.lower() for each in headers.declared}
    texts = {name: [sent[key]] for name, key in names.items() if key in sent}
    raw = {name: [text.encode("latin-1", "replace")] for name, (text,) in texts.items()}
    try:
        headers.arguments(texts, raw)
    except InvalidRequest as error:
        first = error.violations[0]
        if first.rule == "required":
            name = first.path.rpartition("/")[2].lower()
            raise NonConformingResponse(f"{place} lacks the header {name}") from None
        raise NonConformingResponse(f"{place}{first.path} {first.message}") from None


def holds_list(schemas: Schemas, schema: Any) -> bool:
    """Return whether a schema contains a list that may be longer than `SHORT_LIST`, or refers to
    more than `MANY` other schemas.
    """
    waiting = [schema]
    seen: set[str] = set()
    while waiting:
        if len(seen) > MANY:
            return True
        part = waiting.pop()
        if not isinstance(part, Mapping) or part.get("$ref") in seen:
            continue
        if "$ref" in part:
            seen.add(part["$ref"])
            part = schemas.resolve(part)
        if "array" in str(part.get("type")) and part.get("maxItems", SHORT_LIST + 1) > SHORT_LIST:
            return True
        waiting += [
            *part.get("properties", {}).values(),
            *(each for key in ("allOf", "anyOf", "oneOf") for each in part.get(key, ())),
            part.get("items"),
            part.get("additionalProperties"),
        ]
    return False


def may_hold_fractions(schemas: Schemas, schema: Any) -> bool:
    """Return whether a value of a schema may contain a number that is not an integer, or whether
    the schema refers to more than `MANY` others. Undocumented properties are ignored, unless there
    are no others.
    """
    waiting = [schema]
    seen: set[str] = set()
    while waiting:
        part = waiting.pop()
        if len(seen) > MANY or part is True:
            return True
        if not isinstance(part, Mapping):
            continue
        if "$ref" in part:
            if part["$ref"] in seen:
                continue
            seen.add(part["$ref"])
            part = schemas.resolve(part)
        parts = [
            *part.get("properties", {}).values(),
            *part.get("patternProperties", {}).values(),
            *part.get("prefixItems", ()),
            *(each for key in ("allOf", "anyOf", "oneOf") for each in part.get(key, ())),
            *(
                part[key]
                for key in ("items", "additionalProperties", "then", "else")
                if key in part
            ),
        ]
        kinds = str(part.get("type", "object array" if not parts else ""))
        if "number" in kinds or (
            not parts
            and ("object" in kinds or "array" in kinds)
            and not part.keys() & {"const", "enum"}
        ):
            return True
        waiting += parts
    return False
