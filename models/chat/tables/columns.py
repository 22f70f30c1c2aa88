"""Columns that several tables use."""

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import MappedColumn, mapped_column

GROUP = BigInteger


def key_of(column: str, *, ondelete: str | None = None) -> MappedColumn[int]:
    """Return a primary key column that refers to a column of another table."""
    reference = ForeignKey(column, ondelete=ondelete)
    return mapped_column(BigInteger, reference, primary_key=True, autoincrement=False)
