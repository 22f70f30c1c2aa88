"""What a search has found, marked in messages."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from models.chat.messages.search import parse_query

_TAG = re.compile(r"(<[^>]*>)")
_WORD = re.compile(r"\w+")
MOST_MARKED = 500_000
"""Characters of one answer in which matches are marked."""


def mark_matches(messages: Sequence[dict[str, Any]], queries: Sequence[str]) -> None:
    """Add `match_content` and `match_subject`: HTML with the words that were searched for marked,
    in the first `MOST_MARKED` characters of all.
    """
    words = {word for query in queries for part in parse_query(query) for word in part}
    if not words:
        return
    marker = _Marker(words)
    left = MOST_MARKED
    for message in messages:
        content, subject = message["content"], message["subject"]
        if message["content_type"] != "text/html":
            content = escape(content, quote=False)
        subject = escape(subject, quote=False)
        left -= len(content) + len(subject)
        if left >= 0:
            content = "".join(
                piece if piece.startswith("<") else marker.mark(piece)
                for piece in _TAG.split(content)
            )
            subject = marker.mark(subject)
        message["match_content"] = content
        message["match_subject"] = subject


class _Marker:
    """Marks words by how they begin, since search finds them in any inflection. Whether a word is
    one of those is looked up, once for each spelling: how many are searched for costs nothing.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._stems = {_stem(word) for word in words}
        self._lengths = sorted({len(stem) for stem in self._stems})
        self._known: dict[str, str] = {}

    def mark(self, text: str) -> str:
        return _WORD.sub(self._marked, text)

    def _marked(self, match: re.Match[str]) -> str:
        word = match[0]
        marked = self._known.get(word)
        if marked is None:
            key = word.casefold()
            is_wanted = any(key[:length] in self._stems for length in self._lengths)
            marked = self._known[word] = (
                f'<span class="highlight">{word}</span>' if is_wanted else word
            )
        return marked


def _stem(word: str) -> str:
    """Roughly: what is left of the longer word's ending does not matter."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
