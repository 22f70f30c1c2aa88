"""Host names, which select the organization of a request."""

import re
from urllib.parse import urlsplit

from models.chat.common.errors import InvalidHost

HOST_MAX = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]{{2,45}}\])")


def is_host(text: str) -> bool:
    """Return whether a text is a host name or an address in lower case, without a port."""
    return len(text) <= HOST_MAX and _HOST.fullmatch(text) is not None


def parse_host(text: str) -> str:
    """Return the host of a Host header, in lower case and without the port."""
    host = text.strip().lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (name[-1:] == "]" or ":" not in name) else host


def check_host(text: str) -> str:
    """Return a host name or address as it is stored. Raise `InvalidHost`."""
    host = text.strip().lower()
    if not is_host(host):
        raise InvalidHost(host=text)
    return host


def published_url(public_url: str, host: str) -> str:
    """Return the URL of an organization, for use outside a request: its host, with the scheme and
    port of the operator's public URL.
    """
    parts = urlsplit(public_url)
    return f"{parts.scheme}://{host}:{parts.port}" if parts.port else f"{parts.scheme}://{host}"
