"""Column types for exact amounts of money on every database."""

from datetime import timedelta

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

MILLISECOND = timedelta(milliseconds=1)


class Atoms(TypeDecorator[int]):
    """A non-negative amount in atomic units, stored as its decimal digits. It is exact at any size.

    uint256 needs 78 digits. Totals of several payments may need more, so the column has no limit.
    The type is text, because SQLite has no exact type of this size and NUMERIC would be read as
    Decimal.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if value < 0:
            raise ValueError("an amount in atoms is never negative")
        return str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> int | None:
        return None if value is None else int(value)
