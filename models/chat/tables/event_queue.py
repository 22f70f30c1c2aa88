"""The event queues of clients: positions in the event log."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from specd.db import UtcMs


class EventQueue(ChatBase):
    """A client's position in the event log of its realm, and the selection of its events.

    `position` is the last event that the client has acknowledged, or an earlier event, because
    processes store it at intervals. `event_types` is a JSON array (null for all), `narrow` a JSON
    array of terms, `capabilities` a JSON array of names. `known_people` is a digest of the users
    that the reader may see, or null for all users. The queue lives until `polled_until` plus
    `idle_timeout_s`.
    """

    __tablename__ = "event_queue"
    __table_args__ = (Index(None, "user_id"), Index(None, "realm_id", "position"))

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    client: Mapped[str] = mapped_column(String(30))
    event_types: Mapped[str | None] = mapped_column(Text)
    narrow: Mapped[str] = mapped_column(Text)
    capabilities: Mapped[str] = mapped_column(Text)
    all_public_streams: Mapped[bool]
    apply_markdown: Mapped[bool]
    client_gravatar: Mapped[bool]
    slim_presence: Mapped[bool]
    known_people: Mapped[str | None] = mapped_column(String(64))
    position: Mapped[int] = mapped_column(BigInteger)
    idle_timeout_s: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    polled_until: Mapped[datetime] = mapped_column(UtcMs)
    expires_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
