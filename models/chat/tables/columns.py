"""Columns and indexes that several tables have."""

from sqlalchemy import BigInteger, ForeignKey, Index, TextClause
from sqlalchemy.orm import MappedColumn, mapped_column

GROUP = BigInteger


def key_of(column: str, *, ondelete: str | None = None) -> MappedColumn[int]:
    """Return a column of the primary key that refers to a column of another table."""
    reference = ForeignKey(column, ondelete=ondelete)
    return mapped_column(BigInteger, reference, primary_key=True, autoincrement=False)


def partial_index(name: str, *columns: str, where: TextClause) -> Index:
    """Return an index of the rows that fulfil a condition."""
    return Index(name, *columns, postgresql_where=where, sqlite_where=where)
