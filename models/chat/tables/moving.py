"""Moves of organizations between installations: data that the source and the target record
meanwhile.
"""

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from specd.db import RowNumber


class RowChange(ChatBase):
    """A change in an organization that is being moved away: a row was added, changed or removed.

    Triggers write it (models/chat/moves/capture.py), in the transaction of the change. `key`,
    `key2` and `key_text` are the numbers and the text of the row's primary key.
    """

    __tablename__ = "row_change"
    __table_args__ = (Index(None, "realm_id", "table_name", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger)
    table_name: Mapped[str] = mapped_column(String(40))
    key: Mapped[int] = mapped_column(BigInteger)
    key2: Mapped[int | None] = mapped_column(BigInteger)
    key_text: Mapped[str | None] = mapped_column(Text)


class MovedRow(ChatBase):
    """The new id of a row that was added after the first copy of its organization."""

    __tablename__ = "moved_row"

    import_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("chat_import.id"), primary_key=True, autoincrement=False
    )
    table_name: Mapped[str] = mapped_column(String(40), primary_key=True)
    old_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    new_id: Mapped[int] = mapped_column(BigInteger)
