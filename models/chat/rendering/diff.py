"""The changes of an edit as HTML: inserted and deleted words are in separate spans.

The tags come only from the new version, so the result is as well-formed as that version. From the
old version only words are included.

The time is linear in the texts. Common text at the beginning and the end is set aside. In between,
words that occur once on each side, in the same order, are anchors (patience diff by Bram Cohen).
Only the short stretches between anchors are compared word by word. A stretch that is too long for
this becomes one deletion and one insertion.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape

from models.chat.rendering.sanitising import plain_text, sanitise

_TOKEN = re.compile(r"<[^>]*>|[^<\s]+|\s+|<")
LONGEST_STRETCH = 60
"""Maximum number of tokens on each side of a stretch that is compared word by word, which takes up
to the third power of this number.
"""
MAX_COMPARED = 20_000
"""Maximum number of pairs of tokens that one diff compares word by word."""

_Stretch = tuple[int, int, int, int]
"""Tokens [i:j] of the old version and [k:m] of the new version."""


def content_html_diff(before: str, after: str) -> str:
    """Return the differences of two rendered contents as safe HTML."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces: list[str] = []
    done = 0
    for i, j, k, m in _changes(old, new):
        pieces += new[done:k]
        pieces += _mark(old[i:j], "deleted")
        pieces += _mark(new[k:m], "inserted")
        done = m
    pieces += new[done:]
    return sanitise("".join(pieces))


def coarse_html_diff(before: str, after: str) -> str:
    """Return all words of the old version and then the new version, without a comparison."""
    words = escape(plain_text(before))
    return f'<p><span class="highlight_text_deleted">{words}</span></p>\n{after}'


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Stretch]:
    """Yield the stretches that differ, in order."""
    left = MAX_COMPARED
    for stretch in _between_anchors(old, new, _trimmed(old, new, (0, len(old), 0, len(new)))):
        i, j, k, m = stretch = _trimmed(old, new, stretch)
        if i == j and k == m:
            continue
        size = (j - i) * (m - k)
        if not size or max(j - i, m - k) > LONGEST_STRETCH or size > left:
            yield stretch
            continue
        left -= size
        matcher = SequenceMatcher(None, old[i:j], new[k:m], autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind != "equal":
                yield i + a, i + b, k + c, k + d


def _trimmed(old: Sequence[str], new: Sequence[str], stretch: _Stretch) -> _Stretch:
    """Return the stretch without the tokens that both versions share at its beginning and end."""
    i, j, k, m = stretch
    while i < j and k < m and old[i] == new[k]:
        i, k = i + 1, k + 1
    while i < j and k < m and old[j - 1] == new[m - 1]:
        j, m = j - 1, m - 1
    return i, j, k, m


def _between_anchors(
    old: Sequence[str], new: Sequence[str], stretch: _Stretch
) -> Iterator[_Stretch]:
    """Yield the stretches between tokens that occur once on each side, in the same order."""
    i, j, k, m = stretch
    counts, others = Counter(old[i:j]), Counter(new[k:m])
    places = {token: at for at, token in enumerate(new[k:m], k) if others[token] == 1}
    unique = [
        (at, places[token])
        for at, token in enumerate(old[i:j], i)
        if counts[token] == 1 and token in places
    ]
    for a, b in _longest_rising(unique):
        yield i, a, k, b
        i, k = a + 1, b + 1
    yield i, j, k, m


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence with ascending second numbers. The first numbers are already
    ascending.
    """
    ends: list[int] = []  # for each length, the smallest last number of a subsequence
    at: list[int] = []  # and its index
    before: list[int] = []  # for each pair, the index of the previous pair
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(ends, number)
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        at[length : length + 1] = [index]
    rising = []
    index = at[-1] if at else -1
    while index >= 0:
        rising.append(pairs[index])
        index = before[index]
    return rising[::-1]


def _is_tag(token: str) -> bool:
    return token[0] == "<" and token[-1] == ">"


def _mark(tokens: Sequence[str], what: str) -> list[str]:
    """Return the words of tokens in spans. Tags are removed from deletions and kept in
    insertions.
    """
    pieces: list[str] = []
    words: list[str] = []

    def flush() -> None:
        if "".join(words).strip():
            text = "".join(words)
            pieces.append(f'<span class="highlight_text_{what}">{text}</span>')
        elif what == "inserted":
            pieces.extend(words)
        words.clear()

    for token in tokens:
        if not _is_tag(token):
            words.append(token)
        elif what == "inserted":
            flush()
            pieces.append(token)
        elif words and not words[-1].isspace():
            words.append(" ")
    flush()
    return pieces
