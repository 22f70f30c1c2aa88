"""Single-line texts: names and other short texts that are quoted in other texts."""

import re

from models.chat.common.errors import NotOneLine

FORBIDDEN = re.compile(
    "["
    r"\x00-\x1f\x7f-\x9f"  # control characters
    r"\u2028\u2029"  # the separators of lines and paragraphs
    r"\ud800-\udfff"  # surrogates
    r"\ufdd0-\ufdef"  # the 66 noncharacters
    + "".join(
        f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)
"""The characters that no single-line text may contain."""


def require_one_line(name: str, text: str) -> str:
    """Return the text. Raise `NotOneLine` if it contains line breaks or control characters."""
    if FORBIDDEN.search(text) is not None:
        raise NotOneLine(name=name)
    return text
