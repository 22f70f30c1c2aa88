"""The addresses that webhooks may be posted to: none of a private network.

An address is checked twice, when it is stored and when it is connected to. Only what every parser
reads in the same way is accepted: a host in ASCII, an IPv4 address as four decimal numbers. The
name is resolved once, and the resolved addresses are checked and connected to.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

URL_MAX = 2000
HTTPS_PORT = 443
FIRST_UNPRIVILEGED_PORT = 1024
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<target>(?:/[\w\-.~%!$&'()*+,;=:@/]*)?(?:\?[\w\-.~%!$&'()*+,;=:@/?]*)?)",
    re.IGNORECASE | re.ASCII,
)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE | re.ASCII)

_NOT_GLOBAL = tuple(
    ip_network(text)
    for text in (
        # IANA's registries of special-purpose addresses, whatever is not plain global unicast.
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        # Protocol assignments with Teredo, documentation, 6to4.
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48"),
    )
)
_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
"""All else is special: mapped, compatible and translated IPv4, link-local, unique local."""


class AddressRefused(Exception):
    """Webhooks are not posted there. The message completes the sentence that begins with what the
    address is.
    """


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a well-formed URL. `host` has no brackets; `address` is the host where that is
    an IP address; `request_target` is the path with its query.
    """

    scheme: str
    host: str
    port: int
    address: Address | None
    request_target: str


def check_url(url: str, opened: Sequence[Network]) -> Target:
    """Return the parts of a webhook's address. Raise `AddressRefused`. No name is resolved yet."""
    match = _URL.fullmatch(url)
    if match is None or len(url) > URL_MAX:
        raise AddressRefused("is not an https URL with a plain host name")
    scheme, host = match["scheme"].lower(), match["host"].lower()
    port = int(match["port"] or (HTTPS_PORT if scheme == "https" else 80))
    if not FIRST_UNPRIVILEGED_PORT <= port <= 65_535 and port != HTTPS_PORT:
        raise AddressRefused("has a port that is neither 443 nor above 1023")
    request_target = match["target"] if match["target"].startswith("/") else f"/{match['target']}"
    target = Target(scheme, host.strip("[]"), port, _parse_host(host), request_target)
    if scheme == "http" and not opened:
        raise AddressRefused("does not begin with https://")
    if target.address is not None:
        require_open(target, [target.address], opened)
    return target


def require_open(target: Target, addresses: Iterable[Address], opened: Sequence[Network]) -> None:
    """Raise `AddressRefused` unless each of the addresses may be connected to."""
    for address in addresses:
        is_opened = any(address in network for network in opened)
        if not is_opened and not is_global_unicast(address):
            raise AddressRefused("resolves to an address that is not public")
        if not is_opened and target.scheme == "http":
            raise AddressRefused("does not begin with https://")


def is_global_unicast(address: Address) -> bool:
    """Return whether it is the address of one machine in the public Internet."""
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST_V6:
        return False
    return address.is_global and not any(address in network for network in _NOT_GLOBAL)


def _parse_host(host: str) -> Address | None:
    """Return the IP address that the host is; None for a name. Raise `AddressRefused` for what some
    resolver takes for an address and others for a name: 127.1, 0x7f000001, 2130706433.
    """
    try:
        if host.startswith("["):
            return IPv6Address(host[1:-1])
        labels = host.split(".")
        if _NUMBER.fullmatch(labels[-1]):
            return IPv4Address(host)
    except ValueError:
        raise AddressRefused("has an IP address in a nonstandard notation") from None
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise AddressRefused("has no valid host name")
    return None


def read_address(text: str) -> Address:
    """Return an address that the resolver of the system writes, perhaps with a zone."""
    return ip_address(text.partition("%")[0])
