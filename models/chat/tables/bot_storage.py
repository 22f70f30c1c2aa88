"""What bots keep between their runs."""

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase

KEY_MAX = 250


class BotStorage(ChatBase):
    """A text of a bot, or of a person's program, under a key. `size`: the characters of both. It
    stands before the value, so that a sum of sizes reads no values.
    """

    __tablename__ = "bot_storage"

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("user.id"), primary_key=True, autoincrement=False
    )
    key: Mapped[str] = mapped_column(String(KEY_MAX), primary_key=True)
    size: Mapped[int] = mapped_column()
    value: Mapped[str] = mapped_column(Text)
