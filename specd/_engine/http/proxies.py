"""The client of a request behind trusted proxies.

A proxy appends the address of its client to `X-Forwarded-For`, so the list is read from its end, up
to the first hop that is not a trusted proxy. The headers of an untrusted peer are ignored.
`Forwarded` (RFC 7239) is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import Scope

UNIX = "unix"
MAX_HOPS = 16
_SEEN = 4096
_FOR, _PROTO = b"x-forwarded-for", b"x-forwarded-proto"


class TrustedProxies:
    """Trusted proxies: addresses, networks (`10.0.0.0/8`), and `unix` for peers on a Unix
    socket.
    """

    def __init__(self, names: Iterable[str]) -> None:
        names = tuple(names)
        self._networks = tuple(ip_network(name) for name in names if name != UNIX)
        self._trusts_sockets = UNIX in names
        self._trusts_anybody = bool(names)
        self._trusts = lru_cache(maxsize=_SEEN)(self._is_trusted)

    def seen_through(self, scope: Scope) -> Scope:
        """Return the ASGI scope with the `client` and `scheme` that a trusted proxy reports. Return
        the same scope if the peer is not trusted or reports nothing valid.
        """
        peer = scope["client"][0] if scope.get("client") else ""
        if not self._trusts(peer):
            return scope
        changes: dict[str, object] = {}
        client = self.client_of(peer, scope["headers"])
        if client != peer:
            changes["client"] = (client, 0)
        protocols = [value for name, value in scope["headers"] if name == _PROTO]
        if protocols and protocols[-1] in (b"http", b"https"):
            changes["scheme"] = protocols[-1].decode("ascii")
        return {**scope, **changes} if changes else scope

    def client_of(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the last hop that is not a trusted proxy. If a hop is not an address, return the
        proxy that reported it.
        """
        if not self._trusts_anybody or not self._trusts(peer):
            return peer
        forwarded = b",".join(value for name, value in headers if name == _FOR)
        client = peer
        for hop in reversed(forwarded.rsplit(b",", MAX_HOPS)[-MAX_HOPS:]):
            address = _parse_hop(hop)
            if address is None:
                break
            client = address
            if not self._trusts(client):
                break
        return client

    def _is_trusted(self, address: str) -> bool:
        if not address:
            return self._trusts_sockets
        parsed = _parse(address)
        return parsed is not None and any(
            parsed.version == network.version and parsed in network for network in self._networks
        )


@lru_cache(maxsize=_SEEN)
def network_of_client(address: str, prefix4: int = 32, prefix6: int = 64) -> str:
    """Return the network of an address, with the given prefix lengths in IPv4 and IPv6, or the text
    itself if it is not an address. The defaults are the unit that counts as one client: an IPv4
    address, or a /64 network in IPv6, because it belongs to one owner.
    """
    parsed = _parse(address)
    if parsed is None:
        return address
    bits = prefix4 if parsed.version == 4 else prefix6
    return str(ip_network((parsed, bits), strict=False))


def _parse_hop(hop: bytes) -> str | None:
    """Return an address of `X-Forwarded-For` without the port that some proxies add, or None if it
    is not an address.
    """
    text = hop.strip().decode("latin-1")
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    parsed = _parse(text)
    return None if parsed is None else str(parsed)


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    if len(text) > 64:
        return None
    try:
        parsed = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed
