"""Where a page of a list ends, as an opaque text that is good for that list alone.

A cursor is bound to the list, its filters and its order, which keeps a client from reading on with
others by mistake.
"""

import uuid
from dataclasses import dataclass

from models.json import Json
from models.payment.errors import InvalidCursor
from specd.db import Cursors, InvalidPage

_CURSORS = Cursors(int, uuid.UUID)


@dataclass(frozen=True, slots=True)
class Position:
    """The last invoice of a page, by what the list is ordered by: a time in Unix milliseconds, and
    its id behind it.
    """

    at: int
    id: str


def write_cursor(position: Position, listed: Json) -> str:
    """Return 43 characters of URL-safe base64. `listed`: the list and its filters, plain values."""
    return _CURSORS.write((position.at, uuid.UUID(position.id)), listed)


def read_cursor(cursor: str, listed: Json) -> Position:
    """Return the position of a cursor. Raise `InvalidCursor` where it is not of this list."""
    try:
        (at_ms, id_), is_backward = _CURSORS.read(cursor, listed)
    except InvalidPage:
        raise InvalidCursor() from None
    if is_backward or at_ms < 0:
        raise InvalidCursor()
    return Position(at_ms, str(id_))
