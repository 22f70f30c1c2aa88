"""Column types that are the same in every database."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Dialect, Integer
from sqlalchemy.types import TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

RowNumber = BigInteger().with_variant(Integer, "sqlite")
"""An increasing surrogate key. SQLite numbers rows only in a column declared as INTEGER."""


class UtcMs(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as BIGINT Unix milliseconds on every database."""

    impl = BigInteger
    cache_ok = True

    @staticmethod
    def to_ms(at: datetime) -> int:
        """Return the whole Unix milliseconds of an aware datetime, by integer arithmetic."""
        return (at - EPOCH) // MILLISECOND

    @staticmethod
    def from_ms(ms: int) -> datetime:
        """Return the aware UTC datetime of Unix milliseconds."""
        return EPOCH + timedelta(milliseconds=ms)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return the milliseconds that are stored."""
        return None if value is None else self.to_ms(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Return the time of stored milliseconds."""
        return None if value is None else self.from_ms(value)
