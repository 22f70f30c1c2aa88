"""Mail to send, and the results."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.dialects import partial_index
from specd.db import RowNumber, UtcMs

PENDING = text("state = 'pending'")


class Outbox(ChatBase):
    """One mail, written in the transaction of its cause: `pending`, then `sent` or `dead`.

    `next_try_at` is the time from which it may be claimed. A worker that claims it advances that
    time by a lease, so that the mail is due again if the worker dies. `attempts` counts the claims.
    The Message-ID is derived from `key`, so it is the same for all attempts. `body` is sealed if
    the mail contains a secret, and is emptied when the mail has been sent.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        partial_index("ix_outbox_due", "next_try_at", "id", where=PENDING),
        Index(None, "state", "closed_at"),
        CheckConstraint("state IN ('pending', 'sent', 'dead')", name="state"),
        CheckConstraint("(state = 'pending') = (closed_at IS NULL)", name="closed_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    key: Mapped[str] = mapped_column(String(32), unique=True)
    recipient: Mapped[str] = mapped_column(String(254))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)
    is_sealed: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(String(8), default="pending")
    attempts: Mapped[int] = mapped_column(default=0)
    next_try_at: Mapped[datetime] = mapped_column(UtcMs)
    failure: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    closed_at: Mapped[datetime | None] = mapped_column(UtcMs)
