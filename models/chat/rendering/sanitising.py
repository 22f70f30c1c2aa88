"""Sanitize HTML: the elements, attributes and schemes that the renderer may return.

The renderer does not create scripts, because raw HTML is text. This is the second defense.
"""

import html
import re

import nh3

_INLINE = ("class", "title", "aria-label", "aria-hidden", "role")

# An address of another host without a scheme, which some browsers may not be able to parse.
_AUTHORITY = re.compile(r"[\x00-\x20]*[/\\][\t\n\r]*[/\\]")

TAGS = {
    *("a", "abbr", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "hr", "img", "li", "ol", "p", "pre", "span", "strong", "table", "tbody"),
    *("td", "th", "thead", "time", "tr", "ul"),
    # MathML, as the renderer of formulas creates it.
    *("annotation", "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom"),
    *("mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd"),
    *("mtext", "mtr", "munder", "munderover", "semantics"),
}
ATTRIBUTES = {
    "a": {"href", "class", "title", "data-stream-id"},
    "div": {*_INLINE, "data-code-language"},
    "annotation": {"encoding"},
    "math": {"display", "xmlns"},
    "menclose": {"notation"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {"fence", "form", "largeop", "lspace", "maxsize", "minsize", "movablelimits"}
    | {"rspace", "separator", "stretchy", "symmetric", "accent"},
    "mover": {"accent"},
    "mpadded": {"depth", "height", "width"},
    "mspace": {"depth", "height", "linebreak", "width"},
    "mstyle": {"displaystyle", "mathcolor", "scriptlevel"},
    "mtable": {"columnalign", "columnlines", "displaystyle", "rowlines", "rowspacing"},
    "mtd": {"columnalign", "columnspan"},
    "munder": {"accentunder"},
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
SCHEMES = {"http", "https", "mailto", "sms", "tel", "xmpp"}

CLEANER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags={"script", "style"},
    attributes=ATTRIBUTES,
    # Addresses without a scheme: links to channels, uploads and custom emoji are relative.
    url_relative=lambda url: None if _AUTHORITY.match(url) else url,
    url_schemes=SCHEMES,
    link_rel=None,
    strip_comments=True,
)

_TAG = re.compile(r"<[^>]*>")
_BREAK = re.compile(r"</(?:p|div|li|h[1-6]|pre|tr|td|th|blockquote)>|<br>|<hr>")


def sanitise(markup: str) -> str:
    """Return the markup without elements, attributes and addresses that are not allowed."""
    return CLEANER.clean(markup)


def plain_text(markup: str) -> str:
    """Return the words of sanitized markup, for full-text search."""
    return html.unescape(_TAG.sub("", _BREAK.sub(" ", markup))).strip()
