"""Media types (RFC 9110, section 8.3.1): classification, and matching with the keys of
`content`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from werkzeug.http import parse_options_header

from specd._engine.response import encode

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
EVENT_STREAM = "text/event-stream"
FORMS = (URLENCODED, MULTIPART)
_LINES = ("application/jsonl", "application/x-ndjson", "application/ndjson")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_JSON_SEQ = ("/json-seq", "+json-seq")


def essence(media_type: str) -> str:
    """Return a media type in lower case, without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Return whether a media type is JSON by its name (RFC 6839, section 3.1)."""
    name = essence(media_type)
    return name == JSON or name.endswith(("+json", "/json"))


def is_text(media_type: str) -> bool:
    """Return whether a media type is text. XML and JSON are not text."""
    name = essence(media_type)
    return name.startswith("text/") and not is_json(name) and name != "text/xml"


def family_of(name: str) -> str:
    """Return the way in which bodies of a media type are read: `json`, `text`, the media type of a
    form, or `bytes`.
    """
    if name in FORMS:
        return name
    if is_json(name):
        return "json"
    return "text" if is_text(name) else "bytes"


def is_range(media_type: str) -> bool:
    """Return whether a key of `content` is for several media types (OpenAPI 3.2.0, 4.14)."""
    return essence(media_type).endswith("/*")


def is_sequence(media_type: str) -> bool:
    """Return whether a media type is a sequence of JSON values (OpenAPI 3.2.0, 4.14.2)."""
    name = essence(media_type)
    return name in _LINES or name.endswith(_JSON_SEQ)


def sequence_items(raw: bytes, media_type: str) -> list[bytes]:
    """Return the values of a sequence, each as JSON: its lines, or the records of RFC 7464."""
    separator = b"\x1e" if essence(media_type).endswith(_JSON_SEQ) else b"\n"
    return [item for item in raw.split(separator) if item.strip()]


def frame_item(media_type: str) -> Callable[[Any], bytes]:
    """Return the function that encodes one value of a sequence."""
    start = b"\x1e" if essence(media_type).endswith(_JSON_SEQ) else b""
    return partial(_framed, start)


def _framed(start: bytes, value: Any) -> bytes:
    return b"%b%b\n" % (start, encode(value))


def frame_event(event: Mapping[str, Any]) -> bytes:
    """Return a server-sent event (WHATWG HTML, section 9.2.6) with the fields `event`, `id`,
    `retry` and `data`. Values that are not text are sent as JSON. Raise `ValueError` for another
    field, and for a line break in a field other than `data`.
    """
    lines: list[str] = []
    for name, value in event.items():
        if name not in ("event", "id", "retry", "data"):
            raise ValueError(f"a server-sent event has no field {name}")
        text = value if isinstance(value, str) else encode(value).decode("utf-8")
        parts = _LINE_BREAK.split(text)
        if name != "data" and len(parts) > 1:
            raise ValueError(f"the field {name} of a server-sent event has a line break")
        lines.extend(f"{name}: {part}" for part in parts)
    return ("\n".join(lines) + "\n\n").encode("utf-8")


def parameters(media_type: str) -> dict[str, str]:
    """Return the parameters of a media type, without a `charset` of UTF-8, which is the default."""
    if ";" not in media_type:
        return {}
    options = {name.lower(): value for name, value in parse_options_header(media_type)[1].items()}
    if options.get("charset", "").lower() in ("utf-8", "utf8", "us-ascii"):
        del options["charset"]
    return options


def find_key(media_type: str, keys: Iterable[str]) -> str | None:
    """Return the key of `content` that a media type matches, or None. An exact name takes
    precedence over a range, and then a key with more parameters (RFC 9110, section 12.5.1).
    """
    name, sent = essence(media_type), parameters(media_type)
    ranks = {name: 2, f"{name.partition('/')[0]}/*": 1, "*/*": 0}
    best: tuple[int, int] | None = None
    found = None
    for key in keys:
        rank = ranks.get(essence(key))
        wanted = parameters(key)
        if rank is None or not _includes(sent, wanted):
            continue
        if best is None or (rank, len(wanted)) > best:
            best, found = (rank, len(wanted)), key
    return found


def _includes(sent: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(sent.get(name) == value for name, value in wanted.items())
