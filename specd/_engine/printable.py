"""Untrusted text on a terminal."""


def printable(text: str) -> str:
    """Return an untrusted text for a terminal: on one line, without control characters, which could
    move the cursor, and without characters that change the direction of a line.
    """
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)
