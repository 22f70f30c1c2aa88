"""Request bodies: they are read within limits and decoded by their media type. The decoders are
compiled once per operation.

The arguments of a handler depend only on the document. A form with named fields becomes one keyword
argument for each field, also if the document accepts JSON with the same fields instead. Every other
body is the argument `body`: a JSON value, a dictionary of a form's fields, a `str` for text, and
otherwise `bytes`, or a `File` on the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.types import Message, Receive

from specd._engine.document.forms import Form, Sent, is_binary
from specd._engine.document.kinds import kinds_of, properties_of
from specd._engine.document.media import (
    FORMS,
    JSON,
    MULTIPART,
    URLENCODED,
    essence,
    family_of,
    find_key,
    is_json,
    is_range,
    is_sequence,
    parameters,
    sequence_items,
)
from specd._engine.document.parameters import ArgumentNames
from specd._engine.document.schemas import Schemas, Validate
from specd._engine.document.styles import scalar
from specd._engine.errors import (
    BodyTooLarge,
    DocumentError,
    InvalidRequest,
    RequestTimeout,
    UnsupportedMediaType,
    Violation,
    invalid,
)
from specd._engine.files import File
from specd._engine.http.guard import decode_text, load_json
from specd._engine.http.queries import parse_pairs
from specd._engine.http.started import go_on

Query = Mapping[str, "list[str]"]
Arguments = tuple[dict[str, Any], set[str]]
"""A handler's arguments, and the names of unknown form fields."""
UNTYPED = "application/octet-stream"
"""The media type of a body without a Content-Type (RFC 9110, section 8.3)."""


class Disconnected(Exception):
    """The client disconnected before its request was complete."""


async def read_body(
    receive: Receive, headers: Mapping[bytes, bytes], *, limit: int, seconds: float
) -> bytes:
    """Return the complete request body.

    Raise `BodyTooLarge` for more than `limit` bytes (before reading, if there is a Content-Length),
    `RequestTimeout` if it is not complete after `seconds`, or `Disconnected`.
    """
    if not check_length(headers, limit):
        return b""
    # Most bodies have already arrived. Then no deadline is needed, whose setup takes 5 us.
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


def check_length(headers: Mapping[bytes, bytes], limit: int) -> bool:
    """Return whether a body follows, by the headers. Raise `BodyTooLarge` or `InvalidRequest`."""
    length = headers.get(b"content-length")
    if length is None:
        return b"transfer-encoding" in headers
    if not length.isdigit():
        raise invalid("/header/Content-Length", "must be a number")
    if len(length) > 15 or int(length) > limit:
        raise BodyTooLarge(limit)
    return int(length) > 0


async def _read_all(
    steps: Generator[Any, Any, Message], pending: Any, receive: Receive, limit: int
) -> bytes:
    return await _read_rest(await go_on(steps, pending), receive, limit)


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


@dataclass(frozen=True, slots=True)
class Reader:
    """Converts bodies of one media type to arguments. With `takes_empty`, an empty body is a value.
    With `is_text`, the body must be UTF-8. With `is_file`, it becomes a `File` if the service
    accepts files.
    """

    read: Callable[[bytes, str, Query], Arguments]
    takes_empty: bool = False
    is_text: bool = True
    is_file: bool = False


class Body:
    """The request body of one operation. Converts bytes to handler arguments."""

    def __init__(
        self,
        request_body: Mapping[str, Any],
        schemas: Schemas,
        place: str,
        *,
        form_in_query: bool = False,
        ignore_foreign: bool = False,
        names: ArgumentNames | None = None,
    ) -> None:
        content = {key: schemas.resolve(media) for key, media in request_body["content"].items()}
        self.required = bool(request_body.get("required", False))
        self.accepted = tuple(content)
        self._ignore_foreign = ignore_foreign
        self._schemas = schemas
        self._place = place
        self._make_form = partial(Form, schemas=schemas, in_query=form_in_query)
        forms = {
            essence(key): self._make_form(essence(key), media, place=self._at(key))
            for key, media in content.items()
            if essence(key) in FORMS
        }
        self.form: Form | None = None
        """The form whose fields are arguments, or None if the body is one argument."""
        if forms and self._is_of_fields(forms, content):
            self.form = forms.get(MULTIPART, forms.get(URLENCODED))
        self.arguments = {"body"}
        self.optional = set() if self.required else {"body"}
        if self.form is not None:
            names = names or ArgumentNames()
            names.release("body")
            keys = {name: names.take(name, "body") for name in self.form.fields}
            for form in forms.values():
                form.name_values(keys)
            self.arguments = set(keys.values())
            absent = self.form.optional if self.required else self.form.fields.keys()
            self.optional = {keys[name] for name in absent if name not in self.form.defaults}
        self._of_files: Form | None = None
        self._readers: dict[str, Reader] = {}
        self._ranges: dict[str, dict[str, Reader]] = {}
        for key, media in content.items():
            if is_range(key):
                self._ranges[key] = self._readers_of_range(key, media)
            else:
                self._readers[key] = self._reader(key, essence(key), media, forms)
        self.takes_files = self._of_files is not None or any(
            reader.is_file for reader in self._all_readers()
        )
        """Whether bodies may contain files, which are written to the disk if the service accepts
        files.
        """

    def _at(self, key: str) -> str:
        return f"{self._place} request body {key}"

    def _is_of_fields(self, forms: Mapping[str, Form], content: Mapping[str, Any]) -> bool:
        """Return whether all media types are forms of the same named fields."""
        first, *others = forms.values()
        fields = frozenset(first.fields)
        return (
            first.has_named_fields
            and not any(form.takes_more for form in forms.values())
            and all(form.schema == first.schema for form in others)
            and all(
                essence(key) in FORMS
                or (is_json(key) and self._properties(media) in (fields, first.names))
                for key, media in content.items()
            )
        )

    def _properties(self, media: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(properties_of(media.get("schema", {}), self._schemas))

    def _reader(
        self, key: str, name: str, media: Mapping[str, Any], forms: Mapping[str, Form]
    ) -> Reader:
        """Return the reader for bodies of the media type `name`, whose key in the document is
        `key`. Raise `DocumentError`.
        """
        schema = media.get("schema", {})
        family = family_of(name)
        if "itemSchema" in media:
            return self._reader_of_items(key, name, media["itemSchema"])
        if family in FORMS:
            form = forms.get(name) or self._make_form(name, media, place=self._at(key))
            if form.takes_files:
                self._of_files = form
            if self.form is not None and family == URLENCODED and not form.has_styles:
                return Reader(_reading_pairs(form), takes_empty=True)
            return Reader(partial(self._read_form, form), takes_empty=family == URLENCODED)
        if family == "json":
            if self.form is not None:
                return Reader(partial(self._read_fields_of_json, self.form))
            validate = self._schemas.compile(schema, self._at(key))
            return Reader(_reading_json(validate))
        if family == "text":
            kinds = kinds_of(schema, self._schemas)
            is_scalar = not kinds or bool(kinds - {"array", "object", "null"})
            validate = self._schemas.compile(schema if is_scalar else {}, self._at(key))
            return Reader(partial(self._read_text, kinds, validate), takes_empty=True)
        resolved = self._schemas.resolve(schema) if isinstance(schema, Mapping) else {}
        return Reader(
            self._read_bytes, takes_empty=True, is_text=False, is_file=is_binary(resolved)
        )

    def _reader_of_items(self, key: str, name: str, schema: Any) -> Reader:
        if not is_sequence(name):
            raise DocumentError(
                f"{self._at(key)}: itemSchema is served for JSON lines and JSON sequences alone"
            )
        validate = self._schemas.compile(schema, self._at(key))
        return Reader(partial(self._read_items, validate, name), takes_empty=True)

    def _readers_of_range(self, key: str, media: Mapping[str, Any]) -> dict[str, Reader]:
        """Return readers for the kinds of bodies in a range such as `*/*`. If the schema is binary,
        there is only a reader of bytes.
        """
        schema = media.get("schema", {})
        resolved = self._schemas.resolve(schema) if isinstance(schema, Mapping) else {}
        families = {"bytes": UNTYPED, "json": "application/json", "text": "text/plain"}
        kinds = kinds_of(schema, self._schemas)
        if not kinds or "object" in kinds:
            families |= {name: name for name in FORMS}
        if is_binary(resolved):
            families = {"bytes": UNTYPED}
        return {
            family: self._reader(key, name, media, {})
            for family, name in families.items()
            if family == "bytes" or find_key(name, (key,)) is not None
        }

    def _all_readers(self) -> list[Reader]:
        of_ranges = [reader for each in self._ranges.values() for reader in each.values()]
        return [*self._readers.values(), *of_ranges]

    def decode(self, raw: bytes, headers: Mapping[bytes, bytes], query: Query) -> Arguments:
        """Return the handler's arguments from the body, and the names of unknown form fields.

        Raise `UnsupportedMediaType` or `InvalidRequest`.
        """
        content_type = headers.get(b"content-type", b"").decode("latin-1")
        reader = self._readers.get(content_type) or self._find(content_type, is_sent=bool(raw))
        if reader is None:
            if raw and self.required and self.form is None:
                raise invalid("/body", f"must be {', '.join(self.accepted)}", "mediaType")
            return self._without_body(query)
        if b"content-encoding" in headers and is_compressed(headers):
            raise UnsupportedMediaType(self.accepted, is_compressed=True)
        if not (raw or reader.takes_empty):
            return self._without_body(query)
        return reader.read(raw, content_type, query)

    def arrival_of(self, headers: Mapping[bytes, bytes]) -> Form | Reader | None:
        """Return the form or reader for a body with files, which is read as it arrives, or None for
        other bodies.
        """
        if is_compressed(headers):
            return None
        content_type = headers.get(b"content-type", b"").decode("latin-1")
        if essence(content_type) == MULTIPART and self._of_files is not None:
            return self._of_files
        try:
            reader = self._find(content_type, is_sent=b"content-length" in headers)
        except UnsupportedMediaType:  # reported later, by `decode`
            return None
        return reader if reader is not None and reader.is_file else None

    def decode_arrived(self, arrived: Mapping[str, list[Any]] | File, query: Query) -> Arguments:
        """Return the same as `decode`, for a form that was read as it arrived, or for a file."""
        if isinstance(arrived, File):
            return {"body": arrived}, set()
        assert self._of_files is not None
        return self._from_form(self._of_files, arrived, query)

    def _find(self, content_type: str, *, is_sent: bool) -> Reader | None:
        """Return the reader of a media type, or None if there is no body or it is ignored. Raise
        `UnsupportedMediaType`.
        """
        wanted = content_type or (UNTYPED if is_sent else "")
        key = find_key(wanted, self.accepted) if wanted else None
        if key is None and not content_type and is_sent and self._ignore_foreign:
            # Clients that send no media type, such as Go's, send a type that the operation accepts.
            key = find_key(JSON, self.accepted) if self.form is None else None
        if key is None:
            if wanted and not self._ignore_foreign:
                raise UnsupportedMediaType(self.accepted)
            return None
        reader = self._readers.get(key)
        if reader is None:
            families = self._ranges[key]
            reader = families.get(family_of(essence(wanted)), families["bytes"])
        if reader.is_text and "charset" in parameters(content_type):
            raise UnsupportedMediaType(self.accepted)
        return reader

    def _from_form(
        self, form: Form, sent: Sent, query: Query, raw: Mapping[str, Sequence[bytes]] | None = None
    ) -> Arguments:
        if self.form is None:
            return {"body": form.decode_whole(sent, raw)}, set()
        return form.decode(sent, query, raw)

    def _read_form(self, form: Form, raw: bytes, content_type: str, query: Query) -> Arguments:
        sent, texts = form.read(raw, content_type)
        return self._from_form(form, sent, query, texts)

    def _read_fields_of_json(self, form: Form, raw: bytes, _: str, query: Query) -> Arguments:
        return self._from_form(form, form.sent_as_json(load_json(raw)), query)

    def _read_text(
        self, kinds: frozenset[str], validate: Validate, raw: bytes, _: str, query: Query
    ) -> Arguments:
        return _checked(scalar(decode_text(raw, "/body"), kinds), validate)

    def _read_items(
        self, validate: Validate, name: str, raw: bytes, _: str, query: Query
    ) -> Arguments:
        items = [
            load_json(item, f"/body/{at}") for at, item in enumerate(sequence_items(raw, name))
        ]
        violations = [v for at, item in enumerate(items) for v in validate(item, f"/body/{at}")]
        if violations:
            raise InvalidRequest(violations)
        return {"body": items}, set()

    def _read_bytes(self, raw: bytes, _: str, query: Query) -> Arguments:
        return {"body": raw}, set()

    def _without_body(self, query: Query) -> Arguments:
        if self.form is not None and (self.required or self.form.in_query):
            return self._from_form(self.form, {}, query)
        if self.form is not None:
            return self.form.key_defaults(), set()
        if self.required:
            raise InvalidRequest((Violation("/body", "is required", "required"),))
        return {}, set()


def is_compressed(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a body has an encoding, which the engine does not decode."""
    return headers.get(b"content-encoding", b"identity").lower() != b"identity"


def _reading_pairs(form: Form) -> Callable[[bytes, str, Query], Arguments]:
    def read(raw: bytes, _: str, query: Query) -> Arguments:
        return form.decode(parse_pairs(raw, "body"), query)

    return read


def _reading_json(validate: Validate) -> Callable[[bytes, str, Query], Arguments]:
    def read(raw: bytes, _: str, query: Query) -> Arguments:
        value = load_json(raw)
        violations = validate(value, "/body")
        if violations:
            raise InvalidRequest(violations)
        return {"body": value}, set()

    return read


def _checked(value: Any, validate: Validate) -> Arguments:
    violations = validate(value, "/body")
    if violations:
        raise InvalidRequest(violations)
    return {"body": value}, set()
