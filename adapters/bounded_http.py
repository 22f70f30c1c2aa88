"""What all HTTP clients here share: one answer of a bounded size, read as it was sent."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import cache

import httpx

LOOPBACK = frozenset(("127.0.0.1", "::1", "localhost"))
"""Hosts that are this machine, and never behind a proxy that the environment names."""


class AnswerRefused(Exception):
    """An answer that is not read to its end; the message says why, without any secret."""


class AnswerTooLong(AnswerRefused):
    """The answer passed its bound."""


def verification_for(url: str) -> ssl.SSLContext | bool:
    """How a client of the URL checks certificates: http has none, and nothing follows redirects."""
    return _certificates() if url.lower().startswith("https://") else False


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the bundle of authorities takes 20 ms: once per process, not once per client."""
    return httpx.create_ssl_context()


def read_whole(answer: httpx.Response, limit: int, *, at_each: Callable[[], None]) -> bytes:
    """The body as it was sent; `at_each` runs after each piece, and may raise.

    Raises `AnswerRefused` for an encoding (a compressed answer could unpack to any size), and
    `AnswerTooLong` over `limit` bytes.
    """
    _check_encoding(answer)
    body = bytearray()
    for chunk in answer.iter_raw():
        _add(body, chunk, limit)
        at_each()
    return bytes(body)


async def read_whole_async(answer: httpx.Response, limit: int) -> bytes:
    """`read_whole` on an event loop; the caller sets the deadline (`asyncio.timeout`)."""
    _check_encoding(answer)
    body = bytearray()
    async for chunk in answer.aiter_raw():
        _add(body, chunk, limit)
    return bytes(body)


def _check_encoding(answer: httpx.Response) -> None:
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise AnswerRefused("answered in an encoding that was not asked for")


def _add(body: bytearray, chunk: bytes, limit: int) -> None:
    body += chunk
    if len(body) > limit:
        raise AnswerTooLong(f"answered more than {limit} bytes")
