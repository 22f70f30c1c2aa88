"""Texts of users, rendered before the transaction that stores them.

Rendering takes up to some hundred milliseconds and no transaction may wait for it. What the text
refers to is read before, too; whether its author may send it is checked inside (drafts.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from models.chat.identity.actors import Actor
from models.chat.rendering import Names, Rendered, find_linkifiers, find_names, render
from models.chat.rendering.links import Linkifiers
from models.chat.rendering.markdown import as_text
from models.reader import Db

CONTENT_MAX = 10_000
TRUNCATED = "\n[message truncated]"
NO_TEXTS: Mapping[str, str] = MappingProxyType({"": ""})
"""What `render_texts` makes of nothing."""
MOST_RENDERED = 20_000
"""Characters of the texts of one request; those that come after are shown as they are written."""


@dataclass(frozen=True, slots=True)
class PreparedText:
    """A message's text as its author sent it (`content`), as it is stored, and as HTML."""

    content: str
    stored: str
    rendered: Rendered
    linkifiers: Linkifiers


def prepare_text(db: Db, author: Actor, content: str, names: Names | None = None) -> PreparedText:
    """The text as it would be sent, with the names given, or those that its author may use. Raises
    nothing: a text that cannot be sent has no HTML.
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
    """The text as it is stored: without blank ends, and not longer than `CONTENT_MAX`."""
    content = content.rstrip().lstrip("\n")
    if len(content) > CONTENT_MAX:
        content = content[: CONTENT_MAX - len(TRUNCATED)] + TRUNCATED
    return content


def render_texts(db: Db, author: Actor, texts: Iterable[str]) -> dict[str, str]:
    """Short texts -> their HTML; an empty one has none. The statements are those of one text."""
    html = dict.fromkeys(texts, "")
    wanted = [text for text in html if text and "\0" not in text]
    names = find_names(db, author, "\n".join(wanted)) if wanted else Names()
    left = MOST_RENDERED
    for text in wanted:
        left -= len(text)
        is_plain = left < 0
        html[text] = as_text(text) if is_plain else _render(author, text, names).html
    return html


def _render(author: Actor, text: str, names: Names) -> Rendered:
    return render(text, names, empty_topic_name=author.realm.empty_topic_display_name)
