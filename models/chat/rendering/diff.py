"""What an edit changed, as HTML: inserted and deleted words stand in spans of their own.

The new version's elements carry the result, so it is as well-formed as that was; of the old version
only words come in, never tags.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from models.chat.rendering.sanitising import sanitise

_TOKEN = re.compile(r"<[^>]*>|[^<\s]+|\s+|<")
MOST_TOKENS = 1500
"""What is compared word by word; longer changes are shown as one deletion and one insertion."""


def content_html_diff(before: str, after: str) -> str:
    """Both are rendered contents; the result is safe HTML too."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    pieces = new[:start]
    if max(len(old_middle), len(new_middle)) > MOST_TOKENS:
        pieces += _mark(old_middle, "deleted") + _mark(new_middle, "inserted")
    else:
        matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind == "equal":
                pieces += new_middle[k:m]
            else:
                pieces += _mark(old_middle[i:j], "deleted")
                pieces += _mark(new_middle[k:m], "inserted")
    pieces += new[len(new) - end :] if end else []
    return sanitise("".join(pieces))


def _is_tag(token: str) -> bool:
    return token[0] == "<" and token[-1] == ">"


def _mark(tokens: Sequence[str], what: str) -> list[str]:
    """The words of some tokens in spans; a deletion loses its tags, an insertion keeps them."""
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
