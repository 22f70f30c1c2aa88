"""A range of messages as its reader sees it, with what a search has found marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from models.chat.actors import Actor, Reader
from models.chat.date_anchors import find_dated, parse_anchor_date
from models.chat.message_ranges import Range, check_counts, find_range, parse_anchor
from models.chat.message_view import ViewOptions, find_messages
from models.chat.narrow import build_narrow
from models.chat.search import parse_query

_TAG = re.compile(r"(<[^>]*>)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which messages a client asks for, in its own words."""

    anchor: str
    include_anchor: bool
    num_before: int
    num_after: int
    narrow: Sequence[Any]
    anchor_date: str | None = None


def list_range(
    reader: Reader, actor: Actor, wanted: Wanted, options: ViewOptions
) -> tuple[Range, list[dict[str, Any]]]:
    """The range and its message objects. Raises what is wrong with the wish."""
    is_dated = wanted.anchor == "date"
    moment = parse_anchor_date(wanted.anchor_date) if is_dated else None
    anchor = None if is_dated else parse_anchor(wanted.anchor)
    check_counts(wanted.num_before, wanted.num_after)
    narrow = build_narrow(reader, actor, wanted.narrow)
    if moment is not None:
        anchor = find_dated(reader, actor, narrow, moment)
    found = find_range(
        reader,
        actor,
        narrow,
        anchor=anchor,
        include_anchor=wanted.include_anchor,
        num_before=wanted.num_before,
        num_after=wanted.num_after,
    )
    messages = find_messages(reader, actor, found.ids, options)
    if narrow.searched:
        _mark_matches(messages, narrow.searched)
    return found, messages


def _mark_matches(messages: Sequence[dict[str, Any]], queries: Sequence[str]) -> None:
    """Add `match_content` and `match_subject`: HTML with the words that were searched for marked.

    Words are compared by how they begin, since search finds them in any inflection.
    """
    words = {word for query in queries for part in parse_query(query) for word in part}
    if not words:
        return
    stems = sorted((re.escape(_stem(word)) for word in words), key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(stems)})\w*", re.IGNORECASE)
    for message in messages:
        content = message["content"]
        if message["content_type"] != "text/html":
            content = escape(content, quote=False)
        message["match_content"] = "".join(
            piece if piece.startswith("<") else _mark(pattern, piece)
            for piece in _TAG.split(content)
        )
        message["match_subject"] = _mark(pattern, escape(message["subject"], quote=False))


def _mark(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: f'<span class="highlight">{match[0]}</span>', text)


def _stem(word: str) -> str:
    """Roughly: what is left of the longer word's ending does not matter."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
