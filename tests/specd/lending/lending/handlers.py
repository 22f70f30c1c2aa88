"""Books."""

from typing import Any

from specd import Context, Refusal

COPIES = {"emma": 2}


class BookNotFound(Refusal):
    """There is no such book."""

    status, code, sentence = 404, "book_not_found", "There is no book {title}."


def get_book(ctx: Context, *, title: str) -> dict[str, Any]:
    if title not in COPIES:
        raise BookNotFound(title=title)
    return {"title": title, "copies": COPIES[title]}
