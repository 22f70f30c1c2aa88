"""Posts a request to a receiver, with time and size limits, without redirects, and not to private
networks.

The client is httpcore, on which httpx is built: its network backend can be replaced, and it does
not use cookies, proxies of the environment, redirects or content encodings.
"""

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpcore

from adapters.exchanges import trusted_certificates
from adapters.webhooks.guarded_network import (
    GuardedNetwork,
    NameNotResolved,
    Resolve,
    find_addresses,
    resolve,
)
from adapters.webhooks.pools import KEPT_FOR_S, Pools
from models.webhooks.addresses import AddressRefused, Network, Target, check_url

TIMEOUT_S = 15.0
"""The time limit of a request until the response's headers arrive."""
BODY_S = 2.0
"""The time limit for reading the response's body."""
ANSWER_READ = 64 * 1024
ANSWER_KEPT = 1024

TIMED_OUT, CANNOT_CONNECT, NOT_RESOLVED = "timeout", "cannot_connect", "name_not_resolved"
REFUSED, BROKEN = "address_refused", "connection_broken"


@dataclass(frozen=True, slots=True)
class Received:
    """The result of a request. Without a response, `status` is None and `failure` is one of the
    constants above. `answer` is the beginning of the body as text.
    """

    status: int | None
    failure: str | None
    answer: str
    retry_after: str | None
    duration_ms: int


class WebhookSender:
    """Posts to receivers on one event loop. Connections are kept for a while and reused."""

    def __init__(
        self,
        opened: Sequence[Network],
        *,
        resolve: Resolve = resolve,
        timeout_s: float = TIMEOUT_S,
        certificates: ssl.SSLContext | None = None,
        answer_kept: int = ANSWER_KEPT,
    ) -> None:
        """`answer_kept`: how many bytes of a response body to keep, at most `ANSWER_READ`."""
        self._opened, self._resolve, self._timeout_s = opened, resolve, timeout_s
        self._certificates, self._answer_kept = certificates, answer_kept
        self._pools = Pools(self._make_pool)

    async def check(self, url: str) -> None:
        """Raise `AddressRefused` if the address is not allowed. A name that cannot be resolved now
        is accepted for https, because it may be resolved later.
        """
        target = check_url(url, self._opened)
        try:
            async with asyncio.timeout(self._timeout_s):
                await find_addresses(target, self._resolve, self._opened)
        except (NameNotResolved, TimeoutError):
            if target.scheme == "http":
                raise AddressRefused("does not begin with https://") from None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        """Send a request and return the result. Failures of the receiver do not raise."""
        began = time.monotonic()
        status, failure, answer, retry_after = None, None, b"", None
        try:
            target = check_url(url, self._opened)
            async with self._pools.use((target.scheme, target.host, target.port)) as pool:
                async with asyncio.timeout(self._timeout_s):
                    response = await _request(pool, target, headers, body)
                status = response.status
                retry_after = _header(response, b"retry-after")
                answer = (await _read(response))[: self._answer_kept]
        except (TimeoutError, httpcore.TimeoutException):
            failure = TIMED_OUT
        except AddressRefused:
            failure = REFUSED
        except NameNotResolved:
            failure = NOT_RESOLVED
        except (httpcore.ConnectError, ssl.SSLError):
            failure = CANNOT_CONNECT
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError):
            failure = BROKEN
        took = round((time.monotonic() - began) * 1000)
        return Received(status, failure, _readable(answer), retry_after, took)

    async def close(self) -> None:
        """Close all connections."""
        await self._pools.close()

    def _make_pool(self, scheme: str) -> httpcore.AsyncConnectionPool:
        return httpcore.AsyncConnectionPool(
            ssl_context=self._certificates or trusted_certificates(),
            max_connections=None,
            max_keepalive_connections=None,
            keepalive_expiry=KEPT_FOR_S,
            network_backend=GuardedNetwork(scheme, self._resolve, self._opened),
        )


async def _request(
    pool: httpcore.AsyncConnectionPool, target: Target, headers: Mapping[str, str], body: bytes
) -> httpcore.Response:
    """Send the request and return the response before its body is read."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    usual = 443 if target.scheme == "https" else 80
    sent = {
        "Host": host if target.port == usual else f"{host}:{target.port}",
        "User-Agent": "specd-webhooks",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Accept-Encoding": "identity",
        **headers,
    }
    address = httpcore.URL(
        scheme=target.scheme, host=target.host, port=target.port, target=target.request_target
    )
    request = httpcore.Request("POST", address, headers=list(sent.items()), content=body)
    return await pool.handle_async_request(request)


async def _read(response: httpcore.Response) -> bytes:
    """Return the beginning of the body. If the body is longer, close the connection."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) >= ANSWER_READ:
                    break
    except (TimeoutError, httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
        pass  # the status is known
    finally:
        await response.aclose()
    return bytes(body)


def _header(response: httpcore.Response, name: bytes) -> str | None:
    values = [value for key, value in response.headers if key.lower() == name]
    return values[0].decode("latin-1").strip() if values else None


def _readable(answer: bytes) -> str:
    """Decode any bytes as text. NUL is replaced, because PostgreSQL cannot store it."""
    return answer.decode("utf-8", errors="replace").replace("\0", "\ufffd")
