"""Names in the forms in which they are stored and compared."""

from unicodedata import normalize


def composed(name: str) -> str:
    """Return a name with composed letters (the Unicode Standard, section 3.11, NFC)."""
    return name if name.isascii() else normalize("NFC", name)


def key_of(name: str) -> str:
    """Return the key of a name. It is the same in any case, and for composed and decomposed letters
    (the Unicode Standard, section 3.13, D145, without compatibility).
    """
    return composed(composed(name).casefold())
