"""Drafts that people have on the server, so that all of their clients have them."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.chat.tables.channel import TOPIC
from models.types import RowNumber, UtcMs


class StoredDraft(ChatBase):
    """An unsent message of a user: to a channel, to people, or (both null) to nobody yet.

    `edited_at` is the time that the client gives, which may be any.
    """

    __tablename__ = "draft"
    __table_args__ = (
        Index(None, "user_id", "edited_at", "id"),
        CheckConstraint("channel_id IS NULL OR recipient_ids IS NULL", name="recipient"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    channel_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel.id"))
    recipient_ids: Mapped[str | None] = mapped_column(Text)  # JSON array of user ids; direct only
    topic: Mapped[str] = mapped_column(TOPIC, default="")
    content: Mapped[str] = mapped_column(Text)
    edited_at: Mapped[datetime] = mapped_column(UtcMs)
