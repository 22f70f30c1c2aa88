"""Messages whose place in the search index is to be made again."""

from sqlalchemy import BigInteger
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase


class StaleSearch(ChatBase):
    """A message that moved, or went, together with many; the search index follows soon."""

    __tablename__ = "stale_search"

    message_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
