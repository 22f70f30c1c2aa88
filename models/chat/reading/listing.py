"""A range of messages as its reader sees it, with what a search has found marked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from models.chat.identity.actors import Actor
from models.chat.messages.search import parse_query
from models.chat.messages.view import ViewOptions, find_messages
from models.chat.reading.date_anchors import find_dated, parse_anchor_date
from models.chat.reading.narrow import build_narrow
from models.chat.reading.ranges import Range, check_counts, find_range, parse_anchor
from models.chat.reading.weights import cut_to_weight
from models.json import Json
from models.reader import Db

_TAG = re.compile(r"(<[^>]*>)")
_WORD = re.compile(r"\w+")
MOST_MARKED = 500_000
"""Characters of one answer in which matches are marked."""


@dataclass(frozen=True, slots=True)
class RangeRequest:
    """The parameters that select a range of messages, not yet parsed."""

    anchor: str
    include_anchor: bool
    num_before: int
    num_after: int
    narrow: Sequence[Json]
    anchor_date: str | None = None


def list_range(
    db: Db, actor: Actor, request: RangeRequest, options: ViewOptions
) -> tuple[Range, list[dict[str, Any]]]:
    """The range and its message objects. Raises the errors of an invalid request."""
    is_dated = request.anchor == "date"
    moment = parse_anchor_date(request.anchor_date) if is_dated else None
    anchor = None if is_dated else parse_anchor(request.anchor)
    check_counts(request.num_before, request.num_after)
    narrow = build_narrow(db, actor, request.narrow)
    if moment is not None:
        anchor = find_dated(db, actor, narrow, moment)
    found = find_range(
        db,
        actor,
        narrow,
        anchor=anchor,
        include_anchor=request.include_anchor,
        num_before=request.num_before,
        num_after=request.num_after,
    )
    found = cut_to_weight(db, found)
    messages = find_messages(db, actor, found.ids, options)
    if narrow.searched:
        _mark_matches(messages, narrow.searched)
    return found, messages


def _mark_matches(messages: Sequence[dict[str, Any]], queries: Sequence[str]) -> None:
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
