"""The words of a text, as search compares them: the same for both databases and for the marks.

A word is a run of letters, marks and digits of any language, without regard to case and accents;
English words are compared by their stems. Chinese, Japanese, Korean, Thai and others are written
without spaces, or with endings on every word: their runs are cut into pairs of characters that
overlap, so that any part of a run is found.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from models.chat.messages.stems import stem_of

LONGEST = 100
"""Characters of a word that count."""
MOST_INDEXED = 15_000
"""Words of one message; what comes after them is not found."""
# Without those beyond U+FFFF: few scripts have them, and a set with them is slow.
_MARKS = "".join(
    chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"
)
_SPACELESS = (
    r"\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U000323af"  # Chinese
    r"\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana and Katakana
    r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"  # Hangul
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1780-\u17dd"  # Thai, Lao, Khmer
    r"\u1000-\u103f\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa7f"  # Burmese
)
RUN = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_SPACELESS_RUN = re.compile(rf"(?:[{_SPACELESS}][{_MARKS}]*)+")
_MARK = re.compile(f"[{_MARKS}]")
_CHARACTER = re.compile(rf"[^{_MARKS}][{_MARKS}]{{0,7}}|[{_MARKS}]{{1,7}}")
# Accents; points and vowel signs that Hebrew and Arabic may leave out.
_OPTIONAL = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
_QUOTED = re.compile(r'"([^"]*)"|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query: words that follow each other. `is_open`: the last one may go on."""

    words: tuple[str, ...]
    is_open: bool = False


Sought = list[Part]
"""What one query looks for: parts that must all occur."""


def normal(text: str) -> str:
    """The text without regard to case, accents and compatible forms."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _OPTIONAL.sub("", decomposed))


def index_words(text: str) -> list[str]:
    """The words to index, in order."""
    found: list[str] = []
    for run in RUN.findall(normal(text)):
        for piece, is_spaceless in pieces_of(run):
            found += _words_of(piece) if is_spaceless else [stem_of(piece[:LONGEST])]
        if len(found) >= MOST_INDEXED:
            return found[:MOST_INDEXED]
    return found


def characters_of(piece: str) -> list[str]:
    """The characters of a piece without spaces, each with its marks."""
    return _CHARACTER.findall(piece) if _MARK.search(piece) else list(piece)


def _words_of(piece: str) -> list[str]:
    """The pairs of a piece without spaces, and its last character alone."""
    characters = characters_of(piece)
    return [*map("".join, pairwise(characters)), characters[-1]]


def parse_query(query: str) -> Sought:
    """The parts of a query, which must all occur: words, and "phrases" of several. What stands
    together without a space is a phrase too.
    """
    parts = (_part_of(phrase or word) for phrase, word in _QUOTED.findall(query))
    return [part for part in parts if part is not None]


def _part_of(text: str) -> Part | None:
    pieces = [piece for run in RUN.findall(normal(text)) for piece in pieces_of(run)]
    if not pieces:
        return None
    words: list[str] = []
    for piece, is_spaceless in pieces:
        words += _words_of(piece) if is_spaceless else [stem_of(piece[:LONGEST])]
    if not pieces[-1][1]:
        return Part(tuple(words))
    # The run may go on: of its last character only that it begins a pair is known.
    last = _words_of(pieces[-1][0])
    return Part(tuple(words), True) if len(last) == 1 else Part(tuple(words[:-1]))


def pieces_of(run: str) -> Iterator[tuple[str, bool]]:
    """A run in pieces, each with whether it is written without spaces."""
    if run.isascii():
        yield run, False
        return
    end = 0
    for found in _SPACELESS_RUN.finditer(run):
        if found.start() > end:
            yield run[end : found.start()], False
        yield found[0], True
        end = found.end()
    if end < len(run):
        yield run[end:], False
