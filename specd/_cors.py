"""The pages of other origins that may use a service. The module `wsgi` of a project imports this
module, so it imports no other module of specd.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

ANY = "*"
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@,]+")
"""A web origin, or an origin with an application's own scheme (RFC 6454), in lower case."""


@dataclass(frozen=True, slots=True)
class Cors:
    """The pages of other origins that can read all responses of a service, including errors, and
    can send changes.

    `origins` are origins such as `https://app.example`. Their requests may have `credentials`:
    cookies, and passwords and certificates that the browser stores. The origin `*` stands for all
    other pages. Their requests have no credentials except those that the page writes into a header.
    `exposed_headers` are the headers that pages can read, by default all. Browsers cache the
    response to a preflight request for `max_age_s` seconds.

    Operators add origins in `SPECD_ALLOWED_ORIGINS`. Raise ValueError if a text is not an origin.
    """

    origins: Collection[str] = ()
    credentials: bool = True
    exposed_headers: Collection[str] | None = None
    max_age_s: int = 7200

    def __post_init__(self) -> None:
        if isinstance(self.origins, str):
            raise ValueError(f"origins must be a list of origins, not {self.origins!r}")
        for origin in self.origins:
            if origin != ANY and not ORIGIN.fullmatch(origin.lower()):
                raise ValueError(f"an origin is https://app.example or *, not {origin!r}")
