"""Pages of lists, by limit and offset or by cursors.

A cursor is a place in the order of a list, with a checksum over the place and the description of
the list. The checksum prevents clients from continuing with other filters by mistake. It is not a
signature: a forged cursor still reads only rows of the list, and each of its values is checked
before it is sent to the database.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Generic, TypeVar, cast, overload
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Enum,
    Integer,
    Numeric,
    Row,
    Select,
    SmallInteger,
    String,
    UnaryExpression,
    UniqueConstraint,
    and_,
    bindparam,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import QueryableAttribute
from sqlalchemy.sql import operators, visitors
from typing_extensions import TypeVarTuple

from specd._db.errors import Refusal
from specd._db.reader import Db
from specd._db.types import EPOCH, UtcMs

T = TypeVar("T")
U = TypeVar("U")
Columns = TypeVarTuple("Columns")
OrderBy = ColumnElement[Any] | QueryableAttribute[Any]
MAX_CURSOR = 4096
MAX_TEXT = 500
MAX_OFFSET = 2**63 - 1
MAX_LIMIT = 2**31 - 1
MAX_DIGITS = 1000
_SUM_BYTES = 8
_BACKWARD = b"\x01"
_NOTHING: Mapping[str, object] = {}


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
    requested. A cursor is None if there is no next or previous page, and for pages by offset.
    """

    rows: list[T]
    has_more: bool
    next_cursor: str | None = None
    previous_cursor: str | None = None
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
    reads all rows before the offset, so use `Keyset` for long lists.
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
        base64. Raise `ValueError` for a place that is too long.
        """
        packed = b"".join(
            codec.pack(value) for codec, value in zip(self._codecs, place, strict=True)
        )
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
        except (ValueError, OverflowError, ArithmeticError, struct.error):
            raise InvalidPage(problem=_CURSOR_PROBLEM) from None
        return tuple(values), rest == _BACKWARD


class Keyset(Generic[T]):
    """A list that is read by cursors. A page begins after the last row of the previous page, so all
    pages cost the same, and rows that are added or deleted meanwhile do not shift other rows.

    `order_by` are columns, or their `desc()`, that are never NULL. They must include a unique key
    of the listed rows, such as the primary key. An index on the columns of the conditions followed
    by these columns finds a page.

    Define it as a constant of a module, with a `bindparam` for each value of a request, so that its
    statements are built once. It is slow to create a `Keyset` in each request.
    """

    @overload
    def __init__(self: Keyset[T], query: Select[T], *order_by: OrderBy) -> None: ...
    @overload
    def __init__(
        self: Keyset[Row[T, U, *Columns]], query: Select[T, U, *Columns], *order_by: OrderBy
    ) -> None: ...
    def __init__(self, query: Select[*tuple[Any, ...]], *order_by: OrderBy) -> None:
        """Raise `ValueError` for an order that is not unique, or has an unsupported column."""
        self._query = query
        self._order = [_parse(each) for each in order_by]
        columns = [column for column, _ in self._order]
        _require_unique(columns)
        self._cursors = Cursors(*map(_type_of, columns))
        self._listed = [
            [f"{column.table}.{column.name}", is_descending]
            for column, is_descending in self._order
        ] + [*_describe(query)]
        self._statements: dict[bool | None, Select[Any]] = {}

    def page(
        self,
        db: Db,
        values: Mapping[str, object] = _NOTHING,
        *,
        limit: int,
        cursor: str | None = None,
    ) -> Page[T]:
        """Return at most `limit` rows after, or before, the place of a cursor, or the first rows
        without a cursor. `values` are the values of the query's `bindparam`s. A cursor is valid for
        the same query with the same values. Raise `InvalidPage`.
        """
        limit = _check_limit(limit)
        listed = [self._listed, dict(values)]
        given: dict[str, object] = {**values, "page_limit": limit + 1}
        is_backward: bool | None = None
        if cursor is not None:
            place, is_backward = self._cursors.read(cursor, listed)
            if not all(map(_fits, self._order, place)):
                raise InvalidPage(problem=_CURSOR_PROBLEM)
            given |= {f"page_{at}": value for at, value in enumerate(place)}
        found = db.execute(self._statement(is_backward), given).freeze()
        width = len(found().keys()) - len(self._order)
        selected = found().columns(*range(width))
        rows = [*(selected.scalars() if width == 1 else selected)][:limit]
        if not rows:
            return Page([], has_more=False)
        places = found().columns(*range(width, width + len(self._order))).all()
        is_cut = len(places) > limit
        places = places[:limit]
        if is_backward:
            rows.reverse()
            places = places[::-1]
        has_next = is_backward or is_cut
        has_previous = is_cut if is_backward else cursor is not None
        write = self._cursors.write
        return Page(
            rows,
            has_next,
            write(places[-1], listed) if has_next else None,
            write(places[0], listed, is_backward=True) if has_previous else None,
        )

    def _statement(self, is_backward: bool | None) -> Select[Any]:
        statement = self._statements.get(is_backward)
        if statement is None:
            order = [
                column.desc() if is_descending != bool(is_backward) else column.asc()
                for column, is_descending in self._order
            ]
            keys = [column.label(f"page_{at}") for at, (column, _) in enumerate(self._order)]
            statement = self._query.add_columns(*keys).order_by(None).order_by(*order)
            statement = statement.limit(bindparam("page_limit", type_=BigInteger()))
            if is_backward is not None:
                statement = statement.where(_beyond(self._order, is_backward=is_backward))
            self._statements[is_backward] = statement
        return statement


def _check_limit(limit: int) -> int:
    if limit < 1:
        raise InvalidPage(problem="The limit must be at least 1.")
    return min(limit, MAX_LIMIT)


def _fits(order: tuple[Column[Any], bool], value: object) -> bool:
    """Return whether a column's type has the value. PostgreSQL refuses one that is out of range."""
    kind = order[0].type
    if isinstance(kind, Integer) and isinstance(value, int):
        bits = 64 if isinstance(kind, BigInteger) else 16 if isinstance(kind, SmallInteger) else 32
        return bool(-(2 ** (bits - 1)) <= value < 2 ** (bits - 1))
    if isinstance(value, Decimal) and isinstance(kind, Numeric) and kind.precision is not None:
        return bool(abs(value) < 10 ** (kind.precision - (kind.scale or 0)))
    return True


def _parse(order: OrderBy) -> tuple[Column[Any], bool]:
    """Return the column of an expression for `order_by`, and whether it is descending."""
    element = getattr(order, "__clause_element__", lambda: order)()
    is_descending = False
    if isinstance(element, UnaryExpression):
        is_descending = element.modifier is operators.desc_op
        if not is_descending and element.modifier is not operators.asc_op:
            raise ValueError(f"{order}: a list is ordered by columns and their desc()")
        element = element.element
    if not isinstance(element, Column):
        raise ValueError(f"{order}: a list is ordered by columns and their desc()")
    if element.nullable:
        raise ValueError(f"{element}: NULL has no place in an order")
    return element, is_descending


def _require_unique(columns: Sequence[Column[Any]]) -> None:
    names = {(column.table, column.name) for column in columns}
    for table in {column.table for column in columns}:
        keys: list[Iterable[Column[Any]]] = [table.primary_key]
        keys += [[column] for column in table.columns if column.unique]
        keys += [
            each.columns
            for each in getattr(table, "constraints", ())
            if isinstance(each, UniqueConstraint)
        ]
        keys += [each.columns for each in getattr(table, "indexes", ()) if each.unique]
        for key in map(list, keys):
            if key and {(table, column.name) for column in key} <= names:
                return
    raise ValueError("the order has no unique key: add the primary key as the last column")


def _type_of(column: Column[Any]) -> type:
    match column.type:
        case UtcMs():
            return UtcMs
        case Enum():
            kind: type = object
        case String(length=length) if length is None or length > MAX_TEXT:
            raise ValueError(f"{column}: a cursor has texts of at most {MAX_TEXT} characters")
        case Numeric(asdecimal=True, scale=None):
            raise ValueError(f"{column}: without a scale, SQLite rounds the numbers of a cursor")
        case other:
            kind = other.python_type
    if kind not in _CODECS:
        raise ValueError(f"{column}: no cursor has a value of the type {column.type!r}")
    return kind


def _describe(query: Select[Any]) -> Iterator[object]:
    """Yield the columns, operators and constants in the conditions of a query."""
    conditions = query.whereclause
    for element in () if conditions is None else visitors.iterate(conditions):
        if isinstance(element, Column):
            yield f"{element.table}.{element.name}"
        elif isinstance(element, BindParameter):
            value = element.effective_value
            yield (
                sorted(map(str, value))
                if isinstance(value, list | tuple | set | frozenset)
                else value
            )
        else:
            yield getattr(getattr(element, "operator", None), "__name__", "")


def _beyond(order: Sequence[tuple[Column[Any], bool]], *, is_backward: bool) -> ColumnElement[bool]:
    """Return the condition that a row is after the place of a cursor, or before it."""
    columns = [column for column, _ in order]
    binds = [
        bindparam(f"page_{at}", type_=column.type, required=True)
        for at, column in enumerate(columns)
    ]
    is_less = [is_descending != is_backward for _, is_descending in order]
    strict: list[Callable[[Any, Any], Any]] = [
        operator.lt if each else operator.gt for each in is_less
    ]
    if len(columns) == 1:
        return cast(ColumnElement[bool], strict[0](columns[0], binds[0]))
    first = operator.le if is_less[0] else operator.ge
    # This follows from the other conditions. SQLite uses an index for it, even one without the row
    # number.
    at_first = first(columns[0], binds[0])
    if len(set(is_less)) == 1:
        return and_(at_first, strict[0](tuple_(*columns), tuple_(*binds)))
    equal = [column == bind for column, bind in zip(columns, binds, strict=True)]
    return and_(
        at_first,
        or_(
            *(
                and_(*equal[:at], compare(columns[at], binds[at]))
                for at, compare in enumerate(strict)
            )
        ),
    )


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
