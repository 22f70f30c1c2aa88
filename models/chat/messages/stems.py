"""The stems of English words, as Snowball's stemmer and PostgreSQL's `english` have them.

Both databases get words that are stemmed already, since SQLite stems differently.
"""

from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

LONGEST = 64


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    """Return the stem of a word in small letters; one that is not of ASCII letters is its own."""
    if not 3 <= len(word) <= LONGEST or not (word.isascii() and word.isalpha()):
        return word
    # A stemmer keeps the word that it works on, so threads cannot share one.
    return str(EnglishStemmer().stemWord(word))
