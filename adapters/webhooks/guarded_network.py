"""Network connections that cannot reach private networks: each name is resolved once, and the
connection uses the resolved address.

All addresses of a name are checked before the first connection. TLS uses the name instead of the
address (SNI), and the certificate must match the name.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from socket import SOCK_STREAM, getaddrinfo

import httpcore

from models.webhooks.addresses import Address, Network, Target, read_address, require_open

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Returns the addresses of a name. Raises `NameNotResolved`."""
RESOLVERS = 64
"""How many names are resolved concurrently. A name server that hangs occupies one of the threads.
"""
TRIED_ADDRESSES = 3


class NameNotResolved(Exception):
    """The name has no address, or its name server does not answer."""


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Resolve a name with the system's resolver. Raise `NameNotResolved`."""
    loop = asyncio.get_running_loop()
    try:
        entries = await loop.run_in_executor(
            _resolvers(), lambda: getaddrinfo(host, port, type=SOCK_STREAM)
        )
    except (OSError, UnicodeError):
        raise NameNotResolved() from None
    return list(dict.fromkeys(read_address(str(entry[4][0])) for entry in entries))


@cache
def _resolvers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolver")


async def find_addresses(
    target: Target, resolve: Resolve, opened: Sequence[Network]
) -> Sequence[Address]:
    """Return the addresses to connect to. Raise `AddressRefused` if any of them is in a private
    network that is not in `opened`, and `NameNotResolved`.
    """
    addresses = [target.address] if target.address else await resolve(target.host, target.port)
    if not addresses:
        raise NameNotResolved()
    require_open(target, addresses, opened)
    return addresses


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """The network backend of a connection pool whose requests all have the same scheme."""

    def __init__(self, scheme: str, resolve: Resolve, opened: Sequence[Network]) -> None:
        self._scheme, self._resolve, self._opened = scheme, resolve, opened
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        target = Target(self._scheme, host, port, _address_of(host), "")
        addresses = await find_addresses(target, self._resolve, self._opened)
        for address in addresses[: TRIED_ADDRESSES - 1]:
            try:
                return await self._inner.connect_tcp(str(address), port, timeout)
            except httpcore.ConnectError:
                if address == addresses[-1]:
                    raise
        return await self._inner.connect_tcp(str(addresses[-1]), port, timeout)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError("webhooks are not posted to Unix sockets")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


def _address_of(host: str) -> Address | None:
    try:
        return read_address(host)
    except ValueError:
        return None
