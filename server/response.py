"""The answer of an operation: a status, encoded bytes, headers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

JSON = "application/json"

Headers = tuple[tuple[str, str], ...]
NOT_KEPT = ("Cache-Control", "no-store")
"""For an answer without a Cache-Control of its own."""
_NOT_GUESSED = ("X-Content-Type-Options", "nosniff")
_HTTPS_ONLY = ("Strict-Transport-Security", "max-age=31536000")


def standing_headers(*, is_https: bool) -> Headers:
    """Return the headers of every answer, with HSTS (RFC 6797) where the service uses HTTPS."""
    return (_NOT_GUESSED, _HTTPS_ONLY) if is_https else (_NOT_GUESSED,)


@dataclass(slots=True)  # not frozen: that would make it several times as slow to make
class Response:
    """A whole answer, ready to be sent. `body` goes out byte for byte as it is."""

    status: int
    body: bytes
    headers: Headers = ()
    media_type: str = JSON


Reply = dict[str, Any] | tuple[Any, int] | tuple[Any, int, Mapping[str, str]] | Response
"""What a handler may return: `body`, `(body, status)`, `(body, status, headers)`, `Response`.
A body of None, with a status, is an empty one."""


def encode(value: Any) -> bytes:
    """Return `value` as compact UTF-8 JSON; integers of any size are exact."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # orjson has no integers over 64 bits
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8")


def as_response(reply: Reply) -> Response:
    """Return the answer for a handler's return value; a bare body means 200."""
    if type(reply) is dict:
        return Response(200, encode(reply))
    if type(reply) is tuple:
        body = reply[0]
        headers = tuple(reply[2].items()) if len(reply) > 2 else ()
        if type(body) is not bytes:
            body = b"" if body is None else encode(body)
        return Response(reply[1], body, headers)
    return reply if isinstance(reply, Response) else Response(200, encode(reply))
