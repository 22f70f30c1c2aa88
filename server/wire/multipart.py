"""`multipart/form-data` (RFC 7578), read strictly and in linear time.

The body must be what a browser or an SDK writes: each part with a `Content-Disposition` that names
its field, and a last boundary. General MIME readers forgive more, at a price per part.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from werkzeug.http import parse_options_header

from server.errors import invalid
from server.wire.guard import decode_text

MAX_PART_HEAD = 4096

_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{1,200}")
_DISPOSITION = re.compile(
    rb'form-data((?:[ \t]*;[ \t]*[A-Za-z*-]++=(?:"(?:[^"\\]|\\.)*+"|[^\s";]*+))*+)[ \t]*+;?',
    re.DOTALL | re.IGNORECASE,
)
_OPTION = re.compile(
    rb';[ \t]*([A-Za-z*-]++)=(?:"((?:[^"\\]|\\.)*+)"|([^\s";]*+))', re.DOTALL
)  # fmt: skip
# Browsers and urllib3 write a backslash as it is, so that one may stand before the closing quote.
_RAW_NAME = re.compile(rb'form-data; *name="([^"]*+)"', re.IGNORECASE)
_ESCAPE = re.compile(rb"\\(.)|%(22|0[aAdD])", re.DOTALL)
_PERCENT = re.compile(rb"%(22|0[aAdD])")
_PLAIN = frozenset((b"7bit", b"8bit", b"binary"))


class Part(NamedTuple):
    """One part: the field it belongs to, its bytes, and whether it came with a file's name."""

    name: str
    content: bytes
    is_file: bool


def parse_parts(raw: bytes, content_type: str, *, limit: int) -> list[Part]:
    """The parts of a body. Raises `InvalidRequest` for what is not well made or over `limit`."""
    boundary = parse_options_header(content_type)[1].get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise invalid("/header/Content-Type", "lacks a boundary")
    delimiter = b"\r\n--" + boundary.encode("ascii")
    body = b"\r\n" + raw
    if body.count(delimiter) > limit + 1:
        raise invalid("/body", f"has more than {limit} parts")
    _, *chunks = body.split(delimiter)
    if not chunks or not chunks[-1].startswith(b"--"):
        raise invalid("/body", "is not valid multipart/form-data: the last boundary is missing")
    return [_part(chunk) for chunk in chunks[:-1]]


def _part(chunk: bytes) -> Part:
    head, separator, content = chunk.partition(b"\r\n\r\n")
    padding, _, head = head.partition(b"\r\n")
    if not separator or padding.strip(b" \t") or len(head) > MAX_PART_HEAD:
        raise invalid("/body", "is not valid multipart/form-data: a part has no proper head")
    headers = {}
    for line in head.split(b"\r\n"):
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
        raise invalid("/body", "is not valid multipart/form-data: a part has no name")
    if headers.get(b"content-transfer-encoding", b"binary").lower() not in _PLAIN:
        raise invalid("/body", "is not valid multipart/form-data: a part is encoded")
    field = decode_text(options[b"name"], "/body")
    return Part(field, content, b"filename" in options or b"filename*" in options)


def _unescape(escape: re.Match[bytes]) -> bytes:
    """A quoted character: with a backslash (RFC 822), or the three that browsers percent-encode."""
    return escape[1] if escape[1] is not None else bytes.fromhex(escape[2].decode("ascii"))
