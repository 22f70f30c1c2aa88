"""Column types that keep money exact and times aware on every database."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

RowNumber = BigInteger().with_variant(Integer, "sqlite")
"""A growing surrogate key. SQLite numbers rows only in a column spelled INTEGER."""


def to_ms(at: datetime) -> int:
    """An aware datetime as whole Unix milliseconds (integer arithmetic: no float rounding)."""
    return (at - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    """Unix milliseconds as an aware UTC datetime."""
    return EPOCH + timedelta(milliseconds=ms)


class UtcMs(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as BIGINT Unix milliseconds on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_ms(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_ms(value)


class Atoms(TypeDecorator[int]):
    """A non-negative amount in atomic units, exact at any size, stored as its decimal digits.

    uint256 needs 78 digits; totals of several payments may need more, so the column has no limit.
    Text, because SQLite has no exact type of that size and NUMERIC would come back as Decimal.
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
