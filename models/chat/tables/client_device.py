"""The devices people use, and how push notifications reach them."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber, UtcMs


class ClientDevice(ChatBase):
    """A device of a user. It can be pushed to while it has a `push_token_id`.

    The push service's own token never comes here: only its id (8 bytes of its SHA-256, base64),
    by which the relay knows it. The push key is sealed (models/chat/common/vault.py).
    """

    __tablename__ = "client_device"
    __table_args__ = (
        Index(None, "user_id", "push_token_id"),
        CheckConstraint("push_token_kind IN ('apns', 'fcm')", name="push_token_kind"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    registered_at: Mapped[datetime] = mapped_column(UtcMs)
    sealed_push_key: Mapped[str | None] = mapped_column(Text)
    push_key_id: Mapped[int | None] = mapped_column(BigInteger)
    push_token_kind: Mapped[str | None] = mapped_column(String(4))
    push_token_id: Mapped[str | None] = mapped_column(String(12))
    pending_push_token_id: Mapped[str | None] = mapped_column(String(12))
    push_token_changed_at: Mapped[datetime | None] = mapped_column(UtcMs)
    push_error_code: Mapped[str | None] = mapped_column(String(40))
