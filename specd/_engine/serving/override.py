"""A form field `method` of a POST that names another method, for clients that can only POST."""

from __future__ import annotations

from collections.abc import Mapping

from specd._engine.document.media import MULTIPART, URLENCODED
from specd._engine.errors import InvalidRequest
from specd._engine.http.multipart import parse_parts
from specd._engine.http.queries import MAX_QUERY_FIELDS, parse_pairs
from specd._engine.threads import Threads

FIELD = "method"
_FIELD = FIELD.encode("ascii")
SOON = 8 * 1024
"""The maximum size of a body that is parsed on the event loop."""


def media_type_of(headers: Mapping[bytes, bytes]) -> str:
    """Return the body's media type without its options, in lower case."""
    return headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()


async def find_overriding_method(
    raw: bytes, headers: Mapping[bytes, bytes], threads: Threads
) -> str | None:
    """Return the result of `overriding_method`. Large bodies are parsed in a thread, because a form
    of a megabyte takes 15 ms.
    """
    if len(raw) <= SOON or _FIELD not in raw:
        return overriding_method(raw, headers)
    return await threads.run_reading(overriding_method, raw, headers)


def overriding_method(raw: bytes, headers: Mapping[bytes, bytes]) -> str | None:
    """Return the form field `method` in upper case, or None if there is none or the body cannot be
    parsed, which is reported later.
    """
    if _FIELD not in raw:
        return None
    media_type = media_type_of(headers)
    if media_type == URLENCODED:
        try:
            texts = parse_pairs(raw, "body").get(FIELD)
        except InvalidRequest:
            return None
        return texts[-1].upper() if texts else None
    if media_type == MULTIPART:
        content_type = headers[b"content-type"].decode("latin-1")
        try:
            parts = parse_parts(raw, content_type, limit=MAX_QUERY_FIELDS)
        except InvalidRequest:
            return None
        values = [part.content for part in parts if part.name == FIELD]
        return values[-1].decode("utf-8", "replace").upper() if values else None
    return None
