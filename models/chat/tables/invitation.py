"""Invitations to join an organization."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber, UtcMs


class Invitation(ChatBase):
    """An invitation of one address, or (without `email`) a link that anybody may use.

    `link_id`: the link by which somebody asked for this invitation of their own address.
    """

    __tablename__ = "invitation"
    __table_args__ = (
        Index(None, "realm_id", "email_key"),
        Index(None, "inviter_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    inviter_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    link_id: Mapped[int | None] = mapped_column(
        BigInteger, ForeignKey("invitation.id", ondelete="CASCADE"), index=True
    )
    email: Mapped[str | None] = mapped_column(String(254))
    email_key: Mapped[str | None] = mapped_column(String(254))
    role: Mapped[int]
    channel_ids: Mapped[str] = mapped_column(Text)
    """Ids of the channels that the new user joins, as JSON; `group_ids` likewise."""
    group_ids: Mapped[str] = mapped_column(Text)
    joins_default_channels: Mapped[bool]
    tells_inviter: Mapped[bool]
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    sealed_token: Mapped[str | None] = mapped_column(Text)
    """Of a link, whose inviter is shown its address again."""
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    expires_at: Mapped[datetime | None] = mapped_column(UtcMs, index=True)
