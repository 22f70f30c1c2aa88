"""What users had sent, and is still to be deleted."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber, UtcMs


class MessageRemoval(ChatBase):
    """What a user has sent is to be deleted in the places that are true: the messages after
    `after_id`, up to `until_id`. `removed` counts those that this row had deleted.
    """

    __tablename__ = "message_removal"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    sender_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    actor_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    public_channels: Mapped[bool]
    private_channels: Mapped[bool]
    direct: Mapped[bool]
    after_id: Mapped[int] = mapped_column(BigInteger)
    until_id: Mapped[int] = mapped_column(BigInteger)
    removed: Mapped[int] = mapped_column(default=0)
    asked_at: Mapped[datetime] = mapped_column(UtcMs)
