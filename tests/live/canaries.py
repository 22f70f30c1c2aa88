"""Secrets that are used in a running server, and a search for them in its output and files.

Each secret (canary) is searched unchanged, and as it would appear in a URL, in JSON, in a Python
repr, in base64 (at each of the three possible offsets in a longer text) and in hexadecimal.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

import httpx
import orjson

SHORTEST = 8
"""A shorter text would be found by chance."""


def forms_of(value: str) -> set[bytes]:
    """Every encoding in which a text may have been written."""
    raw = value.encode()
    forms = {
        raw,
        quote(value, safe="").encode(),
        quote(value).encode(),
        quote_plus(value).encode(),
        orjson.dumps(value)[1:-1],
        repr(value)[1:-1].encode(),
        raw.hex().encode(),
        raw.hex().upper().encode(),
    }
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        # The letters at both ends also depend on the adjacent text.
        middle = encoded[(0, 2, 3)[offset] :].rstrip(b"=")[
            : -1 if (offset + len(raw)) % 3 else None
        ]
        forms |= {middle, middle.replace(b"+", b"-").replace(b"/", b"_")}
    return forms


class Canaries:
    """The secrets by name."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self._forms: dict[bytes, str] = {}

    def plant(self, name: str, value: str) -> str:
        """Search for this value from now on, and return it. A known value keeps its name."""
        assert len(value) >= SHORTEST, name
        if value not in self.values.values():
            self.values[name if name not in self.values else f"{name} {len(self.values)}"] = value
            self._forms |= dict.fromkeys(forms_of(value), name)
        return value

    def one_of_each(self) -> list[str]:
        """Return the first value of each name."""
        return [value for name, value in self.values.items() if not name[-1].isdigit()]

    def found_in(self, content: bytes) -> list[str]:
        """Return the names of the secrets in a text."""
        return sorted({name for form, name in self._forms.items() if form in content})


@dataclass
class Judge:
    """Records every response, and reports those that contained an unexpected secret."""

    canaries: Canaries
    client: httpx.Client
    host: str
    answers: list[tuple[str, bytes, frozenset[str]]] = field(default_factory=list)

    def send(
        self, method: str, path: str, *, shows: Collection[str] = (), **request: Any
    ) -> httpx.Response:
        """Send one request, whose response may contain the values `shows`."""
        headers = {"Host": self.host, **request.pop("headers", {})}
        response = self.client.request(method, path, headers=headers, **request)
        self.keep(f"{method} {path} -> {response.status_code}", response, shows)
        return response

    def keep(self, what: str, response: httpx.Response, shows: Collection[str] = ()) -> None:
        head = b"\n".join(name + b": " + value for name, value in response.headers.raw)
        self.answers.append((what, head + b"\n" + response.content, frozenset(shows)))

    def told(self) -> list[str]:
        """Return the responses with secrets that they may not contain."""
        found = []
        for what, content, shows in self.answers:
            for value in shows:
                for form in sorted(forms_of(value), key=len, reverse=True):
                    content = content.replace(form, b"")
            if names := self.canaries.found_in(content):
                found.append(f"{self._hidden(what)}: {names} in {content[:600]!r}")
        return found

    def _hidden(self, what: str) -> str:
        for name, value in self.canaries.values.items():
            what = re.sub(re.escape(value), f"<{name}>", what)
        return what
