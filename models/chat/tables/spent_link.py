"""Links that were used: each works once."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import UtcMs


class SpentLink(ChatBase):
    """A link that was used. After `ends_at` it would not work anyhow, and the row may go."""

    __tablename__ = "spent_link"

    key: Mapped[str] = mapped_column(String(32), primary_key=True)
    ends_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
