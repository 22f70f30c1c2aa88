"""The last door before a browser: nothing that is not in these lists ever leaves the renderer.

The renderer makes no script to begin with (raw HTML is text to it); this holds if it is wrong.
"""

import html
import re

import nh3

_INLINE = ("class", "title", "aria-label", "aria-hidden", "role")

# What names another host without saying how to ask it: a browser may not even be able to parse it.
_AUTHORITY = re.compile(r"[\x00-\x20]*[/\\][\t\n\r]*[/\\]")

TAGS = {
    *("a", "abbr", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "hr", "img", "li", "ol", "p", "pre", "span", "strong", "table", "tbody"),
    *("td", "th", "thead", "time", "tr", "ul"),
}
ATTRIBUTES = {
    "a": {"href", "class", "title", "data-stream-id"},
    "div": {*_INLINE, "data-code-language"},
    "img": {
        *("alt", "class", "src", "title", "data-animated"),
        *("data-original-content-type", "data-original-dimensions"),
    },
    "ol": {"start"},
    "span": {*_INLINE, "data-user-id", "data-user-group-id"},
    "td": {"align"},
    "th": {"align"},
    "time": {"datetime"},
}
SCHEMES = {"http", "https", "mailto", "tel", "xmpp"}

CLEANER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags={"script", "style"},
    attributes=ATTRIBUTES,
    # Without a scheme: links to channels, uploads and custom emoji are relative.
    url_relative=lambda url: None if _AUTHORITY.match(url) else url,
    url_schemes=SCHEMES,
    link_rel=None,
    strip_comments=True,
)

_TAG = re.compile(r"<[^>]*>")
_BREAK = re.compile(r"</(?:p|div|li|h[1-6]|pre|tr|td|th|blockquote)>|<br>|<hr>")


def sanitise(markup: str) -> str:
    """The markup with every element, attribute and address that is not allowed taken out."""
    return CLEANER.clean(markup)


def plain_text(markup: str) -> str:
    """The words of sanitised markup: what full-text search indexes."""
    return html.unescape(_TAG.sub("", _BREAK.sub(" ", markup))).strip()
