"""Pages of lists, by limit and offset or by cursors.

A cursor is a place in the order of a list, with a checksum over the place and the description of
the list. The checksum prevents clients from continuing with other filters by mistake. It is not a
signature: a forged cursor still reads only rows of the list, and each of its values has the type
that the list requires.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Generic, TypeVar, cast, overload
from uuid import UUID

from sqlalchemy import Row, Select, func, select
from typing_extensions import TypeVarTuple

from specd._db.errors import Refusal
from specd._db.reader import Db
from specd._db.types import EPOCH, UtcMs

T = TypeVar("T")
U = TypeVar("U")
Columns = TypeVarTuple("Columns")
MAX_CURSOR = 4096
MAX_OFFSET = 2**63 - 1
MAX_LIMIT = 2**31 - 1
MAX_DIGITS = 1000
_SUM_BYTES = 8
_BACKWARD = b"\x01"
_UNFIT = (ValueError, OverflowError, ArithmeticError, struct.error)
"""The errors of codecs for values that no cursor has."""


class InvalidPage(Refusal):
    """The limit, the offset or the cursor of a list is not valid. The cursor may have been changed,
    or may belong to another list or to other filters.
    """

    status = 400
    code = "invalid_page"
    sentence = "{problem}"
    advice = "Send the cursor of the last page with the filters and the order of that page."


_CURSOR_PROBLEM = (
    "The cursor does not belong to this list with these filters in this order; send it unchanged, "
    "or start without one."
)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list. If the query selects one column or entity, the rows are its values.

    `has_more` says whether more rows follow. `total` is the number of rows of the list, if it was
    requested.
    """

    rows: list[T]
    has_more: bool
    total: int | None = None


@overload
def page(
    db: Db, query: Select[T], *, limit: int, offset: int = 0, with_total: bool = False
) -> Page[T]: ...
@overload
def page(
    db: Db, query: Select[T, U, *Columns], *, limit: int, offset: int = 0, with_total: bool = False
) -> Page[Row[T, U, *Columns]]: ...
def page(
    db: Db,
    query: Select[*tuple[Any, ...]],
    *,
    limit: int,
    offset: int = 0,
    with_total: bool = False,
) -> Page[Any]:
    """Return at most `limit` rows of a query, starting at `offset`, and the `total` number of rows
    if `with_total`. Raise `InvalidPage` for a limit below 1 or a negative offset.

    The order of the query must be unambiguous, so its last column should be unique. The database
    reads all rows before the offset, so use `Cursors` for long lists.
    """
    limit = _check_limit(limit)
    if offset < 0:
        raise InvalidPage(problem="The offset must not be negative.")
    result = db.execute(query.limit(limit + 1).offset(min(offset, MAX_OFFSET)))
    is_single = len(result.keys()) == 1
    rows = [*(result.scalars() if is_single else result)]
    total = None
    if with_total:
        counted = select(func.count()).select_from(query.order_by(None).subquery())
        total = db.execute(counted).scalar_one()
    return Page(rows[:limit], len(rows) > limit, total=total)


class Cursors:
    """Writes places in the order of a list as opaque text, and reads them.

    A place has one value of each of the `types`: `int` of 64 bits, `str`, `bool`, `float`,
    `Decimal`, `UUID`, `date`, `datetime`, or `UtcMs` for the times of such a column. `listed`
    describes the list for which the cursor is valid, as JSON values: its name, its filters and its
    order.
    """

    def __init__(self, *types: type) -> None:
        self._codecs = [_CODECS[each] for each in types]

    def write(self, place: Sequence[object], listed: object, *, is_backward: bool = False) -> str:
        """Return a cursor for the rows after a place, or before it with `is_backward`, in URL-safe
        base64. Raise `ValueError` for a place that is too long, or that `read` would not accept,
        such as one with NULL or NaN.
        """
        if None in place:
            raise ValueError("NULL has no place in an order")
        try:
            parts = [codec.pack(value) for codec, value in zip(self._codecs, place, strict=True)]
            for codec, part in zip(self._codecs, parts, strict=True):
                codec.unpack(part)
        except _UNFIT as error:
            raise ValueError(f"no cursor has the values of this place: {error}") from error
        packed = b"".join(parts)
        packed += _BACKWARD if is_backward else b""
        cursor = urlsafe_b64encode(packed + _sum(packed, listed)).rstrip(b"=").decode()
        if len(cursor) > MAX_CURSOR:
            raise ValueError(f"a cursor is longer than {MAX_CURSOR} characters")
        return cursor

    def read(self, cursor: str, listed: object) -> tuple[tuple[Any, ...], bool]:
        """Return the place of a cursor, and whether it is for the rows before the place. Raise
        `InvalidPage` unless `write` wrote the cursor for the same `listed`.
        """
        try:
            if len(cursor) > MAX_CURSOR:
                raise ValueError("too long")
            data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            if urlsafe_b64encode(data).rstrip(b"=") != cursor.encode():
                raise ValueError("not base64")
            packed = data[:-_SUM_BYTES]
            if data[-_SUM_BYTES:] != _sum(packed, listed):
                raise ValueError("checksum")
            values, rest = [], packed
            for codec in self._codecs:
                value, rest = codec.unpack(rest)
                values.append(value)
            if rest not in (b"", _BACKWARD):
                raise ValueError("length")
        # All errors that the decoders of text and values raise for untrusted text.
        except _UNFIT:
            raise InvalidPage(problem=_CURSOR_PROBLEM) from None
        return tuple(values), rest == _BACKWARD


def _check_limit(limit: int) -> int:
    if limit < 1:
        raise InvalidPage(problem="The limit must be at least 1.")
    return min(limit, MAX_LIMIT)


def _sum(packed: bytes, listed: object) -> bytes:
    text = json.dumps(listed, sort_keys=True, default=_plain).encode()
    return hashlib.sha256(packed + text).digest()[:_SUM_BYTES]


def _plain(value: object) -> object:
    """Return a value as JSON that is the same in each process."""
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


# --- values as bytes ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Codec:
    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], tuple[object, bytes]]


def _fixed(size: int, pack: Callable[[Any], bytes], unpack: Callable[[bytes], Any]) -> _Codec:
    """Return the codec of values with a fixed size in bytes."""

    def read(data: bytes) -> tuple[object, bytes]:
        if len(data) < size:
            raise ValueError("too short")
        return unpack(data[:size]), data[size:]

    return _Codec(pack, read)


def _text(pack: Callable[[Any], str], unpack: Callable[[str], Any]) -> _Codec:
    """Return the codec of values that are written as text."""

    def write(value: object) -> bytes:
        content = pack(value).encode()
        return struct.pack(">H", min(len(content), 2**16 - 1)) + content

    def read(data: bytes) -> tuple[object, bytes]:
        (size,) = struct.unpack_from(">H", data)
        if len(data) < 2 + size:
            raise ValueError("too short")
        return unpack(data[2 : 2 + size].decode()), data[2 + size :]

    return _Codec(write, read)


def _pack_int(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)


def _unpack_int(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def _pack_datetime(value: datetime) -> bytes:
    is_aware = value.tzinfo is not None
    since = value - EPOCH if is_aware else value.replace(tzinfo=UTC) - EPOCH
    return _pack_int(since // timedelta(microseconds=1)) + bytes((is_aware,))


def _unpack_datetime(data: bytes) -> datetime:
    at = EPOCH + timedelta(microseconds=_unpack_int(data[:8]))
    return at if _unpack_bool(data[8:]) else at.replace(tzinfo=None)


def _unpack_bool(data: bytes) -> bool:
    return bool((b"\x00", b"\x01").index(data))


def _unpack_float(data: bytes) -> float:
    (value,) = struct.unpack(">d", data)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return float(value)


def _unpack_decimal(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite() or len(text) > MAX_DIGITS or abs(value.adjusted()) > MAX_DIGITS:
        raise InvalidOperation
    return value


def _unpack_str(text: str) -> str:
    if "\0" in text:
        raise ValueError("NUL")  # PostgreSQL cannot store it
    return text


_CODECS: Mapping[type, _Codec] = {
    int: _fixed(8, _pack_int, _unpack_int),
    UtcMs: _fixed(
        8, lambda at: _pack_int(UtcMs.to_ms(at)), lambda data: UtcMs.from_ms(_unpack_int(data))
    ),
    datetime: _fixed(9, _pack_datetime, _unpack_datetime),
    date: _fixed(
        8, lambda day: _pack_int(day.toordinal()), lambda data: date.fromordinal(_unpack_int(data))
    ),
    UUID: _fixed(16, lambda value: cast(UUID, value).bytes, lambda data: UUID(bytes=data)),
    bool: _fixed(1, lambda value: bytes((bool(value),)), _unpack_bool),
    float: _fixed(8, lambda value: struct.pack(">d", value), _unpack_float),
    Decimal: _text(str, _unpack_decimal),
    str: _text(str, _unpack_str),
}
