"""Names that look alike: skeletons as in Unicode Technical Standard 39, section 4.

Each line of `confusables.txt` has a prototype and, after a space, the characters that look like it.
It is Unicode's table from the library confusable-homoglyphs 3.3.1, without pairs that NFKD already
makes equal.
"""

import unicodedata
from functools import cache
from pathlib import Path

_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols that are blank but have a width."""
_IGNORABLE = ((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x17B4, 0x17B5), (0x180B, 0x180F),
              (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F),
              (0xFEFF, 0xFEFF), (0xE0000, 0xE0FFF))  # fmt: skip


@cache
def _table() -> dict[int, str]:
    table: dict[int, str] = {}
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        prototype, _, alike = line.rpartition(" ")
        table |= dict.fromkeys(map(ord, alike), prototype)
    table |= dict.fromkeys(map(ord, _BLANK), " ")
    for first, last in _IGNORABLE:
        table |= dict.fromkeys(range(first, last + 1), "")
    return table


def skeleton(text: str) -> str:
    """Return the skeleton of a text. Texts with the same skeleton look the same."""
    decomposed = text if text.isascii() else unicodedata.normalize("NFKD", text)
    mapped = " ".join(decomposed.translate(_table()).split())
    return mapped if mapped.isascii() else unicodedata.normalize("NFD", mapped)


def looks(text: str) -> tuple[str, str]:
    """Return the skeletons of a text with and without its case. Capitals and lower-case letters
    resemble different letters: `Iago` looks like `lago`, `IAGO` like `lAGO`.
    """
    return skeleton(text), skeleton(text.casefold()).casefold()


def look_alike(first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Return whether two results of `looks` look alike."""
    return first[0] == second[0] or first[1] == second[1]


def is_invisible(text: str) -> bool:
    """Return whether a text contains no visible letter: only spaces, fillers and marks."""
    return all(unicodedata.category(sign)[0] in "CMZ" for sign in skeleton(text))
