"""Cursors: an opaque text for the position where a page of a list ends.

A cursor is bound to its list, filters and order, so that a client cannot continue with other ones
by mistake.
"""

import uuid
from dataclasses import dataclass

from models.json import Json
from models.payment.errors import InvalidCursor
from specd.db import Cursors, InvalidPage

_CURSORS = Cursors(int, uuid.UUID)


@dataclass(frozen=True, slots=True)
class Position:
    """The position of the last invoice of a page: its time in Unix milliseconds (the list is
    ordered by that time, then by the id) and its id.
    """

    at: int
    id: str


def write_cursor(position: Position, listed: Json) -> str:
    """Return 43 characters of URL-safe base64. `listed` identifies the list and its filters."""
    return _CURSORS.write((position.at, uuid.UUID(position.id)), listed)


def read_cursor(cursor: str, listed: Json) -> Position:
    """Return the position of a cursor. Raise `InvalidCursor` if it belongs to another list."""
    try:
        (at_ms, id_), is_backward = _CURSORS.read(cursor, listed)
    except InvalidPage:
        raise InvalidCursor() from None
    if is_backward or at_ms < 0:
        raise InvalidCursor()
    return Position(at_ms, str(id_))
