"""Mark search words in messages."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any

from models.chat.messages.words import (
    RUN,
    ParsedQuery,
    Part,
    characters_of,
    index_words,
    normal,
    pieces_of,
)

_MARKUP = re.compile(r"(<[^>]*>|&#?\w+;)")
MAX_MARKED = 500_000
"""Maximum number of characters in one response in which matches are marked."""


def mark_matches(messages: Sequence[dict[str, Any]], queries: Iterable[ParsedQuery]) -> None:
    """Add `match_content` and `match_subject`: HTML with marked search words. Only the first
    `MAX_MARKED` characters of all messages are marked.
    """
    parts = [part for query in queries for part in query]
    if not parts:
        return
    marker = _Marker(parts)
    left = MAX_MARKED
    for message in messages:
        content, subject = message["content"], message["subject"]
        if message["content_type"] != "text/html":
            content = escape(content, quote=False)
        subject = escape(subject, quote=False)
        left -= len(content) + len(subject)
        if left >= 0:
            content, subject = _mark(content, marker), _mark(subject, marker)
        message["match_content"] = content
        message["match_subject"] = subject


def _mark(markup: str, marker: "_Marker") -> str:
    """Return the markup with marks in the text between tags and entities."""
    pieces = _MARKUP.split(markup)  # tags and entities have odd indices
    pieces[::2] = map(marker.mark, pieces[::2])
    return "".join(pieces)


class _Marker:
    """Marks words that search treats as equal, and searched characters in spaceless runs. Each run
    is looked up once, so the number of search words does not matter.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._words = {word for part in parts for word in part.words}
        self._known: dict[str, str] = {}

    def mark(self, text: str) -> str:
        return RUN.sub(self._marked, text)

    def _marked(self, match: re.Match[str]) -> str:
        run = match[0]
        marked = self._known.get(run)
        if marked is None:
            marked = "".join(
                self._marked_characters(piece) if is_spaceless else self._marked_word(piece)
                for piece, is_spaceless in pieces_of(run)
            )
            self._known[run] = marked
        return marked

    def _marked_word(self, word: str) -> str:
        return _highlighted(word) if not self._words.isdisjoint(index_words(word)) else word

    def _marked_characters(self, piece: str) -> str:
        """Return the piece with marks on each character that is in a search word."""
        characters = characters_of(piece)
        wanted = [False] * len(characters)
        for place, character in enumerate(characters):
            pair = normal("".join(characters[place : place + 2]))
            if pair in self._words:
                wanted[place : place + 2] = [True] * len(characters[place : place + 2])
            elif normal(character) in self._words:
                wanted[place] = True
        groups = groupby(zip(characters, wanted, strict=True), key=itemgetter(1))
        texts = (("".join(character for character, _ in group), is_on) for is_on, group in groups)
        return "".join(_highlighted(text) if is_on else text for text, is_on in texts)


def _highlighted(text: str) -> str:
    return f'<span class="highlight">{text}</span>'
