"""An answer on its way to the client, as ASGI messages."""

from __future__ import annotations

import asyncio
import re

from starlette.types import Message, Receive

from server.response import JSON, NOT_KEPT, Headers, Response
from server.wire.started import into_a_task

RawHeaders = tuple[tuple[bytes, bytes], ...]
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
    if response.status not in (204, 304):
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
    the headers that every answer has. Most answers say nothing of their own: their heads are made
    once for each status.
    """

    def __init__(self, standing: RawHeaders) -> None:
        self._standing = standing
        self._made: dict[int, bytes] = {}

    def head(self, response: Response, request_id: str, extra: Headers) -> bytes | None:
        """None where the head needs a closer look: a header that comes twice, ends the connection,
        frames the body in another way, or cannot go out.
        """
        facts = {b"id": request_id.encode("ascii"), b"length": len(response.body)}
        if not (response.headers or extra) and response.media_type == JSON:
            made = self._made.get(response.status)
            if made is None:
                made = self._make(response, extra)
                assert made is not None
                self._made[response.status] = made
            return made % facts
        made = self._make(response, extra)
        return None if made is None else made % facts

    def _make(self, response: Response, extra: Headers) -> bytes | None:
        message = start(response, [(b"request-id", b"")], extra, self._standing)
        values = dict(message["headers"])
        for name, value in values.items():
            if name in _FRAMING or _NO_NAME.search(name) or _NO_VALUE.search(value):
                return None
        if len(values) != len(message["headers"]):
            return None
        values = {name: value.replace(b"%", b"%%") for name, value in values.items()}
        values.update({name: _OF_THE_REQUEST[name] for name in _OF_THE_REQUEST & values.keys()})
        return b"".join(b"%b: %b\r\n" % pair for pair in values.items())


_OF_THE_REQUEST = {b"request-id": b"%(id)b", b"content-length": b"%(length)d"}
"""What differs from one answer to the next."""
_FRAMING = frozenset((b"connection", b"transfer-encoding"))
_NO_NAME = re.compile(rb"[^a-z0-9-]")  # within RFC 9110, section 5.6.2
_NO_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # RFC 9110, section 5.5


async def linger(receive: Receive) -> None:
    """Throw away the rest of a body that nobody read, for a short while and a bounded size.

    The answer has gone out and the connection is about to close; closing it at once would reset it,
    and a client that is still writing might never see the answer.
    """
    size = 0
    await into_a_task()
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while size < _LINGER_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
