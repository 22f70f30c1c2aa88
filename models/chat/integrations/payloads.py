"""What a product sends, read value by value, and what becomes of it.

Nothing in a payload has an effect by accident: names and titles are written by
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
"""What the texts of products may refer to: nothing."""
MAX_POSTS = 20
"""Messages of one request; what comes after them is left out."""
DEEPEST = 64
"""Levels of objects and lists that are read in each other."""
LONGEST_QUOTE = 4_000
_WEB = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Payload:
    """A JSON value, and where it stands. Each method raises `MalformedPayload`."""

    value: Json
    at: str = "payload"
    level: int = 0

    def __getitem__(self, name: str) -> "Payload":
        """Return the member, which must be there."""
        found = self.find(name)
        if found is None:
            raise MalformedPayload(at=f"{self.at}.{name} is missing")
        return found

    def find(self, name: str) -> "Payload | None":
        """Return the member; None where it is absent or null."""
        if not isinstance(self.value, dict):
            raise MalformedPayload(at=f"{self.at} is not an object")
        value = self.value.get(name)
        return None if value is None else self._inner(value, f".{name}")

    def text(self, name: str) -> str:
        """Return a text that must be there."""
        return self[name].as_text()

    def find_text(self, name: str) -> str:
        """Return a text; an empty one where it is absent or null."""
        found = self.find(name)
        return "" if found is None else found.as_text()

    def number(self, name: str) -> int:
        found = self[name]
        if not isinstance(found.value, int):
            raise MalformedPayload(at=f"{found.at} is not an integer")
        return found.value

    def flag(self, name: str) -> bool:
        """Return a boolean; False where it is absent or null."""
        found = self.find(name)
        if found is not None and not isinstance(found.value, bool):
            raise MalformedPayload(at=f"{found.at} is not a boolean")
        return found is not None and bool(found.value)

    def items(self, name: str) -> "Iterator[Payload]":
        """Yield the items of a list; none where it is absent or null."""
        found = self.find(name)
        if found is not None:
            yield from found.as_items()

    def members(self, name: str) -> "Iterator[tuple[str, str]]":
        """Yield the names and values of an object of plain values, as texts."""
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
    """What the address and the headers say beside the payload."""

    event: str | None = None
    """The event by the product's header."""
    has_topic: bool = False
    """Whether the address names the topic, so that texts must name what else the topic would."""
    branches: str | None = None
    ignores_private: bool = False
    name_field: str = "instance"
    desc_field: str = "alertname"


@dataclass(frozen=True, slots=True)
class Post:
    """One message of a payload: its topic, its Markdown, and the event for the filters."""

    topic: str
    content: str
    event: str = field(default="")


def web_link(label: str, address: str) -> str:
    """Return a link with an inert label; without a web address, the label alone."""
    if _WEB.match(address) is None:
        return inert_line(label)
    return link(label, quote(address, safe=":/?#@!$&'+,;=%~-._"))


def quoted(text: str) -> str:
    """Return a text of the product in a quote, in which mentions are silent."""
    cut = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]} [...]"
    return fenced(cut.strip(), " quote")


def moment(text: str) -> str:
    """Return a time that each reader sees in their own zone."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return inert_line(text)
    return f"<time:{at.isoformat()}>"
