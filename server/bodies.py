"""Request bodies: read within limits, then decoded by media type, compiled once per operation."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from starlette.types import Message, Receive
from werkzeug.http import parse_options_header

from server.errors import (
    BodyTooLarge,
    DocumentError,
    InvalidRequest,
    RequestTimeout,
    UnsupportedMediaType,
    Violation,
    invalid,
)
from server.guard import decode_text, load_json, pointer_step
from server.multipart import parse_parts
from server.parameters import (
    MAX_QUERY_FIELDS,
    argument_name,
    item_kinds_of,
    kinds_of,
    parse_pairs,
)
from server.schemas import Schemas, Validate

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
_MISSING = object()


class Disconnected(Exception):
    """The client went away before its request was whole; nobody is left to answer."""


async def read_body(
    receive: Receive, headers: Mapping[bytes, bytes], *, limit: int, seconds: float
) -> bytes:
    """The whole request body.

    Raises `BodyTooLarge` over `limit` bytes (by Content-Length before reading any),
    `RequestTimeout` when it is not whole after `seconds`, `Disconnected`.
    """
    length = headers.get(b"content-length")
    if length is None:
        if b"transfer-encoding" not in headers:
            return b""
    elif not length.isdigit():
        raise invalid("/header/Content-Length", "must be a number")
    elif len(length) > 15 or int(length) > limit:
        raise BodyTooLarge(limit)
    elif int(length) == 0:
        return b""
    # Most bodies are there already; then nothing waits, and no deadline has to be set up.
    steps = receive().__await__()
    try:
        pending = next(steps)
    except StopIteration as arrived:
        first: Message = arrived.value
        if not first.get("more_body", False):
            return _whole([_chunk(first)], limit)
        reading = _read_rest(first, receive, limit)
    else:
        reading = _read_all(steps, pending, receive, limit)
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        raise RequestTimeout(seconds) from None


async def _read_all(
    steps: Generator[Any, Any, Message], pending: Any, receive: Receive, limit: int
) -> bytes:
    return await _read_rest(await _go_on(steps, pending), receive, limit)


@types.coroutine
def _go_on(steps: Generator[Any, Any, Message], pending: Any) -> Generator[Any, Any, Message]:
    """Awaits what was started by hand: `pending` is what it waits for."""
    try:
        yield pending
    except BaseException:
        steps.close()
        raise
    return (yield from steps)


async def _read_rest(message: Message, receive: Receive, limit: int) -> bytes:
    chunks = [_chunk(message)]
    size = len(chunks[0])
    while message.get("more_body", False) and size <= limit:
        message = await receive()
        chunks.append(_chunk(message))
        size += len(chunks[-1])
    return _whole(chunks, limit)


def _chunk(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise Disconnected
    return message.get("body", b"")  # type: ignore[no-any-return]


def _whole(chunks: Sequence[bytes], limit: int) -> bytes:
    body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if len(body) > limit:
        raise BodyTooLarge(limit)
    return body


class Body:
    """How one operation takes its request body; turns bytes into handler arguments."""

    def __init__(
        self,
        request_body: Mapping[str, Any],
        schemas: Schemas,
        place: str,
        *,
        form_in_query: bool,
        ignore_foreign: bool,
    ) -> None:
        self.required = bool(request_body.get("required", False))
        self.accepted = tuple(request_body["content"])
        self.form: Form | None = None
        self._json: Validate | None = None
        self._ignore_foreign = ignore_foreign
        for media_type, media in request_body["content"].items():
            where = f"{place} request body {media_type}"
            if media_type == JSON:
                self._json = schemas.compile(media.get("schema", {}), where)
            elif media_type in (URLENCODED, MULTIPART):
                form = Form(media, schemas, where, in_query=form_in_query)
                if self.form is not None and form.schema != self.form.schema:
                    raise DocumentError(f"{where}: both form media types need the same schema")
                self.form = self.form or form
            else:
                raise DocumentError(f"{where}: this media type is not served")
        self.arguments = {"body"} if self._json else set()
        self.optional = set() if self.required else set(self.arguments)
        if self.form is not None:
            self.arguments |= self.form.arguments
            self.optional |= self.form.optional if self.required else self.form.without_default
        if self._json and self.form is not None:
            self.optional = set(self.arguments)

    def decode(
        self, raw: bytes, headers: Mapping[bytes, bytes], query: Mapping[str, list[str]]
    ) -> tuple[dict[str, Any], set[str]]:
        """Handler arguments from the body, and the names of form fields no document knows.

        Raises `UnsupportedMediaType`, `InvalidRequest`.
        """
        content_type = headers.get(b"content-type", b"").decode("latin-1")
        media_type, _, options = content_type.partition(";")
        media_type = media_type.strip().lower()
        if media_type not in self.accepted:
            if (raw or content_type) and not self._ignore_foreign:
                raise UnsupportedMediaType(self.accepted)
            return self._without_body(query)
        if options and "charset" in options.lower():
            charset = parse_options_header(content_type)[1].get("charset", "utf-8")
            if charset.lower() not in ("utf-8", "utf8", "us-ascii"):
                raise UnsupportedMediaType(self.accepted)
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise UnsupportedMediaType(self.accepted)
        if media_type == JSON:
            return self._from_json(raw) if raw else self._without_body(query)
        assert self.form is not None
        if media_type == URLENCODED:
            return self.form.decode(parse_pairs(raw, "body"), query)
        if not raw:
            return self._without_body(query)
        return self.form.decode(self.form.parts(raw, content_type), query)

    def _from_json(self, raw: bytes) -> tuple[dict[str, Any], set[str]]:
        assert self._json is not None
        value = load_json(raw)
        violations = self._json(value, "/body")
        if violations:
            raise InvalidRequest(violations)
        return {"body": value}, set()

    def _without_body(self, query: Mapping[str, list[str]]) -> tuple[dict[str, Any], set[str]]:
        if self.form is not None and (self.required or self.form.in_query):
            return self.form.decode({}, query)
        if self.form is not None:
            return self.form.with_defaults({}), set()
        if self.required:
            raise InvalidRequest((Violation("/body", "is required", "required"),))
        return {}, set()


class Form:
    """Form fields (urlencoded or multipart) of one operation.

    A field whose schema is not a plain string, or whose `encoding` says `application/json`, comes
    as JSON text; an array also as repeated keys, which is what generated clients send.
    """

    def __init__(
        self, media: Mapping[str, Any], schemas: Schemas, place: str, *, in_query: bool
    ) -> None:
        self.schema = schema = schemas.resolve(media.get("schema", {}))
        encoding = media.get("encoding", {})
        self.in_query = in_query
        self.fields = {
            name: Field(name, schemas.resolve(item), encoding.get(name, {}), schemas)
            for name, item in schema.get("properties", {}).items()
        }
        self.arguments = {field.argument for field in self.fields.values()}
        required = schema.get("required", ())
        self.without_default = {
            field.argument for field in self.fields.values() if field.default is _MISSING
        }
        self.optional = self.without_default - {
            field.argument for name, field in self.fields.items() if name in required
        }
        self._binary = any(field.binary for field in self.fields.values())
        self._closed = schema.get("additionalProperties") is False
        self._validate = schemas.compile(
            {key: value for key, value in schema.items() if key != "additionalProperties"}, place
        )

    def parts(self, raw: bytes, content_type: str) -> dict[str, list[Any]]:
        """The parts of a `multipart/form-data` body as name -> values, bytes for binary fields."""
        if not self._binary:
            decode_text(raw, "/body")
        sent: dict[str, list[Any]] = {}
        for name, content, _ in parse_parts(raw, content_type, limit=MAX_QUERY_FIELDS):
            field = self.fields.get(name)
            is_binary = field is not None and field.binary
            value = content if is_binary else decode_text(content, f"/body/{pointer_step(name)}")
            sent.setdefault(name, []).append(value)
        return sent

    def decode(
        self, sent: Mapping[str, list[Any]], query: Mapping[str, list[str]]
    ) -> tuple[dict[str, Any], set[str]]:
        """Handler arguments from fields sent, the query string's filling in where allowed, and the
        names of fields no document knows. Raises `InvalidRequest`.
        """
        values: dict[str, Any] = {}
        violations: list[Violation] = []
        for name, field in self.fields.items():
            texts = sent.get(name)
            if texts is None and self.in_query:
                texts = query.get(name)
            if texts is None:
                continue
            try:
                values[name] = field.decode(texts)
            except InvalidRequest as error:
                violations.extend(error.violations)
        unknown = sent.keys() - self.fields.keys()
        if self._closed and unknown:
            violations.extend(
                Violation(
                    "/body",
                    f"has a field the document does not know: {name[:100]}",
                    "additionalProperties",
                )
                for name in sorted(unknown)[:20]
            )
        texts_only = values
        if self._binary:  # the bytes of a file fit no schema
            texts_only = {k: "" if isinstance(v, bytes) else v for k, v in values.items()}
        violations.extend(self._validate(texts_only, "/body"))
        if violations:
            raise InvalidRequest(violations)
        arguments = {self.fields[name].argument: value for name, value in values.items()}
        return self.with_defaults(arguments), unknown

    def with_defaults(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """`arguments`, completed by the defaults of fields that were not sent."""
        for field in self.fields.values():
            if field.default is not _MISSING and field.argument not in arguments:
                arguments[field.argument] = field.default
        return arguments


class Field:
    """One form field: how the texts sent under its name become its value."""

    def __init__(
        self,
        name: str,
        schema: Mapping[str, Any],
        encoding: Mapping[str, Any],
        schemas: Schemas,
    ) -> None:
        self.argument = argument_name(name)
        self.pointer = f"/body/{name}"
        self.default = schema.get("default", _MISSING)
        self.binary = schema.get("format") == "binary"
        self._kinds = kinds = kinds_of(schema, schemas)
        self._is_text = kinds <= {"string"} and encoding.get("contentType") != JSON
        self._may_be_text = "string" in kinds
        self._array = "array" in kinds
        self._single = kinds - {"array"}
        self._item_kinds = item_kinds = item_kinds_of(schema, schemas)
        self._text_items = "string" in item_kinds
        self._object_items = "object" in item_kinds
        self._exploded = self._array and encoding.get("contentType") != JSON

    def decode(self, texts: list[Any]) -> Any:
        if self._is_text:
            return texts[-1]
        if len(texts) > 1 and self._array:
            return [self._item(text) for text in texts]
        text = texts[-1]
        try:
            value = load_json(text.encode("utf-8"), self.pointer)
        except InvalidRequest:
            if self._may_be_text:
                return text
            if self._exploded and self._text_items:
                return [text]
            raise
        if self._may_be_text and value is not None and not _fits(value, self._kinds):
            return text
        if self._array and not self._single and not isinstance(value, list):
            if isinstance(value, dict) and not self._object_items:
                return value  # somebody meant an object; the schema says what was wanted
            return [self._item(text)]
        return value

    def _item(self, text: str) -> Any:
        if self._item_kinds == {"string"}:
            return text
        try:
            value = load_json(text.encode("utf-8"), self.pointer)
        except InvalidRequest:
            if self._text_items:
                return text
            raise
        return value if not self._text_items or _fits(value, self._item_kinds) else text


_KINDS: dict[type, frozenset[str]] = {
    bool: frozenset(("boolean",)),
    int: frozenset(("integer", "number")),
    float: frozenset(("number",)),
    str: frozenset(("string",)),
    list: frozenset(("array",)),
    dict: frozenset(("object",)),
}


def _fits(value: Any, kinds: frozenset[str]) -> bool:
    """Is a JSON value of one of these types? A text that may be text and reads as another type of
    JSON by chance is text.
    """
    return not kinds or bool(_KINDS.get(type(value), kinds) & kinds)
