"""Render texts of users before the transaction that stores them.

Rendering takes up to some hundred milliseconds, and transactions must not wait for it. The names in
the text are also read before. The transaction checks whether the author may send it (drafts.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from models.chat.identity.actors import Actor
from models.chat.rendering import Names, Rendered, find_linkifiers, find_names, render
from models.chat.rendering.blocks import as_text
from models.chat.rendering.links import Linkifiers
from specd.db import Db

CONTENT_MAX = 10_000
TRUNCATED = "\n[message truncated]"
NO_TEXTS: Mapping[str, str] = MappingProxyType({"": ""})
"""The result of `render_texts` for an empty text."""
MAX_RENDERED = 20_000
"""Maximum number of characters rendered in one request. Further texts are shown unrendered."""


@dataclass(frozen=True, slots=True)
class PreparedText:
    """A message's text as sent (`content`), as stored, and as HTML."""

    content: str
    stored: str
    rendered: Rendered
    linkifiers: Linkifiers


def prepare_text(db: Db, author: Actor, content: str, names: Names | None = None) -> PreparedText:
    """Return the text rendered with these names, or with the names that its author may use. A text
    that cannot be sent has no HTML.
    """
    stored = shorten(content)
    is_sendable = bool(stored.strip()) and "\0" not in stored
    if names is not None:
        linkifiers: Linkifiers = find_linkifiers(db, author.realm_id)
    else:
        names = find_names(db, author, stored if is_sendable else "")
        linkifiers = names.linkifiers
    rendered = _render(author, stored, names) if is_sendable else Rendered()
    return PreparedText(content, stored, rendered, linkifiers)


def shorten(content: str) -> str:
    """Return the text as it is stored: without blank ends, and at most `CONTENT_MAX` characters
    long.
    """
    content = content.rstrip().lstrip("\n")
    if len(content) > CONTENT_MAX:
        content = content[: CONTENT_MAX - len(TRUNCATED)] + TRUNCATED
    return content


def render_texts(db: Db, author: Actor, texts: Iterable[str]) -> dict[str, str]:
    """Return short texts -> their HTML, with as many statements as for one text. The HTML of an
    empty text is empty.
    """
    html = dict.fromkeys(texts, "")
    wanted = [text for text in html if text and "\0" not in text]
    names = find_names(db, author, "\n".join(wanted)) if wanted else Names()
    left = MAX_RENDERED
    for text in wanted:
        left -= len(text)
        is_plain = left < 0
        html[text] = as_text(text) if is_plain else _render(author, text, names).html
    return html


def _render(author: Actor, text: str, names: Names) -> Rendered:
    return render(text, names, empty_topic_name=author.realm.empty_topic_display_name)
