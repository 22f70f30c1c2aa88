"""Texts that users keep to write again."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber, UtcMs


class SavedSnippet(ChatBase):
    """A text in Markdown, with a title to find it by."""

    __tablename__ = "saved_snippet"
    __table_args__ = (Index(None, "user_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    title: Mapped[str] = mapped_column(String(60))
    content: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
