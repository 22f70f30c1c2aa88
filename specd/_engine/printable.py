"""Text of others on a terminal."""


def printable(text: str) -> str:
    """Return a text of somebody else for a terminal: on one line, without control characters,
    which would move the cursor, and without those that change the direction of a line.
    """
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)
