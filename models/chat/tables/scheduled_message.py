"""Messages that are sent later."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.channel import TOPIC
from models.dialects import partial_index
from specd.db import RowNumber, UtcMs

PENDING = text("state = 'pending'")
DELIVERED = text("state = 'sent'")


class ScheduledMessage(ChatBase):
    """A message to send at `scheduled_at`: `pending`, then `sent` or `failed` with a reason.

    If there is a `target_message_id`, it is a reminder of that message, which may have been
    deleted. The notification bot sends the reminder to `sender_id`. `content` is then its text
    without the text of the message. After a temporary error, `next_try_at` is advanced within the
    late window. `message_id` is the message that was sent.
    """

    __tablename__ = "scheduled_message"
    __table_args__ = (
        partial_index("ix_scheduled_message_due", "next_try_at", "id", where=PENDING),
        Index(None, "sender_id", "scheduled_at"),
        partial_index("ix_scheduled_message_sent", "scheduled_at", where=DELIVERED),
        CheckConstraint("state IN ('pending', 'sent', 'failed')", name="state"),
        CheckConstraint("(state = 'sent') = (message_id IS NOT NULL)", name="message_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    sender_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    channel_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel.id"))
    recipient_ids: Mapped[str | None] = mapped_column(Text)  # JSON array of user ids; direct only
    topic: Mapped[str] = mapped_column(TOPIC, default="")
    content: Mapped[str] = mapped_column(Text)
    rendered_content: Mapped[str] = mapped_column(Text)
    client: Mapped[str] = mapped_column(String(30), default="")
    read_by_sender: Mapped[bool] = mapped_column(default=False)
    scheduled_at: Mapped[datetime] = mapped_column(UtcMs)
    next_try_at: Mapped[datetime] = mapped_column(UtcMs)
    attempts: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(String(8), default="pending")
    failure: Mapped[str | None] = mapped_column(Text)
    message_id: Mapped[int | None] = mapped_column(BigInteger)
    target_message_id: Mapped[int | None] = mapped_column(BigInteger)
    note: Mapped[str | None] = mapped_column(Text)  # of a reminder
    created_at: Mapped[datetime] = mapped_column(UtcMs)
