"""Data that bots store between runs, and the URLs of outgoing webhooks."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import key_of
from models.webhooks.addresses import URL_MAX
from specd.db import RowNumber, UtcMs

KEY_MAX = 250


class BotStorage(ChatBase):
    """A text that a bot or a user's program stores under a key. `size` is the number of characters
    of both. Its column precedes the value, so that a sum of sizes does not read values.
    """

    __tablename__ = "bot_storage"

    user_id: Mapped[int] = key_of("user.id")
    key: Mapped[str] = mapped_column(String(KEY_MAX), primary_key=True)
    size: Mapped[int] = mapped_column()
    value: Mapped[str] = mapped_column(Text)


class OutgoingWebhook(ChatBase):
    """The URL of a bot, and the format of its requests: 1 for the service's format, 2 for
    Slack's.
    """

    __tablename__ = "outgoing_webhook"
    __table_args__ = (CheckConstraint("interface IN (1, 2)", name="interface"),)

    user_id: Mapped[int] = key_of("user.id")
    payload_url: Mapped[str] = mapped_column(String(URL_MAX))
    interface: Mapped[int] = mapped_column(default=1)
    sealed_secret: Mapped[str] = mapped_column(Text)


class OutgoingDelivery(ChatBase):
    """A message for a bot. It is written in the transaction that sends the message, and deleted in
    the transaction that sends the bot's reply.

    `next_try_at` is the time from which it may be claimed. A worker that claims it advances that
    time by a lease, so that the row is due again if the worker dies. `attempts` counts the claims.
    `traceparent` is the trace context of the request that sent the message, or null.
    """

    __tablename__ = "outgoing_delivery"
    __table_args__ = (
        Index(None, "next_try_at", "id"),
        Index(None, "bot_id", "id"),
        CheckConstraint("cause IN ('mention', 'direct_message')", name="cause"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    bot_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    message_id: Mapped[int] = mapped_column(BigInteger)
    cause: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int] = mapped_column(default=0)
    next_try_at: Mapped[datetime] = mapped_column(UtcMs)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    traceparent: Mapped[str | None] = mapped_column(String(55))
