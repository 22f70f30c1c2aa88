"""The words of a text for search, the same for both databases and for highlighting.

A word is a run of letters, marks and digits of any language, without case and accents. English
words are reduced to their stems. Chinese, Japanese, Korean, Thai and other languages are written
without spaces, or with endings on every word: their runs are divided into overlapping pairs of
characters, so that every part of a run can be found.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from snowballstemmer.english_stemmer import EnglishStemmer

LONGEST = 100
"""In characters. Further characters of a word are ignored."""
LONGEST_STEMMED = 64
MAX_INDEXED = 15_000
"""In words per message. Later words are not found."""
# Marks beyond U+FFFF are left out: few scripts use them, and they would make the set slow.
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
_ASCII_RUN = re.compile("[a-z0-9]+")
"""`RUN` for lower-case ASCII, which is faster."""
_SPACELESS_RUN = re.compile(rf"(?:[{_SPACELESS}][{_MARKS}]*)+")
_MARK = re.compile(f"[{_MARKS}]")
_CHARACTER = re.compile(rf"[^{_MARKS}][{_MARKS}]{{0,7}}|[{_MARKS}]{{1,7}}")
# Accents, and points and vowel signs that are optional in Hebrew and Arabic.
_OPTIONAL = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
_QUOTED = re.compile(r'"([^"]*)"|([^\s"]+)')


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    """Return the stem of a lower-case English word, like Snowball's stemmer and PostgreSQL's
    `english`. A word with characters other than ASCII letters is returned unchanged.

    Both databases store stemmed words, because SQLite's stemmer differs.
    """
    if not 3 <= len(word) <= LONGEST_STEMMED or not (word.isascii() and word.isalpha()):
        return word
    # A stemmer stores the current word, so threads cannot share it.
    return str(EnglishStemmer().stemWord(word))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query: consecutive words. If `is_open`, the last word is a prefix."""

    words: tuple[str, ...]
    is_open: bool = False


ParsedQuery = list[Part]
"""A parsed query: parts that must all occur."""


def normal(text: str) -> str:
    """Return the text without case, accents and compatibility variants."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _OPTIONAL.sub("", decomposed))


def index_words(text: str) -> list[str]:
    """Return the words to index, in order."""
    text = normal(text)
    if text.isascii():
        return [stem_of(run[:LONGEST]) for run in _ASCII_RUN.findall(text)][:MAX_INDEXED]
    words: list[str] = []
    for run in RUN.findall(text):
        for piece, is_spaceless in pieces_of(run):
            words += _words_of(piece) if is_spaceless else [stem_of(piece[:LONGEST])]
        if len(words) >= MAX_INDEXED:
            return words[:MAX_INDEXED]
    return words


def characters_of(piece: str) -> list[str]:
    """Return the characters of a spaceless piece, each with its marks."""
    return _CHARACTER.findall(piece) if _MARK.search(piece) else list(piece)


def _words_of(piece: str) -> list[str]:
    """Return the pairs of characters of a spaceless piece, and its last character."""
    characters = characters_of(piece)
    return [*map("".join, pairwise(characters)), characters[-1]]


def parse_query(query: str) -> ParsedQuery:
    """Return the parts of a query: words, and "phrases" of several words. All parts must occur.

    Words without a space between them are also a phrase.
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
    # The run may continue in the text: its last character may be the first of any pair.
    last = _words_of(pieces[-1][0])
    return Part(tuple(words), True) if len(last) == 1 else Part(tuple(words[:-1]))


def pieces_of(run: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a run, each with whether it is spaceless."""
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
