"""Links that nobody wrote as links: bare addresses, and what an organization's linkifiers match.

Every pattern runs on RE2, whose time is linear in the text whatever the pattern says.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from re import Pattern

import re2
from uritemplate import URITemplate

_URL = re2.compile(
    r"(?i)(?:https?://|www\.)[^\s<>\x00-\x1f\x7f\"`{}|\\^]+|"
    r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+"
)
_SAFE = re2.compile(r"(?i)(?:https?|mailto|tel|xmpp):|/(?:[^/]|\z)")
_TRAILING = ".,:;!?'*_~"
_CLOSING = {")": "(", "]": "["}
MOST_LINKS = 200
"""In one run of text; what comes after them stays text."""
MOST_LINKIFIERS = 20
"""That are at work in one run of text."""

# A linkifier matches between the start, a space or an opening sign, and what is no word character.
_BEFORE = r"(?P<linkifier_before>^|\s|['\"\(,:<])"
_AFTER = r"(?P<linkifier_after>$|[^\pL\pN])"
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 8 << 20
_SET_OPTIONS = re2.Options()
_SET_OPTIONS.log_errors = False
_SET_OPTIONS.max_mem = 32 << 20
_NOTHING = r"[^\x00-\x{10FFFF}]"


@dataclass(frozen=True, slots=True)
class Linkifier:
    """A pattern, and the RFC 6570 template that its groups fill."""

    pattern: str
    url_template: str


@dataclass(frozen=True, slots=True)
class Link:
    """A part of a text that is a link: `text[start:end]` leads to `url`."""

    start: int
    end: int
    text: str
    url: str


class Linkifiers(tuple[Linkifier, ...]):
    """An organization's linkifiers in the order they apply, compiled once: one pass over a text
    tells which of them are in it.
    """

    _set: re2.Set | None = None

    def found_in(self, text: str) -> list[tuple[Pattern[str], URITemplate]]:
        """Pattern and template of the first `MOST_LINKIFIERS` that match somewhere in the text."""
        if not self:
            return []
        if self._set is None:
            self._set = self._compile_set()
        indices = sorted(self._set.Match(text) or ())[:MOST_LINKIFIERS]
        compiled = (_compile(self[index]) for index in indices)
        return [pair for pair in compiled if pair is not None]

    def _compile_set(self) -> re2.Set:
        patterns = re2.Set.SearchSet(_SET_OPTIONS)
        for linkifier in self:
            # A pattern RE2 does not know (it was checked when it was stored) matches nothing.
            known = _compile(linkifier) is not None
            patterns.Add(_pattern_of(linkifier) if known else _NOTHING)
        patterns.Compile()
        return patterns


@lru_cache(maxsize=64)
def linkifiers_of(rows: tuple[tuple[str, str], ...]) -> Linkifiers:
    """The linkifiers of these patterns and templates."""
    return Linkifiers(Linkifier(pattern, template) for pattern, template in rows)


def _pattern_of(linkifier: Linkifier) -> str:
    return _BEFORE + r"(?P<linkifier_actual>" + linkifier.pattern + ")" + _AFTER


@lru_cache(maxsize=512)
def _compile(linkifier: Linkifier) -> tuple[Pattern[str], URITemplate] | None:
    """None for a pattern RE2 does not know."""
    try:
        compiled = re2.compile(_pattern_of(linkifier), _OPTIONS)
        return compiled, URITemplate(linkifier.url_template)
    except re2.error:
        return None


def find_links(text: str, linkifiers: Linkifiers) -> list[Link]:
    """The first `MOST_LINKS` links in a run of plain text, in order, none overlapping: addresses
    first, then linkifiers in their order.
    """
    found: list[Link] = []
    if "://" in text or "@" in text or "ww." in text or "WW." in text:
        found.extend(_addresses(text))
    for pattern, template in linkifiers.found_in(text):
        taken = sorted((link.start, link.end) for link in found)
        matches = _matches(text, pattern, template, taken)
        found.extend(islice(matches, max(MOST_LINKS - len(found), 0)))
    return sorted(found, key=lambda link: link.start)


def _addresses(text: str) -> Iterator[Link]:
    for count, match in enumerate(_URL.finditer(text)):
        if count >= MOST_LINKS:
            return
        start = match.start()
        shown = _trim(match.group())
        before = text[start - 1 : start]
        if (len(shown) <= len("https://") and "://" in shown) or before.isalnum():
            continue
        if shown[:4].lower() == "www.":
            url = f"http://{shown}"
        elif "://" in shown[:8]:
            url = shown
        else:
            url = f"mailto:{shown}"
        yield Link(start, start + len(shown), shown, url)


def _trim(url: str) -> str:
    """Without the punctuation that ends the sentence, or closes what opened before the link."""
    end = len(url)
    unopened = {
        closing: url.count(closing) - url.count(opening) for closing, opening in _CLOSING.items()
    }
    while end and (url[end - 1] in _TRAILING or unopened.get(url[end - 1], 0) > 0):
        end -= 1
        if url[end] in unopened:
            unopened[url[end]] -= 1
    return url[:end]


def _matches(
    text: str, pattern: Pattern[str], template: URITemplate, taken: Sequence[tuple[int, int]]
) -> Iterator[Link]:
    """The matches of a linkifier that overlap none of what is `taken`, which is in order."""
    position = 0
    for _ in range(MOST_LINKS):
        match = pattern.search(text, position)
        if match is None:
            return
        start, end = match.span(2)  # 1 is what stands before, 2 is the match itself
        if end <= start:
            position = max(match.end(), position + 1)
        else:
            position = end  # the sign after one match may be the one before the next
            before = bisect_left(taken, (end, 0)) - 1  # the last one that begins before the end
            if before < 0 or taken[before][1] <= start:
                values = {k: v for k, v in match.groupdict().items() if v is not None}
                yield Link(start, end, text[start:end], template.expand(values))
        if position > len(text):
            return


def topic_links(topic: str, linkifiers: Linkifiers) -> list[dict[str, str]]:
    """The links in a topic, as message objects carry them."""
    return [
        {"text": link.text, "url": link.url}
        for link in find_links(topic, linkifiers)
        if is_safe(link.url)
    ]


def is_safe(url: str) -> bool:
    """May a browser be sent there?"""
    return _SAFE.match(url) is not None
