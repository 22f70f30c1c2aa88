"""What browsers add to a request, and what follows: no page of another site changes anything here.

Whatever page makes a browser send a request, the browser adds the cookies and HTTP credentials that
it keeps (CSRF). It also says where the request came from: by `Sec-Fetch-Site` (W3C Fetch Metadata)
and `Origin` (the Fetch standard), which no page can set. Other clients send neither.

A page can read an answer of another origin only if the answer says so (CORS; Fetch, section 3.3).
Pages of the origins that the operator allows can read every answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from specd._engine.errors import ForeignOrigin
from specd._engine.response import Response

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_OWN_SITES = frozenset((None, b"same-origin", b"none"))
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_METADATA = (b"sec-fetch-mode", b"sec-fetch-site", b"sec-fetch-dest", b"origin")
_ALWAYS_READABLE = frozenset(
    (b"cache-control", b"content-language", b"content-length", b"content-type", b"expires",
     b"last-modified", b"pragma")
)  # fmt: skip
"""The headers of an answer that each page can read (Fetch, section 2.2.2)."""
_NEVER_READABLE = frozenset((b"set-cookie", b"set-cookie2"))
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_NAMES = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?: *, *[!#$%&'*+.^_`|~0-9A-Za-z-]+)*")
_PREFLIGHT_LASTS_S = 7200
"""As long as browsers keep the answer to a preflight request at most."""
_PROMPTING = frozenset(("basic", "digest", "negotiate", "ntlm"))


class Origins:
    """Whose pages may change things: the public address's, the request's own host's, and those that
    the operator allows. All are origins, such as `https://pay.example`.
    """

    __slots__ = ("_allowed", "_known", "_scheme", "is_https")

    def __init__(self, public_url: str = "http://localhost", allowed: Collection[str] = ()) -> None:
        self._allowed = frozenset(origin_of(address).encode("latin-1") for address in allowed)
        self._known = self._allowed | {origin_of(public_url).encode("latin-1")}
        scheme = urlsplit(public_url).scheme
        self.is_https = scheme == "https"
        self._scheme = f"{scheme}://".encode("ascii")

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise `ForeignOrigin` for a request that a page of another origin made a browser send.

        `Origin: null`, of a sandboxed frame or after a redirect, is nobody's origin.
        """
        origin = headers.get(b"origin")
        site = headers.get(b"sec-fetch-site")
        if origin is None:
            if site not in _OWN_SITES:
                raise ForeignOrigin
        elif origin.lower() not in self._known and (
            site not in _OWN_SITES or not self._is_of_host(origin.lower(), headers, site)
        ):
            raise ForeignOrigin

    @property
    def are_allowed(self) -> bool:
        """Whether the operator allows pages of other origins."""
        return bool(self._allowed)

    def share(self, asked: Mapping[bytes, bytes], answer: list[tuple[bytes, bytes]]) -> None:
        """Add the headers to an answer with which pages of the allowed origins can read it.

        `asked` are the headers of the request. The answer to a preflight request, which is the one
        to OPTIONS, names the methods of its `Allow`, and the one that is asked for, so that pages
        can read the errors of wrong methods and paths. Call it only if some `are_allowed`.
        """
        answer.append((b"vary", b"Origin"))
        origin = asked.get(b"origin", b"")
        if origin.lower() not in self._allowed:
            return
        names = {name for name, _ in answer}
        if b"access-control-allow-origin" in names:  # every page can read it
            return
        answer.append((b"access-control-allow-origin", origin))
        answer.append((b"access-control-allow-credentials", b"true"))
        if is_preflight(asked):
            allowed = dict(answer).get(b"allow", b"").split(b", ")
            method = asked[b"access-control-request-method"]
            if _TOKEN.fullmatch(method) and method not in allowed:
                allowed.append(method)
            answer.append((b"access-control-allow-methods", b", ".join(filter(None, allowed))))
            wanted = asked.get(b"access-control-request-headers", b"")
            if _HEADER_NAMES.fullmatch(wanted):
                answer.append((b"access-control-allow-headers", wanted))
            answer.append((b"access-control-max-age", b"%d" % _PREFLIGHT_LASTS_S))
        elif readable := sorted(names - _ALWAYS_READABLE - _NEVER_READABLE):
            answer.append((b"access-control-expose-headers", b", ".join(readable)))

    def _is_of_host(
        self, origin: bytes, headers: Mapping[bytes, bytes], site: bytes | None
    ) -> bool:
        scheme, separator, authority = origin.partition(b"://")
        is_scheme = site == b"same-origin" or scheme + separator == self._scheme
        return is_scheme and authority != b"" and authority == headers.get(b"host", b"").lower()


def is_preflight(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a browser asks by OPTIONS whether a page may send a request."""
    return b"origin" in headers and b"access-control-request-method" in headers


def origin_of(address: str) -> str:
    """Return the origin of an address as browsers write it: lower case, no default port."""
    parts = urlsplit(address.lower())
    return f"{parts.scheme}://{parts.netloc.removesuffix(_DEFAULT_PORTS.get(parts.scheme, ' '))}"


def is_browser(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a browser sent this; over plain HTTP only its name shows that."""
    return (
        any(name in headers for name in _METADATA)
        or b"text/html" in headers.get(b"accept", b"")
        or headers.get(b"user-agent", b"").startswith(b"Mozilla/")
    )


def without_browser_challenge(response: Response) -> Response:
    """Return the answer without a challenge that makes browsers prompt for credentials, which they
    would store and send with the requests of any page. `Session` is none of their schemes.
    """
    response.headers = tuple(
        (name, _quiet(value) if name.lower() == "www-authenticate" else value)
        for name, value in response.headers
    )
    return response


def _quiet(challenge: str) -> str:
    scheme, space, rest = challenge.partition(" ")
    return f"Session{space}{rest}" if scheme.lower() in _PROMPTING else challenge
