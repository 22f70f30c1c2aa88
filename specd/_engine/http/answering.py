"""ASGI messages of responses."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Receive

from specd._engine.response import JSON, NOT_KEPT, Headers, Response

RawHeaders = tuple[tuple[bytes, bytes], ...]
_BODILESS = (204, 304)
END: Message = {"type": "http.response.body", "body": b""}
_JSON = (b"content-type", JSON.encode("ascii"))
_LINGER_BYTES = 4 * 1024 * 1024
_LINGER_SECONDS = 2.0


def raw_headers(headers: Headers) -> RawHeaders:
    """Return headers as they are sent. They are encoded once."""
    return tuple((name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers)


(_NOT_KEPT,) = raw_headers((NOT_KEPT,))


def start(
    response: Response,
    headers: list[tuple[bytes, bytes]],
    extra: Headers,
    standing: RawHeaders,
) -> Message:
    """Return the start message of a response. `standing` are the headers of every response."""
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


async def linger(receive: Receive) -> None:
    """Discard the rest of a body that was not read, for a limited time and size.

    The response has been sent and the connection is about to close. If it closed immediately, it
    would be reset, and a client that is still writing might not receive the response.
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
