"""The tables of todo. After a change, `specd migrate --new NAME` writes the migration."""

from sqlalchemy import MetaData, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from specd.db import NAMING, RowNumber


class Base(DeclarativeBase):
    """The base of all tables of todo."""

    metadata = MetaData(naming_convention=NAMING)


class Task(Base):
    """Something to do."""

    __tablename__ = "task"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    text: Mapped[str] = mapped_column(String(200))
    completed: Mapped[bool] = mapped_column(default=False)
