"""What is counted against guessing, by digests only: the rows name nobody and no address."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import UtcMs


class AttemptCount(ChatBase):
    """How much of one allowance is used: the theoretical arrival time of the next attempt (generic
    cell rate algorithm). A row of the past says nothing.
    """

    __tablename__ = "attempt_count"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    arrival_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class KnownPlace(ChatBase):
    """Somebody has signed in under one name from one place."""

    __tablename__ = "known_place"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    last_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
