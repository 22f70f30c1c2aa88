"""JSON-RPC 2.0 over HTTP with a deadline for the complete response and a limit on its size.

web3's providers apply their timeout to each read, so an endpoint that sends one byte per second
never times out, and they read responses of any size. Therefore every call to a chain goes through
this module, and web3 only encodes and decodes. No error contains an RPC URL, because it may contain
a key.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from adapters.exchanges import (
    LOOPBACK,
    AnswerRefused,
    AnswerTooLong,
    read_whole,
    read_whole_async,
    verification_for,
)

MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""Enough for the logs of a thousand busy blocks. If a response is longer, the requested block range
counts as too large.
"""

# httpx logs the whole URL of every request at INFO.
logging.getLogger("httpx").setLevel(logging.WARNING)

# Shorter pieces of a URL are words such as "v3", which are not secrets.
_SHORTEST_SECRET = 6

LONGEST_WAIT_S = 600.0
"""The upper limit of the `Retry-After` header; a longer wait is reduced to it."""
RATE_LIMIT_WAIT_S = 10.0
"""How long an endpoint is not called after a rate limit error without `Retry-After`."""


class EndpointFailed(Exception):
    """The endpoint gave no JSON-RPC response: it was unreachable, timed out, broke the connection,
    or sent something else.

    `retry_after_s`: how long the endpoint must not be called, or None if it is not known.
    """

    retry_after_s: float | None = None


class AnswerTooLarge(EndpointFailed):
    """The response exceeds the size limit, or the endpoint answered HTTP 413."""


class RpcError(Exception):
    """The endpoint answered with a JSON-RPC error object.

    `retry_after_s`: how long the endpoint must not be called, or None if it is not known.
    """

    retry_after_s: float | None = None

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An RPC URL and its position in the order of preference, counted from 1."""

    position: int
    url: str

    def __str__(self) -> str:
        """Return position and host, but not credentials, path or query, which may contain keys."""
        host, port = self._place
        return f"endpoint {self.position} ({host or 'no host'}{f':{port}' if port else ''})"

    def __repr__(self) -> str:
        return f"<{self}>"

    def without_secrets(self, text: str) -> str:
        """Return a text from the endpoint with the pieces of the URL masked that may be keys."""
        _, _, address = self.url.partition("://")
        user, _, rest = address.rpartition("@")
        pieces = re.split(r"[:/?&=#]+", f"{user}/{rest.partition('/')[2]}")
        for piece in sorted(pieces, key=len, reverse=True):
            if len(piece) >= _SHORTEST_SECRET:
                text = text.replace(piece, "***")
        return text

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine, so that proxy variables do not apply to it."""
        return self.url.startswith("http://") and self._place[0] in LOOPBACK

    @property
    def _place(self) -> tuple[str | None, int | None]:
        try:
            parts = urlsplit(self.url)
            return parts.hostname, parts.port
        except ValueError:
            return None, None


def parse_endpoints(urls: Sequence[str]) -> Iterator[tuple[int | None, Endpoint]]:
    """Yield the chain id and endpoint of each entry `CHAINID=URL`. The chain id is None if an entry
    is only a URL, which serves any chain.
    """
    for position, entry in enumerate(urls, start=1):
        prefix, separator, url = entry.partition("=")
        if separator and prefix.isascii() and prefix.isdigit():
            yield int(prefix), Endpoint(position, url)
        else:
            yield None, Endpoint(position, entry)


def endpoints_for(urls: Sequence[str], chain_id: int) -> tuple[Endpoint, ...]:
    """Return the endpoints that are configured for a chain, in order of preference."""
    served = parse_endpoints(urls)
    return tuple(endpoint for chain, endpoint in served if chain in (None, chain_id))


def sync_client(endpoint: Endpoint) -> httpx.Client:
    """Return a client for one endpoint. It keeps connections open."""
    return httpx.Client(
        trust_env=not endpoint.is_loopback, headers=_HEADERS, verify=verification_for(endpoint.url)
    )


def async_client(endpoint: Endpoint) -> httpx.AsyncClient:
    """Return a client for one endpoint on an event loop."""
    return httpx.AsyncClient(
        trust_env=not endpoint.is_loopback, headers=_HEADERS, verify=verification_for(endpoint.url)
    )


def call(
    client: httpx.Client,
    endpoint: Endpoint,
    method: str,
    params: list[Any],
    *,
    timeout_s: float,
    limit: int = MAX_ANSWER_BYTES,
) -> Any:
    """Return the result of one call within `timeout_s`. A stalled read may double that time.

    Raise `EndpointFailed` or `RpcError`.
    """
    deadline = time.monotonic() + timeout_s

    def check_time() -> None:
        if time.monotonic() > deadline:
            raise EndpointFailed(f"no whole answer within {timeout_s:g} s")

    try:
        with client.stream(
            "POST", endpoint.url, content=_request(method, params), timeout=timeout_s
        ) as response:
            body = read_whole(response, limit, at_each=check_time)
    except _BREAKS as error:
        raise _failure(error) from None
    return _result(endpoint, response, body)


async def call_async(
    client: httpx.AsyncClient,
    endpoint: Endpoint,
    method: str,
    params: list[Any],
    *,
    timeout_s: float,
    limit: int,
) -> Any:
    """Do the same as `call` on an event loop. The caller sets the deadline (`asyncio.timeout`)."""
    try:
        async with client.stream(
            "POST", endpoint.url, content=_request(method, params), timeout=timeout_s
        ) as response:
            body = await read_whole_async(response, limit)
    except _BREAKS as error:
        raise _failure(error) from None
    return _result(endpoint, response, body)


def parse_quantity(value: Any) -> int:
    """Parse a quantity such as "0x7a69" of at most 256 bits. Raise `EndpointFailed`."""
    if isinstance(value, str) and 3 <= len(value) <= 66 and value.startswith("0x"):
        try:
            return int(value[2:], 16)
        except ValueError:
            pass
    raise EndpointFailed("answered something that is not a quantity")


# Compression is not accepted, because a compressed response could unpack to any size.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


def _request(method: str, params: list[Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


_BREAKS = (AnswerRefused, httpx.HTTPError, httpx.InvalidURL, OSError)


def _failure(error: Exception) -> EndpointFailed:
    """Convert an error. Only our own messages are kept, because some of httpx contain the URL."""
    match error:
        case AnswerTooLong():
            return AnswerTooLarge(str(error))
        case AnswerRefused():
            return EndpointFailed(str(error))
        case httpx.TimeoutException():
            return EndpointFailed("no answer in time")
        case httpx.ConnectError():
            return EndpointFailed("cannot connect")
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return EndpointFailed("its URL is not an http or https URL")
    return EndpointFailed(f"the connection broke ({type(error).__name__})")


def _result(endpoint: Endpoint, response: httpx.Response, body: bytes) -> Any:
    """Return the result. Providers also send JSON-RPC errors with HTTP 400, 403, 429 and 500.

    `Retry-After` (RFC 9110, 10.2.3) is supported in seconds, the form that providers use.
    """
    try:
        return _unpack(endpoint, response.status_code, body)
    except (EndpointFailed, RpcError) as error:
        retry_after = response.headers.get("Retry-After", "").strip()
        if retry_after.isascii() and retry_after.isdigit():
            error.retry_after_s = min(float(retry_after[:9]), LONGEST_WAIT_S)
        elif response.status_code == 429:
            error.retry_after_s = RATE_LIMIT_WAIT_S
        raise


def _unpack(endpoint: Endpoint, status: int, body: bytes) -> Any:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        error = answer.get("error")
        if isinstance(error, dict):
            code, message = error.get("code"), error.get("message")
            if not isinstance(message, str):
                message = "no message"
            raise RpcError(
                code if isinstance(code, int) else 0, endpoint.without_secrets(message)[:500]
            )
        if status == 200 and "result" in answer:
            return answer["result"]
    if status == 413:
        raise AnswerTooLarge("answered HTTP 413")
    if status != 200:
        raise EndpointFailed(f"answered HTTP {status}")
    raise EndpointFailed("answered something that is not JSON-RPC")
