"""Emoji in text without other marks: names, emoticons and Unicode characters."""

import re
from collections.abc import Iterator
from html import escape

from markdown_it.token import Token

from models.chat.rendering.emoji import EMOJI, LONGEST, NAME_OF_CODE
from models.chat.rendering.emphasis import text_token
from models.chat.rendering.names import Names
from models.chat.rendering.syntax import HTML

EMOTICONS = {
    **{":)": "smile", "(:": "smile", ":(": "frown", "<3": "heart", ":|": "expressionless"},
    **{":/": "confused", ";)": "wink", ":D": "grinning", ":o": "open_mouth", ":O": "open_mouth"},
    **{":p": "stuck_out_tongue", ":P": "stuck_out_tongue"},
}
"""Emoticon -> name of the emoji. Only spaces or punctuation may surround it."""

_NAME = rf":(?P<name>[a-z0-9_+.-]{{1,{LONGEST}}}):"
_EMOTICON = (
    r"(?<![^,.;?!()\[\] \"'\s])(?P<emoticon>"
    + "|".join(map(re.escape, EMOTICONS))
    + r")(?![^,.;?!()\[\] \"'\s])"
)
_SIGN = "[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
"""A superset of the characters that begin an emoji, except keycaps."""
_SEQUENCE = (
    r"(?P<sequence>[0-9#*]\ufe0f?\u20e3|[\U0001f1e6-\U0001f1ff]{2}"
    rf"|{_SIGN}(?:\ufe0f|[\U0001f3fb-\U0001f3ff]|\u200d.\ufe0f?)*)"
)
_MAY_BE_SEQUENCE = re.compile(_SIGN)
_PATTERNS = {
    (emoticons, sequences): re.compile(
        "|".join(
            (_NAME, *((_EMOTICON,) if emoticons else ()), *((_SEQUENCE,) if sequences else ()))
        )
    )
    for emoticons in (False, True)
    for sequences in (False, True)
}
"""Whether emoticons are emoji, and whether Unicode emoji may occur -> the pattern of emoji."""


def read_text(text: str, names: Names) -> Iterator[Token]:
    """Yield the tokens of a text without other marks: emoji, and the text between them."""
    has_sequences = not text.isascii() and _MAY_BE_SEQUENCE.search(text) is not None
    pattern = _PATTERNS[names.translates_emoticons, has_sequences]
    position = begin = 0
    while (match := pattern.search(text, position)) is not None:
        markup = _emoji(match, names)
        if markup is None:
            # The colon after an unknown name may start a known name.
            position = match.end() - (match.lastgroup == "name")
            continue
        if begin < match.start():
            yield text_token(text[begin : match.start()])
        token = Token(HTML, "", 0)
        token.content = markup
        yield token
        position = begin = match.end()
    if begin < len(text):
        yield text_token(text[begin:])


def _emoji(match: re.Match[str], names: Names) -> str | None:
    """Return the markup of an emoji, or None if its name or code is unknown."""
    match match.lastgroup:
        case "name":
            return emoji_markup(match["name"], names)
        case "emoticon":
            return emoji_markup(EMOTICONS[match["emoticon"]], names)
    points = (f"{ord(sign):04x}" for sign in match["sequence"] if sign != "\ufe0f")
    name = NAME_OF_CODE.get("-".join(points))
    return None if name is None else _unicode_emoji(name)


def emoji_markup(name: str, names: Names) -> str | None:
    """Return the markup of an emoji, or None if its name is unknown. Custom emoji have priority."""
    custom = names.emoji.get(name)
    if custom is not None:
        words = name.replace("_", " ")
        return f'<img alt=":{name}:" class="emoji" src="{escape(custom[1])}" title="{words}">'
    return _unicode_emoji(name) if name in EMOJI else None


def _unicode_emoji(name: str) -> str:
    words = name.replace("_", " ")
    return (
        f'<span aria-label="{words}" class="emoji emoji-{EMOJI[name]}" role="img"'
        f' title="{words}">:{name}:</span>'
    )
