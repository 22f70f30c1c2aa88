"""The response of an operation: a status, encoded bytes, headers."""

from __future__ import annotations

import json
import marshal
import math
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from typing import Any, ClassVar

import orjson

JSON = "application/json"

Headers = tuple[tuple[str, str], ...]
"""Pairs of the name and the value of a header."""
NOT_KEPT = ("Cache-Control", "no-store")
"""The default for responses without a Cache-Control."""
_NOT_GUESSED = ("X-Content-Type-Options", "nosniff")
_HTTPS_ONLY = ("Strict-Transport-Security", "max-age=31536000")


def standing_headers(*, is_https: bool) -> Headers:
    """Return the headers of every response, including HSTS (RFC 6797) if the service uses HTTPS."""
    return (_NOT_GUESSED, _HTTPS_ONLY) if is_https else (_NOT_GUESSED,)


@dataclass(slots=True)  # not frozen, because creation would be several times slower
class Response:
    """A complete response, ready to be sent. `body` is sent byte for byte.

    A handler can also return `body`, `(body, status)` or `(body, status, headers)`. With a status,
    a body of None is empty. A body that is an iterator or an async iterator is a stream.
    """

    is_stream: ClassVar[bool] = False

    status: int
    body: bytes
    headers: Headers = ()
    media_type: str = JSON


def as_bytes(piece: Any) -> bytes:
    """Return a piece of a stream as bytes. Raise `TypeError` if it is neither text nor bytes."""
    if isinstance(piece, str):
        return piece.encode("utf-8")
    if isinstance(piece, bytes):
        return piece
    raise TypeError(f"a piece of a stream must be bytes or str, and is {type(piece).__name__}")


@dataclass(slots=True)
class Stream(Response):
    """A response that is sent while it is generated: `frame(piece)` for each of its `pieces`. Its
    `body` is empty.
    """

    is_stream: ClassVar[bool] = True

    pieces: Iterator[Any] | AsyncIterator[Any] = field(default_factory=lambda: iter(()))
    frame: Callable[[Any], bytes] = as_bytes
    source: Any = None
    """The object that gets the pieces from the handler, after the stream has begun."""


Reply = (
    dict[str, Any]
    | str
    | bytes
    | Iterator[Any]
    | AsyncIterator[Any]
    | tuple[Any, int]
    | tuple[Any, int, Mapping[str, str]]
    | Response
)
"""The return values of handlers (see `Response`)."""


def encode(value: Any, *, is_finite: bool = False) -> bytes:
    """Return `value` as compact UTF-8 JSON. Integers of any size are exact. A `Decimal` becomes a
    number, and a datetime without a time zone is in UTC. Raise `TypeError` for values that JSON
    does not have, and `ValueError` for NaN and infinities. `is_finite` says that there are none,
    which saves a search in values with None.
    """
    try:
        encoded = orjson.dumps(value, _number_of, _NAIVE_UTC)
        if not is_finite and _NULL in encoded:  # orjson writes NaN as null
            _require_finite(value)
        return encoded
    except orjson.JSONEncodeError:  # orjson has no integers over 64 bits
        _require_finite(value)
        text = json.dumps(
            value,
            allow_nan=False,
            ensure_ascii=False,
            separators=(",", ":"),
            default=_number_of,
        )
        return text.encode("utf-8")


def _require_finite(value: Any) -> None:
    """Raise `ValueError` if a value contains NaN or infinities.

    The search with `marshal` takes a third of the time of a search in Python.
    """
    try:
        if _NON_FINITE.search(marshal.dumps(value, 2)) is None:
            return
    except ValueError:  # `value` contains objects of other types
        pass
    for path, number in _find_non_finite(value, ""):
        place = path or "the whole value"
        raise ValueError(f"JSON has no number {number} ({place}); send null or a text instead")


def _find_non_finite(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _find_non_finite(item, f"{path}/{key}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _find_non_finite(item, f"{path}/{index}")
    elif is_dataclass(value):
        for each in fields(value):
            yield from _find_non_finite(getattr(value, each.name), f"{path}/{each.name}")


_NULL = b"null"
_NON_FINITE = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)
"""A float in the format of `marshal`, whose exponent has each bit set (IEEE 754)."""
_NAIVE_UTC = orjson.OPT_NAIVE_UTC
_MAX_DIGITS = 300
"""The maximum exponent of a `Decimal`, so that it fits into a float."""


def _number_of(value: Any) -> int | float:
    """Return a `Decimal` as an integer or a float, as readers of JSON would parse it."""
    if not isinstance(value, Decimal) or not value.is_finite() or value.adjusted() > _MAX_DIGITS:
        raise TypeError(f"JSON has no {type(value).__name__} such as {str(value)[:50]}")
    return int(value) if value == value.to_integral_value() else float(value)


def as_response(reply: Reply, *, is_finite: bool = False) -> Response:
    """Return the JSON response for a handler's return value. Its status is 200 if none is given.
    `is_finite` is passed to `encode`.
    """
    if type(reply) is dict:
        return Response(200, encode(reply, is_finite=is_finite))
    if type(reply) is tuple:
        body = reply[0]
        headers = tuple(reply[2].items()) if len(reply) > 2 else ()
        if type(body) is not bytes:
            body = b"" if body is None else encode(body, is_finite=is_finite)
        return Response(reply[1], body, headers)
    if isinstance(reply, Response):
        return reply
    return Response(200, encode(reply, is_finite=is_finite))


def is_iterator(body: Any) -> bool:
    """Return whether a body is generated piece by piece."""
    return isinstance(body, (Iterator, AsyncIterator))
