"""Texts of one line: names and other short texts that are quoted in the middle of others."""

import unicodedata

from models.chat.ground.errors import NotOneLine


def require_one_line(name: str, text: str) -> str:
    """The text. Raises `NotOneLine` where it has line breaks or control characters."""
    if any(map(is_forbidden, text)):
        raise NotOneLine(name=name)
    return text


def is_forbidden(sign: str) -> bool:
    """Control characters, line and paragraph separators, surrogates, and the 66 code points that
    are no characters at all: none belongs into a text of one line.
    """
    code = ord(sign)
    return (
        unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE
    )
