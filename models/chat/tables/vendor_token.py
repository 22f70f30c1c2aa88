"""What people have allowed this server to do for them at the video-call vendor."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import UtcMs


class VendorToken(ChatBase):
    """A user's OAuth 2 tokens at the vendor, sealed (models/chat/common/vault.py).

    `generation` grows with every change of the tokens: whoever refreshes or forgets them names the
    one they saw. `refreshing_until` is the lease of the one request that refreshes them now.
    """

    __tablename__ = "vendor_token"

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("user.id"), primary_key=True, autoincrement=False
    )
    vendor_user_id: Mapped[str] = mapped_column(String(255), index=True)
    sealed_tokens: Mapped[str] = mapped_column(Text)
    generation: Mapped[int] = mapped_column(default=1)
    expires_at: Mapped[datetime] = mapped_column(UtcMs)
    refreshing_until: Mapped[datetime | None] = mapped_column(UtcMs)
