"""When people were last there."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import UtcMs


class Presence(ChatBase):
    """When a client of a person last reported, and when it last reported that the person is active
    (null: never).

    `update_id` ascends within a realm, in the order of commits: a client asks for what is newer
    than the last update that it has seen.
    """

    __tablename__ = "presence"
    __table_args__ = (Index(None, "realm_id", "update_id"),)

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("user.id"), primary_key=True, autoincrement=False
    )
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    last_active_at: Mapped[datetime | None] = mapped_column(UtcMs)
    last_connected_at: Mapped[datetime] = mapped_column(UtcMs)
    update_id: Mapped[int] = mapped_column(BigInteger)
