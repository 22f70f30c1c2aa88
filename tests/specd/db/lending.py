"""Tables of a library that lends books, for the tests of databases."""

from datetime import datetime

from sqlalchemy import Integer, MetaData, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from specd.db import NAMING, UtcMs


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)


class Book(Base):
    """A book and its number of copies."""

    __tablename__ = "book"

    title: Mapped[str] = mapped_column(String(120), primary_key=True)
    copies: Mapped[int] = mapped_column(Integer, default=0)


class Loan(Base):
    """A loan with its borrower and its end."""

    __tablename__ = "loan"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    holder: Mapped[str] = mapped_column(String(200))
    expires_at: Mapped[datetime] = mapped_column(UtcMs)
