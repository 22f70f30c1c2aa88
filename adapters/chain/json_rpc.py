"""JSON-RPC 2.0 over HTTP with a deadline for the whole answer and a bound on its size.

web3's own providers wait per read, so an endpoint that drips one byte a second is never given up,
and they read an answer of any size. Every question this project asks a chain goes through here
instead; web3 keeps the encoding and decoding. Nothing here puts an RPC URL into an error: it may
hold a key.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Sequence
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

# Room for the logs of a thousand busy blocks; a longer answer is treated as a range too large.
MAX_ANSWER_BYTES = 16 * 1024 * 1024

# httpx logs the whole URL of every request at INFO.
logging.getLogger("httpx").setLevel(logging.WARNING)


# Shorter pieces of a URL are words like "v3", which say nothing.
_SHORTEST_SECRET = 6


LONGEST_WAIT_S = 600.0
"""However long a `Retry-After` asks an endpoint to be left alone, it is for at most this long."""


class EndpointFailed(Exception):
    """No JSON-RPC answer was had: refused, hung, cut, or something that is not JSON-RPC.

    `retry_after_s`: how long the endpoint asked not to be asked again.
    """

    retry_after_s: float | None = None


class AnswerTooLarge(EndpointFailed):
    """The answer passed the size bound, or the endpoint said that it would."""


class RpcError(Exception):
    """The endpoint answered with a JSON-RPC error object.

    `retry_after_s`: how long the endpoint asked not to be asked again.
    """

    retry_after_s: float | None = None

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One RPC URL and its place in the order of preference, counted from 1."""

    position: int
    url: str

    def __str__(self) -> str:
        """Position and host; never credentials, path or query, where providers put keys."""
        host, port = self._place
        return f"endpoint {self.position} ({host or 'no host'}{f':{port}' if port else ''})"

    def __repr__(self) -> str:
        return f"<{self}>"

    def without_secrets(self, text: str) -> str:
        """`text` from the endpoint without the pieces of its URL that may be a key."""
        _, _, address = self.url.partition("://")
        user, _, rest = address.rpartition("@")
        pieces = re.split(r"[:/?&=#]+", f"{user}/{rest.partition('/')[2]}")
        for piece in sorted(pieces, key=len, reverse=True):
            if len(piece) >= _SHORTEST_SECRET:
                text = text.replace(piece, "***")
        return text

    @property
    def is_loopback(self) -> bool:
        """On this machine, so never through a proxy that the environment names."""
        return self.url.startswith("http://") and self._place[0] in LOOPBACK

    @property
    def _place(self) -> tuple[str | None, int | None]:
        try:
            parts = urlsplit(self.url)
            return parts.hostname, parts.port
        except ValueError:
            return None, None


def endpoints_for(urls: Sequence[str], chain_id: int) -> tuple[Endpoint, ...]:
    """The endpoints that serve a chain, in order: `CHAINID=URL` serves that one, a URL any."""
    found = []
    for position, entry in enumerate(urls, start=1):
        prefix, separator, url = entry.partition("=")
        if not (separator and prefix.isascii() and prefix.isdigit()):
            found.append(Endpoint(position, entry))
        elif int(prefix) == chain_id:
            found.append(Endpoint(position, url))
    return tuple(found)


def sync_client(endpoint: Endpoint) -> httpx.Client:
    """A client for one endpoint; connections are kept between questions."""
    return httpx.Client(
        trust_env=not endpoint.is_loopback, headers=_HEADERS, verify=verification_for(endpoint.url)
    )


def async_client(endpoint: Endpoint) -> httpx.AsyncClient:
    """The same for an event loop."""
    return httpx.AsyncClient(
        trust_env=not endpoint.is_loopback, headers=_HEADERS, verify=verification_for(endpoint.url)
    )


def ask(
    client: httpx.Client,
    endpoint: Endpoint,
    method: str,
    params: list[Any],
    *,
    timeout_s: float,
    limit: int | None = None,
) -> Any:
    """The result of one call, within `timeout_s` (a stalled read may add as much again).

    Raises `EndpointFailed` or `RpcError`.
    """
    deadline = time.monotonic() + timeout_s

    def check_time() -> None:
        if time.monotonic() > deadline:
            raise EndpointFailed(f"no whole answer within {timeout_s:g} s")

    try:
        with client.stream(
            "POST", endpoint.url, content=_question(method, params), timeout=timeout_s
        ) as answer:
            body = read_whole(answer, limit or MAX_ANSWER_BYTES, at_each=check_time)
    except _BREAKS as error:
        raise _failure(error) from None
    return _result(endpoint, answer, body)


async def ask_async(
    client: httpx.AsyncClient,
    endpoint: Endpoint,
    method: str,
    params: list[Any],
    *,
    timeout_s: float,
    limit: int | None = None,
) -> Any:
    """The same on an event loop; the caller sets the deadline for the whole (`asyncio.timeout`)."""
    try:
        async with client.stream(
            "POST", endpoint.url, content=_question(method, params), timeout=timeout_s
        ) as answer:
            body = await read_whole_async(answer, limit or MAX_ANSWER_BYTES)
    except _BREAKS as error:
        raise _failure(error) from None
    return _result(endpoint, answer, body)


def parse_quantity(value: Any) -> int:
    """A quantity such as "0x7a69" as an int of at most 256 bits, else `EndpointFailed`."""
    if isinstance(value, str) and 3 <= len(value) <= 66 and value.startswith("0x"):
        try:
            return int(value[2:], 16)
        except ValueError:
            pass
    raise EndpointFailed("answered something that is not a quantity")


# Identity only: a compressed answer could unpack to any size.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


def _question(method: str, params: list[Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


_BREAKS = (AnswerRefused, httpx.HTTPError, httpx.InvalidURL, OSError)


def _failure(error: Exception) -> EndpointFailed:
    if isinstance(error, AnswerTooLong):
        return AnswerTooLarge(str(error))
    if isinstance(error, AnswerRefused):
        return EndpointFailed(str(error))
    return EndpointFailed(_reason(error))


def _reason(error: Exception) -> str:
    """What went wrong by kind alone: httpx puts the URL into some of its messages."""
    if isinstance(error, httpx.ConnectTimeout | httpx.ReadTimeout | httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.ConnectError):
        return "cannot connect"
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return "its URL is not an http or https URL"
    return f"the connection broke ({type(error).__name__})"


def _result(endpoint: Endpoint, exchange: httpx.Response, body: bytes) -> Any:
    """Unpack one answer. Providers send JSON-RPC errors under HTTP 400, 403, 429 and 500 too.

    `Retry-After` (RFC 9110, 10.2.3) is obeyed in seconds, the form that providers use.
    """
    try:
        return _unpack(endpoint, exchange.status_code, body)
    except (EndpointFailed, RpcError) as error:
        wanted = exchange.headers.get("Retry-After", "").strip()
        if wanted.isascii() and wanted.isdigit():
            error.retry_after_s = min(float(wanted[:9]), LONGEST_WAIT_S)
        elif exchange.status_code == 429:
            error.retry_after_s = _PATIENCE_S
        raise


_PATIENCE_S = 10.0
"""How long an endpoint that said 429 without a number is left alone."""


def _unpack(endpoint: Endpoint, status: int, body: bytes) -> Any:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        error = answer.get("error")
        if isinstance(error, dict):
            code, message = error.get("code"), error.get("message")
            raise RpcError(
                code if isinstance(code, int) else 0,
                endpoint.without_secrets(message)[:500]
                if isinstance(message, str)
                else "no message",
            )
        if status == 200 and "result" in answer:
            return answer["result"]
    if status == 413:
        raise AnswerTooLarge("answered HTTP 413")
    if status != 200:
        raise EndpointFailed(f"answered HTTP {status}")
    raise EndpointFailed("answered something that is not JSON-RPC")
