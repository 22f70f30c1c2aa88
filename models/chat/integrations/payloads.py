"""Read a product's payload value by value.

No text in a payload has unintended effects: names and titles are escaped by
`models.chat.rendering.quotes`, and no text refers to users, groups or channels (`NAMES`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

from models.chat.integrations.errors import MalformedPayload
from models.chat.rendering.names import Names
from models.chat.rendering.quotes import Quotes, fenced, inert_line, link
from models.json import Json

NAMES: Names = Quotes().names
"""The names that texts of products can refer to. There are none."""
MAX_POSTS = 20
"""Maximum number of messages for one request. Further messages are dropped."""
DEEPEST = 64
"""Maximum nesting of objects and lists."""
LONGEST_QUOTE = 4_000
_WEB = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Payload:
    """A JSON value and its position in the payload. Each method raises `MalformedPayload`."""

    value: Json
    at: str = "payload"
    level: int = 0

    def __getitem__(self, name: str) -> "Payload":
        """Return the member, which is required."""
        found = self.find(name)
        if found is None:
            raise MalformedPayload(at=f"{self.at}.{name} is missing")
        return found

    def find(self, name: str) -> "Payload | None":
        """Return the member, or None if it is absent or null."""
        if not isinstance(self.value, dict):
            raise MalformedPayload(at=f"{self.at} is not an object")
        value = self.value.get(name)
        return None if value is None else self._inner(value, f".{name}")

    def text(self, name: str) -> str:
        """Return a required text."""
        return self[name].as_text()

    def find_text(self, name: str) -> str:
        """Return a text, or an empty text if it is absent or null."""
        found = self.find(name)
        return "" if found is None else found.as_text()

    def number(self, name: str) -> int:
        found = self[name]
        if not isinstance(found.value, int):
            raise MalformedPayload(at=f"{found.at} is not an integer")
        return found.value

    def flag(self, name: str) -> bool:
        """Return a boolean, or False if it is absent or null."""
        found = self.find(name)
        if found is not None and not isinstance(found.value, bool):
            raise MalformedPayload(at=f"{found.at} is not a boolean")
        return found is not None and bool(found.value)

    def items(self, name: str) -> "Iterator[Payload]":
        """Yield the items of a list, or nothing if it is absent or null."""
        found = self.find(name)
        if found is not None:
            yield from found.as_items()

    def members(self, name: str) -> "Iterator[tuple[str, str]]":
        """Yield the names and values of an object as texts. Nested objects and lists are
        invalid.
        """
        found = self.find(name)
        if found is None:
            return
        if not isinstance(found.value, dict):
            raise MalformedPayload(at=f"{found.at} is not an object")
        for key, value in found.value.items():
            if isinstance(value, dict | list):
                raise MalformedPayload(at=f"{found.at}.{key} is not a plain value")
            yield key, value if isinstance(value, str) else str(value)

    def as_items(self) -> "Iterator[Payload]":
        """Yield the items of a list."""
        if not isinstance(self.value, list):
            raise MalformedPayload(at=f"{self.at} is not a list")
        for at, item in enumerate(self.value):
            yield self._inner(item, f"[{at}]")

    def _inner(self, value: Json, step: str) -> "Payload":
        if self.level >= DEEPEST:
            raise MalformedPayload(at=f"objects and lists are nested deeper than {DEEPEST} levels")
        return Payload(value, f"{self.at}{step}", self.level + 1)

    def as_text(self) -> str:
        if not isinstance(self.value, str):
            raise MalformedPayload(at=f"{self.at} is not a text")
        return self.value


@dataclass(frozen=True, slots=True)
class Asked:
    """Options from the address and the headers of the webhook."""

    event: str | None = None
    """The event in the product's header."""
    has_topic: bool = False
    """Whether the address contains the topic. Texts must then repeat facts that the topic would
    name.
    """
    branches: str | None = None
    ignores_private: bool = False
    name_field: str = "instance"
    desc_field: str = "alertname"


@dataclass(frozen=True, slots=True)
class Post:
    """One message of a payload: its topic, its Markdown, and its event for the selection."""

    topic: str
    content: str
    event: str = field(default="")


def web_link(label: str, address: str) -> str:
    """Return a link with an escaped label, or only the label if the address is not a web
    address.
    """
    if _WEB.match(address) is None:
        return inert_line(label)
    return link(label, quote(address, safe=":/?#@!$&'+,;=%~-._"))


def quoted(text: str) -> str:
    """Return a text of the product as a quote. Mentions in quotes are silent."""
    cut = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]} [...]"
    return fenced(cut.strip(), " quote")


def moment(text: str) -> str:
    """Return a time that clients show in the reader's time zone."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return inert_line(text)
    return f"<time:{at.isoformat()}>"
