"""The stems of English words, by the algorithm of M. F. Porter ("An algorithm for suffix
stripping", Program 14, 1980), as FTS5 of SQLite has it.

Both databases get words that are stemmed already, since neither stems as the other does.
"""

from functools import lru_cache
from string import ascii_lowercase

LONGEST = 64
_STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("logi", "log"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e")),
    *(("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al")),
    *(("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)
_KINDS = str.maketrans({letter: "v" if letter in "aeiou" else "c" for letter in ascii_lowercase})


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    """The stem of a word in small letters; one that is not of ASCII letters is its own."""
    if not 3 <= len(word) <= LONGEST or not (word.isascii() and word.isalpha()):
        return word
    word = _step_1b(_step_1a(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(_replace(word, _STEP_2), _STEP_3)
    return _step_5(_step_4(word))


def _shape(word: str) -> str:
    """A `v` for each vowel and a `c` for each consonant; a `y` after a consonant is a vowel."""
    if "y" not in word:
        return word.translate(_KINDS)
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _step_1a(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and "v" in _shape(word[: -len(ending)]):
            return _mend(word[: -len(ending)])
    return word


def _mend(word: str) -> str:
    """What is left without its ending, made a word again."""
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    is_double = len(word) > 1 and word[-1] == word[-2] and _shape(word).endswith("c")
    if is_double:
        return word if word[-1] in "lsz" else word[:-1]
    return f"{word}e" if _measure(word) == 1 and _ends_short(word) else word


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant; and the last is none of w, x and y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _replace(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """The first ending that the word has, for another, where enough of the word is left."""
    for ending, other in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _step_4(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t"))):
                return rest
            return word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
