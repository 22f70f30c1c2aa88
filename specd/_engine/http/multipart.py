"""`multipart/form-data` (RFC 7578), read strictly and in linear time.

The body must have the form that browsers and SDKs write: each part has a `Content-Disposition` that
names its field, and there is a last boundary. General MIME parsers accept more, but cost more for
each part. `parse_parts` reads a body in memory, and `PartStream` reads a body that is still
arriving.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote

from werkzeug.http import parse_options_header

from specd._engine.errors import InvalidRequest, invalid
from specd._engine.http.guard import decode_text

MAX_PART_HEAD = 4096

_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{1,200}")
_DISPOSITION = re.compile(
    rb'form-data((?:[ \t]*;[ \t]*[A-Za-z*-]++=(?:"(?:[^"\\]|\\.)*+"|[^\s";]*+))*+)[ \t]*+;?',
    re.DOTALL | re.IGNORECASE,
)
_OPTION = re.compile(
    rb';[ \t]*([A-Za-z*-]++)=(?:"((?:[^"\\]|\\.)*+)"|([^\s";]*+))', re.DOTALL
)  # fmt: skip
# Browsers and urllib3 do not escape backslashes, so there may be one before the closing quote.
_RAW_NAME = re.compile(rb'form-data; *name="([^"]*+)"', re.IGNORECASE)
_ESCAPE = re.compile(rb"\\(.)|%(22|0[aAdD])", re.DOTALL)
_PERCENT = re.compile(rb"%(22|0[aAdD])")
_PLAIN = frozenset((b"7bit", b"8bit", b"binary"))


class Head(NamedTuple):
    """The head of a part. `file_name` may be empty, and is None for a part that is not a file.
    `media_type` comes from the client. `headers` are all headers, by lower-case names.
    """

    name: str
    file_name: str | None
    media_type: str
    headers: Mapping[bytes, bytes]


class Part(NamedTuple):
    """A part: the name of its field, its bytes, and its head."""

    name: str
    content: bytes
    head: Head


def parse_parts(raw: bytes, content_type: str, *, limit: int) -> list[Part]:
    """Return the parts of a body. Raise `InvalidRequest` for a malformed body or more than `limit`
    parts.
    """
    delimiter = _delimiter_of(content_type)
    body = b"\r\n" + raw
    if body.count(delimiter) > limit + 1:
        raise invalid("/body", f"has more than {limit} parts")
    _, *chunks = body.split(delimiter)
    if not chunks or not chunks[-1].startswith(b"--"):
        raise _malformed("the last boundary is missing")
    return [_part(chunk) for chunk in chunks[:-1]]


class _Place(Enum):
    """The place of the next byte in a body."""

    BEFORE = 1
    HEAD = 2
    CONTENT = 3
    AFTER = 4


class PartStream:
    """The parts of a body that arrives piece by piece. It keeps at most one piece in memory.

    It accepts the same bodies as `parse_parts`, and raises the same errors.
    """

    def __init__(self, content_type: str, *, limit: int) -> None:
        self._delimiter = _delimiter_of(content_type)
        self._limit = limit
        self._begun = 0
        self._place = _Place.BEFORE
        self._buffer = bytearray(b"\r\n")

    def feed(self, data: bytes) -> Iterator[Head | bytes]:
        """Yield the items that these bytes complete: the `Head` of a part, then pieces of its
        content.
        """
        buffer, delimiter = self._buffer, self._delimiter
        buffer += data
        while self._place is not _Place.AFTER:
            if self._place is _Place.HEAD:
                head = self._take_head()
                if head is None:
                    return
                yield head
                continue
            at = buffer.find(delimiter)
            found = at >= 0
            ready = at if found else len(buffer) - len(delimiter) + 1
            if ready > 0 and self._place is _Place.CONTENT:
                yield bytes(buffer[:ready])
            if not found:
                del buffer[: max(ready, 0)]
                return
            del buffer[: at + len(delimiter)]
            self._begun += 1
            if self._begun > self._limit + 1:
                raise invalid("/body", f"has more than {self._limit} parts")
            self._place = _Place.HEAD
        buffer.clear()

    def end(self) -> None:
        """Raise `InvalidRequest` unless the last boundary has arrived."""
        if self._place is _Place.HEAD and self._buffer.startswith(b"--"):
            self._place = _Place.AFTER
        if self._place is not _Place.AFTER:
            raise _malformed("the last boundary is missing")

    def _take_head(self) -> Head | None:
        """Return the head of the next part, or None if it is not complete yet or there are no more
        parts.
        """
        buffer = self._buffer
        if buffer.startswith(b"--"):
            self._place = _Place.AFTER
            buffer.clear()
            return None
        end = buffer.find(b"\r\n\r\n")
        if end > MAX_PART_HEAD or (end < 0 and len(buffer) > MAX_PART_HEAD):
            raise _malformed("a part has no proper head")
        if end < 0:
            return None
        head = bytes(buffer[:end])
        if self._delimiter in head:
            raise _malformed("a part has no proper head")
        del buffer[: end + 4]
        self._place = _Place.CONTENT
        return _head(head)


def _delimiter_of(content_type: str) -> bytes:
    boundary = parse_options_header(content_type)[1].get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise invalid("/header/Content-Type", "lacks a boundary")
    return b"\r\n--" + boundary.encode("ascii")


def _malformed(problem: str) -> InvalidRequest:
    return invalid("/body", f"is not valid multipart/form-data: {problem}")


def _part(chunk: bytes) -> Part:
    head, separator, content = chunk.partition(b"\r\n\r\n")
    if not separator:
        raise _malformed("a part has no proper head")
    parsed = _head(head)
    return Part(parsed.name, content, parsed)


def _head(text: bytes) -> Head:
    """Parse the bytes between a boundary and a part's content."""
    padding, _, lines = text.partition(b"\r\n")
    if padding.strip(b" \t") or len(lines) > MAX_PART_HEAD:
        raise _malformed("a part has no proper head")
    headers = {}
    for line in lines.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        headers[name.lower() if colon else b""] = value.strip(b" \t")
    disposition = _DISPOSITION.fullmatch(headers.get(b"content-disposition", b""))
    options = {}
    if disposition is not None:
        for option, quoted, token in _OPTION.findall(disposition[1]):
            options[option.lower()] = _ESCAPE.sub(_unescape, quoted or token)
    elif (raw := _RAW_NAME.fullmatch(headers.get(b"content-disposition", b""))) is not None:
        options[b"name"] = _PERCENT.sub(lambda code: bytes.fromhex(code[1].decode()), raw[1])
    if b"name" not in options:
        raise _malformed("a part has no name")
    if headers.get(b"content-transfer-encoding", b"binary").lower() not in _PLAIN:
        raise _malformed("a part is encoded")
    field = decode_text(options[b"name"], "/body")
    media_type = headers.get(b"content-type", b"").decode("latin-1")
    return Head(field, _file_name(options), media_type, headers)


def _file_name(options: dict[bytes, bytes]) -> str | None:
    """Return the name of a part's file, or None. Bytes that are not UTF-8 are replaced, because the
    name is only a label.
    """
    extended = options.get(b"filename*")
    if extended is not None:  # RFC 8187; RFC 7578 forbids it, and urllib3 1 writes it
        charset, _, value = extended.decode("latin-1").partition("''")
        if charset.lower() in ("utf-8", "us-ascii"):
            return unquote(value)
    name = options.get(b"filename")
    if name is None:
        return None if extended is None else ""
    return name.decode("utf-8", "replace")


def _unescape(escape: re.Match[bytes]) -> bytes:
    """Return the character after a backslash (RFC 822), or a character that browsers
    percent-encode.
    """
    return escape[1] if escape[1] is not None else bytes.fromhex(escape[2].decode("ascii"))
