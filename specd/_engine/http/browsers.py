"""Prevents pages of other sites from changing data, by the headers that browsers add to requests.

A browser adds its stored cookies and HTTP credentials to requests of any page (CSRF). It also adds
the source of the request: in `Sec-Fetch-Site` (W3C Fetch Metadata) and `Origin` (the Fetch
standard), which pages cannot set. Other clients send neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from specd._cors import Cors
from specd._engine.errors import ForeignOrigin
from specd._engine.http.cors import Sharing, origin_of
from specd._engine.response import Response

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_OWN_SITES = frozenset((None, b"same-origin", b"none"))
_METADATA = (b"sec-fetch-mode", b"sec-fetch-site", b"sec-fetch-dest", b"origin")
_PROMPTING = frozenset(("basic", "digest", "negotiate", "ntlm"))


class Origins:
    """The origins whose pages may send changes: those of the public address and of the request's
    own host, those of `cors`, and those that the operator allows. An origin is, for example,
    `https://pay.example`.
    """

    __slots__ = ("_known", "_scheme", "is_https", "sharing")

    def __init__(
        self,
        public_url: str = "http://localhost",
        allowed: Collection[str] = (),
        cors: Cors | None = None,
    ) -> None:
        cors = cors or Cors()
        self.sharing = Sharing(replace(cors, origins=(*cors.origins, *allowed)))
        self._known = self.sharing.trusted | {origin_of(public_url).encode("latin-1")}
        scheme = urlsplit(public_url).scheme
        self.is_https = scheme == "https"
        self._scheme = f"{scheme}://".encode("ascii")

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise `ForeignOrigin` if a browser sent the request for a page of another origin.

        `Origin: null`, from a sandboxed frame or after a redirect, is never allowed. Pages that may
        not send credentials are refused only if the browser has added some.
        """
        origin = headers.get(b"origin")
        site = headers.get(b"sec-fetch-site")
        if origin is None:
            is_allowed = site in _OWN_SITES
        else:
            is_allowed = (
                origin.lower() in self._known
                or (site in _OWN_SITES and self._is_of_host(origin.lower(), headers, site))
                or (self.sharing.includes(origin) and not _has_credentials_of_browser(headers))
            )
        if not is_allowed:
            raise ForeignOrigin

    def _is_of_host(
        self, origin: bytes, headers: Mapping[bytes, bytes], site: bytes | None
    ) -> bool:
        scheme, separator, authority = origin.partition(b"://")
        is_scheme = site == b"same-origin" or scheme + separator == self._scheme
        return is_scheme and authority != b"" and authority == headers.get(b"host", b"").lower()


def _has_credentials_of_browser(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request has credentials that a browser may have added automatically."""
    scheme = headers.get(b"authorization", b"").partition(b" ")[0].decode("latin-1")
    return b"cookie" in headers or scheme.lower() in _PROMPTING


def is_browser(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a browser sent the request. Over plain HTTP, only the user agent
    shows this.
    """
    return (
        any(name in headers for name in _METADATA)
        or b"text/html" in headers.get(b"accept", b"")
        or headers.get(b"user-agent", b"").startswith(b"Mozilla/")
    )


def without_browser_challenge(response: Response) -> Response:
    """Return the response with challenges that do not make browsers prompt for credentials, which
    they would store and send with requests of any page. Browsers do not support the scheme
    `Session`.
    """
    response.headers = tuple(
        (name, _quiet(value) if name.lower() == "www-authenticate" else value)
        for name, value in response.headers
    )
    return response


def _quiet(challenge: str) -> str:
    scheme, space, rest = challenge.partition(" ")
    return f"Session{space}{rest}" if scheme.lower() in _PROMPTING else challenge
