"""HTTP requests to external services: responses have a size limit and no content encoding.

`Peer.send` has one deadline for the complete exchange and follows no redirects. No address comes
from a request. No error contains a URL, a header or a body, because they may contain secrets.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

LOOPBACK = frozenset(("127.0.0.1", "::1", "localhost"))
"""Host names of this machine. The environment's proxies are not used for them."""


class AnswerRefused(Exception):
    """The response was not read to its end. The message is the reason and contains no secrets."""


class AnswerTooLong(AnswerRefused):
    """The response exceeds the size limit."""


def verification_for(url: str) -> ssl.SSLContext | bool:
    """Return the `verify` argument of an httpx client for the URL, False for http."""
    return trusted_certificates() if url.lower().startswith("https://") else False


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the certificate authorities. They are cached, because reading them takes 20 ms."""
    return httpx.create_ssl_context()


def read_whole(answer: httpx.Response, limit: int, *, at_each: Callable[[], None]) -> bytes:
    """Return the body. `at_each` runs after each piece and may raise.

    Raise `AnswerRefused` if the body has a content encoding, because a compressed body could unpack
    to any size, and `AnswerTooLong` if it has more than `limit` bytes.
    """
    _check_encoding(answer)
    body = bytearray()
    for chunk in answer.iter_raw():
        _add(body, chunk, limit)
        at_each()
    return bytes(body)


async def read_whole_async(answer: httpx.Response, limit: int) -> bytes:
    """Do the same as `read_whole` on an event loop. The caller sets the deadline."""
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


# --- one exchange -----------------------------------------------------------------------------

ANSWER_LIMIT = 256 * 1024
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "specd"}


class NoAnswer(Exception):
    """No usable response: the service was unreachable, timed out, broke the connection, or sent a
    body that is too long or encoded.
    """


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response. `document` is its JSON object, or None if the body is anything else."""

    status: int
    document: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Peer:
    """A service at a configured address. `timeout_s` is the deadline of a complete exchange."""

    url: str = field(repr=False)
    timeout_s: float

    async def send(
        self,
        method: str,
        path: str,
        *,
        credentials: tuple[str, str] | None = None,
        bearer: str | None = None,
        form: Mapping[str, str] | None = None,
        document: Any = None,
    ) -> Answer:
        """Send a request and return the response. Raise `NoAnswer`."""
        headers = dict(_HEADERS)
        if bearer is not None:
            headers["Authorization"] = f"Bearer {bearer}"
        content = None
        if document is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(document)
        try:
            async with (
                asyncio.timeout(self.timeout_s),
                self._client() as client,
                client.stream(
                    method,
                    self.url + path,
                    headers=headers,
                    data=form,
                    content=content,
                    auth=credentials,
                ) as answer,
            ):
                body = await read_whole_async(answer, ANSWER_LIMIT)
                status = answer.status_code
        except AnswerRefused as refusal:
            raise NoAnswer(str(refusal)) from None
        except TimeoutError:
            raise NoAnswer(f"no whole answer within {self.timeout_s:g} s") from None
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise NoAnswer("cannot connect") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise NoAnswer(f"the exchange broke ({type(error).__name__})") from None
        return Answer(status, _document(body))

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            timeout=self.timeout_s,
            follow_redirects=False,
            trust_env=urlsplit(self.url).hostname not in LOOPBACK,
            verify=verification_for(self.url),
        )


def _document(body: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
