"""Which host a request is for, and whether it says so clearly (RFC 9112, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from server.errors import InvalidRequest, invalid


def unclear_host(
    headers: Sequence[tuple[bytes, bytes]], target: bytes, version: str
) -> InvalidRequest | None:
    """What is wrong with how a request names its host, or None."""
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1 and (hosts or version == "1.1"):
        return invalid("/header/Host", "must be sent once")
    if not target.startswith(b"/") and b"://" in target:
        authority = target.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
        if [authority.lower()] != [host.lower() for host in hosts]:
            return invalid("/header/Host", "must be the host of the address")
    return None
