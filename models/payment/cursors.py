"""Where a page of a list ends, as an opaque text that is good for that list alone.

A cursor carries a position and a checksum over the position, the list, its filters and its order.
The checksum keeps a client from reading on with others by mistake. It is no signature, because a
forged cursor still reads nothing but a list of the project itself.
"""

import hashlib
import json
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from models.json import Json
from models.payment.errors import InvalidCursor

_SUM_BYTES = 8
_BYTES = 8 + 16 + _SUM_BYTES
_LATEST_MS = 2**47
"""The year 6429."""


@dataclass(frozen=True, slots=True)
class Position:
    """The last invoice of a page, by what the list is ordered by: a time in Unix milliseconds, and
    its id behind it.
    """

    at: int
    id: str


def write_cursor(position: Position, listed: Json) -> str:
    """Return 43 characters of URL-safe base64. `listed`: the list and its filters, plain values."""
    place = position.at.to_bytes(8, "big") + uuid.UUID(position.id).bytes
    return urlsafe_b64encode(place + _sum(place, listed)).rstrip(b"=").decode()


def read_cursor(cursor: str, listed: Json) -> Position:
    """Return the position of a cursor. Raise `InvalidCursor` where it is not of this list."""
    try:
        data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise InvalidCursor() from None
    place = data[:-_SUM_BYTES]
    at_ms = int.from_bytes(place[:8], "big")
    is_whole = len(data) == _BYTES and at_ms < _LATEST_MS
    if not is_whole or data[-_SUM_BYTES:] != _sum(place, listed):
        raise InvalidCursor()
    return Position(at_ms, str(uuid.UUID(bytes=place[8:])))


def _sum(place: bytes, listed: Json) -> bytes:
    text = json.dumps(listed, sort_keys=True).encode()
    return hashlib.sha256(place + text).digest()[:_SUM_BYTES]
