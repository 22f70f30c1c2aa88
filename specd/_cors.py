"""The pages of other origins that a service names. The module `wsgi` of a project imports it, so it
is a leaf.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

ANY = "*"
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@,]+")
"""An origin of the web, or of the scheme of an application (RFC 6454), in lower case."""


@dataclass(frozen=True, slots=True)
class Cors:
    """The pages of other origins that can read all answers of a service, errors included, and can
    change things.

    `origins` are origins such as `https://app.example`, whose requests may have `credentials`:
    cookies, and passwords and certificates that the browser keeps. The origin `*` is every other
    page. Its requests have no credentials but those that the page itself writes into a header.
    `exposed_headers` are the headers that pages can read, all of them by default. Browsers keep the
    answer to a preflight request for `max_age_s` seconds.

    The operator adds origins in `SPECD_ALLOWED_ORIGINS`. Raise ValueError for other texts.
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
