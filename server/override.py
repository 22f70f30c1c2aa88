"""A POST that says in a form field `method` which method it means, for clients that only POST."""

from __future__ import annotations

import io
from collections.abc import Mapping

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import MultiPartParser
from werkzeug.http import parse_options_header

from server.bodies import MULTIPART, URLENCODED
from server.parameters import MAX_QUERY_FIELDS, parse_pairs

FIELD = "method"


def media_type_of(headers: Mapping[bytes, bytes]) -> str:
    """The body's media type without its options, in lower case."""
    return headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()


def meant_method(raw: bytes, headers: Mapping[bytes, bytes]) -> str | None:
    """The value of the form field `method` in upper case; None without one.

    A body that cannot be read has no such field: whoever reads it later says what is wrong.
    """
    if FIELD.encode("ascii") not in raw:
        return None
    media_type = media_type_of(headers)
    if media_type == URLENCODED:
        texts = parse_pairs(raw, "body").get(FIELD)
        return texts[-1].upper() if texts else None
    if media_type == MULTIPART:
        content_type = headers[b"content-type"].decode("latin-1")
        boundary = parse_options_header(content_type)[1].get("boundary", "")
        parser = MultiPartParser(max_form_memory_size=len(raw), max_form_parts=MAX_QUERY_FIELDS)
        try:
            form, _ = parser.parse(io.BytesIO(raw), boundary.encode("ascii"), len(raw))
        except (ValueError, RequestEntityTooLarge):
            return None
        value = form.get(FIELD)
        return None if value is None else value.upper()
    return None
