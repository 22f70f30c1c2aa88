"""Messages whose place in the search index is to be made again."""

from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber


class StaleSearch(ChatBase):
    """A message that moved, or went, together with many; the search index follows soon."""

    __tablename__ = "stale_search"

    message_id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=False)
