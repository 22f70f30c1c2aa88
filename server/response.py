"""What an operation answers: a status, encoded bytes, headers. Nothing here decides anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

JSON = "application/json"

Headers = tuple[tuple[str, str], ...]
NOT_KEPT = ("Cache-Control", "no-store")
"""What an answer says that does not say itself whether it may be kept."""
_NOT_GUESSED = ("X-Content-Type-Options", "nosniff")
_HTTPS_ONLY = ("Strict-Transport-Security", "max-age=31536000")


def standing_headers(*, is_https: bool) -> Headers:
    """What every answer says, by whether people reach the service over HTTPS (RFC 6797)."""
    return (_NOT_GUESSED, _HTTPS_ONLY) if is_https else (_NOT_GUESSED,)


def is_kept(response: Response) -> bool:
    """Does the answer say itself whether it may be kept?"""
    return any(name.lower() == "cache-control" for name, _ in response.headers)


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
    """`value` as compact UTF-8 JSON; integers of any size come out exact."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # orjson knows no integers over 64 bits
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8")


def as_response(reply: Reply) -> Response:
    """The answer a handler's return value stands for; a bare body means 200."""
    if type(reply) is dict:
        return Response(200, encode(reply))
    if type(reply) is tuple:
        body = reply[0]
        headers = tuple(reply[2].items()) if len(reply) > 2 else ()
        if type(body) is not bytes:
            body = b"" if body is None else encode(body)
        return Response(reply[1], body, headers)
    return reply if isinstance(reply, Response) else Response(200, encode(reply))
