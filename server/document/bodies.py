"""Request bodies: read within limits, then decoded by media type, compiled once per operation."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from starlette.types import Message, Receive
from werkzeug.http import parse_options_header

from server.document.forms import Form
from server.document.schemas import Schemas, Validate
from server.errors import (
    BodyTooLarge,
    DocumentError,
    InvalidRequest,
    RequestTimeout,
    UnsupportedMediaType,
    Violation,
    invalid,
)
from server.wire.guard import load_json
from server.wire.queries import parse_pairs
from server.wire.started import go_on

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


class Disconnected(Exception):
    """The client disconnected before its request was whole."""


async def read_body(
    receive: Receive, headers: Mapping[bytes, bytes], *, limit: int, seconds: float
) -> bytes:
    """Return the whole request body.

    Raise `BodyTooLarge` over `limit` bytes (by Content-Length before reading any),
    `RequestTimeout` when it is not whole after `seconds`, `Disconnected`.
    """
    if not check_length(headers, limit):
        return b""
    # Most bodies are there already: then no deadline has to be set up, which takes 5 us.
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
    """Return whether a body follows by the headers. Raise `BodyTooLarge`, `InvalidRequest`."""
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


class Body:
    """How one operation takes its request body; turns bytes into handler arguments.

    JSON alone is the argument `body`. Beside a form it is a third notation of the form's fields, so
    its schema has to name the same ones.
    """

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
        json_fields: frozenset[str] | None = None
        for media_type, media in request_body["content"].items():
            where = f"{place} request body {media_type}"
            if media_type == JSON:
                self._json = schemas.compile(media.get("schema", {}), where)
                json_fields = schemas.properties(media.get("schema", {}))
            elif media_type in (URLENCODED, MULTIPART):
                form = Form(media, schemas, where, in_query=form_in_query)
                if self.form is not None and form.schema != self.form.schema:
                    raise DocumentError(f"{where}: both form media types need the same schema")
                self.form = self.form or form
            else:
                raise DocumentError(f"{where}: this media type is not served")
        if self.form is not None:
            if json_fields not in (None, self.form.names):
                raise DocumentError(f"{place} request body: JSON and forms need the same fields")
            self.arguments = self.form.arguments
            self.optional = self.form.optional if self.required else self.form.without_default
        else:
            self.arguments = {"body"}
            self.optional = set() if self.required else {"body"}

    def decode(
        self, raw: bytes, headers: Mapping[bytes, bytes], query: Mapping[str, list[str]]
    ) -> tuple[dict[str, Any], set[str]]:
        """Return handler arguments from the body, and the names of unknown form fields.

        Raise `UnsupportedMediaType`, `InvalidRequest`.
        """
        media_type = content_type = headers.get(b"content-type", b"").decode("latin-1")
        if media_type not in self.accepted:
            media_type, _, options = content_type.partition(";")
            media_type = media_type.strip().lower()
            if media_type not in self.accepted:
                if (raw or content_type) and not self._ignore_foreign:
                    raise UnsupportedMediaType(self.accepted)
                return self._without_body(query)
            if "charset" in options.lower():
                charset = parse_options_header(content_type)[1].get("charset", "utf-8")
                if charset.lower() not in ("utf-8", "utf8", "us-ascii"):
                    raise UnsupportedMediaType(self.accepted)
        if b"content-encoding" in headers and headers[b"content-encoding"].lower() != b"identity":
            raise UnsupportedMediaType(self.accepted)
        if media_type == JSON:
            return self._from_json(raw, query) if raw else self._without_body(query)
        assert self.form is not None
        if media_type == URLENCODED:
            return self.form.decode(parse_pairs(raw, "body"), query)
        if not raw:
            return self._without_body(query)
        return self.form.decode(self.form.parts(raw, content_type), query)

    def _from_json(
        self, raw: bytes, query: Mapping[str, list[str]]
    ) -> tuple[dict[str, Any], set[str]]:
        value = load_json(raw)
        if self.form is not None:
            return self.form.decode_json(value, query)
        assert self._json is not None
        violations = self._json(value, "/body")
        if violations:
            raise InvalidRequest(violations)
        return {"body": value}, set()

    def _without_body(self, query: Mapping[str, list[str]]) -> tuple[dict[str, Any], set[str]]:
        if self.form is not None and (self.required or self.form.in_query):
            return self.form.decode({}, query)
        if self.form is not None:
            return dict(self.form.defaults), set()
        if self.required:
            raise InvalidRequest((Violation("/body", "is required", "required"),))
        return {}, set()
