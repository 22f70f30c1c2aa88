"""Whom users have muted."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import UtcMs


class MutedUser(ChatBase):
    """`user_id` has muted `muted_user_id`."""

    __tablename__ = "muted_user"
    __table_args__ = (Index(None, "muted_user_id", "user_id"),)

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("user.id"), primary_key=True, autoincrement=False
    )
    muted_user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("user.id"), primary_key=True, autoincrement=False
    )
    muted_at: Mapped[datetime] = mapped_column(UtcMs)
