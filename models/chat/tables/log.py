"""The audit log, the event log for clients, and responses stored for retries.

Rows are only appended, in the transaction of the change that they record.
"""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import key_of
from models.dialects import partial_index
from specd.db import RowNumber, UtcMs

EPHEMERAL = text("type IN ('presence', 'typing', 'typing_edit_message')")
"""Events that are useful only for a moment. The SQL is literal, because otherwise neither database
uses the index.
"""


class AuditLog(ChatBase):
    """One change of a realm, a user, a group or a channel, and its actor (null for the operator).

    `key_id` identifies an API key without giving access, and `address` is the client's. Both and
    `request_id` are null if the change was not made by a request.
    """

    __tablename__ = "audit_log"
    __table_args__ = (
        Index(None, "realm_id", "kind", "at"),
        Index(None, "user_id", "kind"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    kind: Mapped[str] = mapped_column(String(64))
    actor_id: Mapped[int | None] = mapped_column(BigInteger)
    user_id: Mapped[int | None] = mapped_column(BigInteger)
    channel_id: Mapped[int | None] = mapped_column(BigInteger)
    group_id: Mapped[int | None] = mapped_column(BigInteger)
    facts: Mapped[str] = mapped_column(Text, default="{}")  # JSON object
    key_id: Mapped[str | None] = mapped_column(String(16))
    address: Mapped[str | None] = mapped_column(String(64))
    request_id: Mapped[str | None] = mapped_column(String(32))
    at: Mapped[datetime] = mapped_column(UtcMs)


class Event(ChatBase):
    """One event for the clients of some users. The ids of a realm's events are in commit order.

    It may contain content that was edited or deleted since: models/chat/retention.py limits for how
    long. `audience` is `realm` (all active users), `administrators`, or `users` with a JSON array
    in `user_ids`. If `channel_id` is set, only users who can read that channel at delivery get the
    event. Keys of `payload` that begin with an underscore are not sent to clients.
    """

    __tablename__ = "event"
    __table_args__ = (
        Index(None, "realm_id", "id"),
        partial_index("ix_event_ephemeral", "at", where=EPHEMERAL),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    type: Mapped[str] = mapped_column(String(40))
    payload: Mapped[str] = mapped_column(Text)  # JSON object, without `id` and `type`
    audience: Mapped[str] = mapped_column(String(16), default="users")
    user_ids: Mapped[str | None] = mapped_column(Text)
    channel_id: Mapped[int | None] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(UtcMs)


class IdempotencyKey(ChatBase):
    """A key that a client has used, with its operation and response. The primary key resolves
    races.
    """

    __tablename__ = "idempotency_key"

    user_id: Mapped[int] = key_of("user.id")
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    operation: Mapped[str] = mapped_column(String(64))
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int] = mapped_column()
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
