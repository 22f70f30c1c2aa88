"""Texts of one line: names and other short texts that are quoted in the middle of others."""

from models.chat.errors.parameters import NotOneLine
from models.chat.topic_names import is_forbidden


def require_one_line(name: str, text: str) -> str:
    """The text. Raises `NotOneLine` where it has line breaks or control characters."""
    if any(map(is_forbidden, text)):
        raise NotOneLine(name=name)
    return text
