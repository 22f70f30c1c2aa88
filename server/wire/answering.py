"""An answer on its way to the client, as ASGI messages."""

from __future__ import annotations

import asyncio
import re

from starlette.types import Message, Receive

from server.response import JSON, NOT_KEPT, Headers, Response

RawHeaders = tuple[tuple[bytes, bytes], ...]
_BODILESS = (204, 304)
END: Message = {"type": "http.response.body", "body": b""}
_JSON = (b"content-type", JSON.encode("ascii"))
_LINGER_BYTES = 4 * 1024 * 1024
_LINGER_SECONDS = 2.0


def raw_headers(headers: Headers) -> RawHeaders:
    """Headers as they go out, made once."""
    return tuple((name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers)


(_NOT_KEPT,) = raw_headers((NOT_KEPT,))


def start(
    response: Response,
    headers: list[tuple[bytes, bytes]],
    extra: Headers,
    standing: RawHeaders,
) -> Message:
    """The head of an answer; `standing` are the headers that every answer has."""
    headers.extend(standing)
    is_kept = False
    if response.status not in _BODILESS:
        media_type = response.media_type
        headers.append(_JSON if media_type == JSON else (b"content-type", media_type.encode()))
        headers.append((b"content-length", b"%d" % len(response.body)))
    for name, value in response.headers:
        raw = name.lower().encode("latin-1")
        is_kept = is_kept or raw == b"cache-control"
        headers.append((raw, value.encode("latin-1")))
    if not is_kept:
        headers.append(_NOT_KEPT)
    for name, value in extra:
        headers.append((name.lower().encode("latin-1"), value.encode("latin-1")))
    return {"type": "http.response.start", "status": response.status, "headers": headers}


class Heads:
    """The heads of a service's answers as bytes, up to and without the empty line; `standing` are
    the headers that every answer has. What only the names of headers decide is made once.
    """

    def __init__(self, standing: RawHeaders) -> None:
        self._standing = standing
        self._forms: dict[_Shape, bytes] = {}
        self._plain: dict[int, bytes] = {}
        """The forms of JSON with no headers of its own, which most answers are."""

    def head(self, response: Response, request_id: str, extra: Headers) -> bytes | None:
        """None where the head needs a closer look: a header that comes twice, ends the connection,
        frames the body in another way, or cannot go out.
        """
        status, headers = response.status, response.headers
        if not headers and not extra and status not in _BODILESS and response.media_type == JSON:
            plain = self._plain.get(status)
            if plain is None:
                plain = self._plain[status] = self._form(status, JSON)
            if plain:
                return plain % (request_id.encode("ascii"), len(response.body))
        shape = (status, _names(headers), _names(extra))
        form = self._forms.get(shape)
        if form is None:
            form = self._forms[shape] = self._form(status, _PLACE, *shape[1:])
        if not form:
            return None
        values: tuple[bytes | int, ...] = (request_id.encode("ascii"),)
        if status not in _BODILESS:
            values = (*values, response.media_type.encode(), len(response.body))
        told = [value.encode("latin-1") for _, value in headers + extra]
        if _NO_VALUE.search(b"".join((response.media_type.encode(), *told))):
            return None
        return form % (*values, *told)

    def _form(
        self, status: int, media_type: str, own: tuple[str, ...] = (), extra: tuple[str, ...] = ()
    ) -> bytes:
        """All heads of one shape, with a place for each value that differs; nothing where they
        need a closer look.
        """
        place = _PLACE
        response = Response(status, b"", tuple((name, place) for name in own), media_type)
        told = tuple((name, place) for name in extra)
        message = start(response, [(b"request-id", place.encode())], told, self._standing)
        values = dict(message["headers"])
        if len(values) < len(message["headers"]):
            return b""
        if any(name in _FRAMING or _NO_NAME.search(name) for name in values):
            return b""
        lines = []
        for name, value in values.items():
            value = b"%b" if value == place.encode() else value.replace(b"%", b"%%")
            lines.append(b"%b: %b\r\n" % (name, b"%d" if name == b"content-length" else value))
        return b"".join(lines)


def _names(headers: Headers) -> tuple[str, ...]:
    return tuple([name for name, _ in headers])


_Shape = tuple[int, tuple[str, ...], tuple[str, ...]]
"""A status, the names of an answer's own headers, and of those that come besides."""
_PLACE = "\0"
_FRAMING = frozenset((b"connection", b"transfer-encoding"))
_NO_NAME = re.compile(rb"[^a-z0-9-]")  # within RFC 9110, section 5.6.2
_NO_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # RFC 9110, section 5.5


async def linger(receive: Receive) -> None:
    """Throw away the rest of a body that nobody read, for a short while and a bounded size.

    The answer has gone out and the connection is about to close; closing it at once would reset it,
    and a client that is still writing might never see the answer.
    """
    size = 0
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while size < _LINGER_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
