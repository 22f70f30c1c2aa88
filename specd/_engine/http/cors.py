"""CORS (Fetch standard, section 3.3): the pages that can read the responses of a service.

A browser passes a response from another origin to a page only if the response allows it. Before a
request that a form could not send, it sends OPTIONS without credentials: the preflight request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from specd._cors import ANY, Cors

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_ALWAYS_READABLE = frozenset(
    (b"cache-control", b"content-language", b"content-length", b"content-type", b"expires",
     b"last-modified", b"pragma")
)  # fmt: skip
"""The headers of a response that every page can read (Fetch, section 2.2.2)."""
_NEVER_READABLE = frozenset((b"set-cookie", b"set-cookie2"))
_NOT_EXPOSED = _ALWAYS_READABLE | _NEVER_READABLE | {b"vary"}
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_NAMES = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?: *, *[!#$%&'*+.^_`|~0-9A-Za-z-]+)*")
_ALLOW_ORIGIN = b"access-control-allow-origin"
_EXPOSE_HEADERS = b"access-control-expose-headers"


class Sharing:
    """The CORS headers of a service's responses.

    `standing` are those of every response. If responses `varies`, the response to a request with an
    Origin also needs `share`. `is_on` says whether pages of any other origin can read the
    responses.
    """

    __slots__ = ("_cors", "_exposed", "_has_any", "_names", "is_on", "standing", "varies")

    def __init__(self, cors: Cors) -> None:
        self._cors = cors
        self._names = frozenset(
            origin_of(origin).encode("latin-1") for origin in cors.origins if origin != ANY
        )
        self._has_any = ANY in cors.origins
        self._exposed: bytes | None = None
        if cors.exposed_headers is not None:
            self._exposed = ", ".join(cors.exposed_headers).encode("latin-1")
        self.is_on = bool(cors.origins)
        self.varies = bool(self._names)
        self.standing: tuple[tuple[bytes, bytes], ...] = ()
        if self.varies:
            self.standing = ((b"vary", b"Origin"),)
        elif self._has_any:
            self.standing = self._for_any()

    @property
    def trusted(self) -> frozenset[bytes]:
        """The origins whose requests may have credentials."""
        return self._names if self._cors.credentials else frozenset()

    def names(self, origin: bytes) -> bool:
        """Return whether the response to this origin names it."""
        return origin.lower() in self._names

    def includes(self, origin: bytes | None) -> bool:
        """Return whether pages of an origin can read the responses."""
        return self._has_any or (origin is not None and self.names(origin))

    def share(self, asked: Mapping[bytes, bytes], answer: list[tuple[bytes, bytes]]) -> None:
        """Add the headers to a response that allow the requesting page to read it.

        `asked` are the headers of the request, with an Origin.
        """
        names = {name for name, _ in answer}
        if _ALLOW_ORIGIN in names:  # the handler shares its response itself
            return
        origin = asked[b"origin"]
        if not self.names(origin):
            answer += self._for_any() if self._has_any else ()
            return
        answer.append((_ALLOW_ORIGIN, origin))
        if self._cors.credentials:
            answer.append((b"access-control-allow-credentials", b"true"))
        exposed = self._exposed
        if exposed is None and b"access-control-allow-methods" not in names:
            exposed = b", ".join(sorted(names - _NOT_EXPOSED))
        if exposed:
            answer.append((_EXPOSE_HEADERS, exposed))

    def preflight(
        self, asked: Mapping[bytes, bytes], methods: Collection[str] = ()
    ) -> tuple[tuple[str, str], ...]:
        """Return the headers of the response to a preflight request, in addition to those of
        `share`.

        `methods` are those of the path. The requested method is allowed even if it is not one of
        them, and so are all headers, because the request itself is then refused with an error that
        the page can read. Pages that cannot read responses get no headers.
        """
        if not self.includes(asked[b"origin"]):
            return ()
        method = asked[b"access-control-request-method"]
        allowed = [name for name in methods if name != "OPTIONS"]
        if _TOKEN.fullmatch(method) and method.decode("ascii") not in allowed:
            allowed.append(method.decode("ascii"))
        headers = [("Access-Control-Allow-Methods", ", ".join(allowed))]
        wanted = asked.get(b"access-control-request-headers", b"")
        if _HEADER_NAMES.fullmatch(wanted):
            headers.append(("Access-Control-Allow-Headers", wanted.decode("ascii")))
        return (*headers, ("Access-Control-Max-Age", str(self._cors.max_age_s)))

    def _for_any(self) -> tuple[tuple[bytes, bytes], ...]:
        exposed = b"*" if self._exposed is None else self._exposed
        return (_ALLOW_ORIGIN, b"*"), (_EXPOSE_HEADERS, exposed)


def is_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request is a preflight request."""
    return (
        method == "OPTIONS" and b"origin" in headers and b"access-control-request-method" in headers
    )


def origin_of(address: str) -> str:
    """Return the origin of an address as browsers write it: lower case, no default port."""
    parts = urlsplit(address.lower())
    return f"{parts.scheme}://{parts.netloc.removesuffix(_DEFAULT_PORTS.get(parts.scheme, ' '))}"
