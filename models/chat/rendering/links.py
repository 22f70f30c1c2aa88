"""Links that nobody wrote as links: bare addresses, and what an organization's linkifiers match.

Every pattern runs on RE2, whose time is linear in the text whatever the pattern says.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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

# A linkifier matches between the start, a space or an opening sign, and what is no word character.
_BEFORE = r"(?P<linkifier_before>^|\s|['\"\(,:<])"
_AFTER = r"(?P<linkifier_after>$|[^\pL\pN])"
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 8 << 20


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


@lru_cache(maxsize=512)
def _compile(linkifier: Linkifier) -> tuple[Any, URITemplate] | None:
    """None for a pattern RE2 does not know: it was checked when it was stored."""
    pattern = _BEFORE + r"(?P<linkifier_actual>" + linkifier.pattern + ")" + _AFTER
    try:
        return re2.compile(pattern, _OPTIONS), URITemplate(linkifier.url_template)
    except re2.error:
        return None


def find_links(text: str, linkifiers: Sequence[Linkifier]) -> list[Link]:
    """Every link in a run of plain text, in order, none overlapping: addresses first, then
    linkifiers in their order.
    """
    found: list[Link] = []
    if "://" in text or "@" in text or "ww." in text or "WW." in text:
        found.extend(_addresses(text))
    for linkifier in linkifiers:
        compiled = _compile(linkifier)
        if compiled is not None:
            found.extend(_matches(text, compiled, found))
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


def _matches(text: str, compiled: tuple[Any, URITemplate], taken: Iterable[Link]) -> Iterator[Link]:
    pattern, template = compiled
    taken = list(taken)
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
            if not any(link.start < end and start < link.end for link in taken):
                values = {k: v for k, v in match.groupdict().items() if v is not None}
                yield Link(start, end, text[start:end], template.expand(values))
        if position > len(text):
            return


def topic_links(topic: str, linkifiers: Sequence[Linkifier]) -> list[dict[str, str]]:
    """The links in a topic, as message objects carry them."""
    return [
        {"text": link.text, "url": link.url}
        for link in find_links(topic, linkifiers)
        if is_safe(link.url)
    ]


def is_safe(url: str) -> bool:
    """May a browser be sent there?"""
    return _SAFE.match(url) is not None
