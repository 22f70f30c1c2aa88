"""Untrusted rows of Zulip's export: each value is read with a type."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Protocol

from models.json import Json

Values = Mapping[str, Json]


class BrokenRow(ValueError):
    """A row of a table is invalid. `number` counts the rows from 1."""

    def __init__(self, table: str, number: int, problem: str) -> None:
        super().__init__(problem)
        self.table, self.number, self.problem = table, number, problem


class Source(Protocol):
    """An export: its tables, and texts and numbers outside the tables."""

    @property
    def facts(self) -> Values: ...

    def has(self, table: str) -> bool:
        """Return whether the export contains the table, even if the table is empty."""

    def rows(self, table: str) -> Iterator[tuple[int, Values]]:
        """Yield the rows with their numbers, ordered by id."""


class ZulipRow:
    """A row. All methods raise `BrokenRow` for a value of another type. A missing value is replaced
    by the default.
    """

    __slots__ = ("_values", "number", "table")

    def __init__(self, table: str, number: int, values: Values) -> None:
        self.table, self.number, self._values = table, number, values

    def refuse(self, problem: str) -> BrokenRow:
        return BrokenRow(self.table, self.number, problem)

    def has(self, name: str) -> bool:
        """Return whether the row has a value for the field."""
        return self._values.get(name) is not None

    def get(self, name: str) -> Json:
        """Return the unchecked value, or None if there is no value."""
        return self._values.get(name)

    def _value(self, name: str, default: Json) -> Json:
        value = self._values.get(name)
        return default if value is None else value

    def text(self, name: str, default: str | None = None) -> str:
        value = self._value(name, default)
        if type(value) is not str:
            raise self.refuse(f"{name} is no text")
        if "\0" in value:
            raise self.refuse(f"{name} has a character that no text may have")
        return value

    def text_or_none(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def integer(self, name: str, default: int | None = None) -> int:
        value = self._value(name, default)
        if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
            raise self.refuse(f"{name} is no integer")
        return value

    def integer_or_none(self, name: str) -> int | None:
        return self.integer(name) if self.has(name) else None

    def small(self, name: str, default: int | None = None) -> int:
        """Return a 32-bit integer."""
        value = self.integer(name, default)
        if not -(1 << 31) <= value < 1 << 31:
            raise self.refuse(f"{name} is no integer of 32 bits")
        return value

    def small_or_none(self, name: str) -> int | None:
        return self.small(name) if self.has(name) else None

    def flag(self, name: str, default: bool | None = None) -> bool:
        value = self._value(name, default)
        if type(value) is not bool:
            raise self.refuse(f"{name} is neither true nor false")
        return value

    def flag_or_none(self, name: str) -> bool | None:
        return self.flag(name) if self.has(name) else None

    def time(self, name: str) -> str:
        """Convert a number of seconds to the time format of our archives."""
        return self.time_of(name, self._values.get(name))

    def time_or_none(self, name: str) -> str | None:
        return self.time(name) if self.has(name) else None

    def time_of(self, name: str, value: Json) -> str:
        """Convert a value inside a field to a time."""
        if type(value) not in (int, float):
            raise self.refuse(f"{name} is no time")
        try:
            milliseconds = round(value * 1000)
            at = datetime.fromtimestamp(milliseconds // 1000, UTC)
        except (ValueError, OverflowError, OSError):
            raise self.refuse(f"{name} is no time") from None
        if not 1970 <= at.year <= 9998:
            raise self.refuse(f"{name} is no time")
        return f"{at:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def rows_of(source: Source, table: str) -> Iterator[ZulipRow]:
    """Yield the rows of a table, or none if the export lacks it."""
    for number, values in source.rows(table):
        yield ZulipRow(table, number, values)
