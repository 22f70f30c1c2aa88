"""Personal data of users: words, drafts, snippets, views, mutes, presence, devices and tokens."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.channel import TOPIC
from models.chat.tables.columns import key_of
from specd.db import RowNumber, UtcMs

KEY = String(300)  # casefolding can triple the length of a text


class AlertWord(ChatBase):
    """An alert word: `word` as entered and `word_key` for comparisons. `first_part` is its first
    run of letters and digits, by which the candidates for a message are found.
    """

    __tablename__ = "alert_word"
    __table_args__ = (
        UniqueConstraint("user_id", "word_key"),
        Index(None, "realm_id", "first_part", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    word: Mapped[str] = mapped_column(String(100))
    word_key: Mapped[str] = mapped_column(KEY)
    first_part: Mapped[str] = mapped_column(KEY)


class ClientDevice(ChatBase):
    """A device of a user. It gets push notifications while it has a `push_token_id`.

    The token of the push service is not stored. Only its id is stored (8 bytes of its SHA-256 in
    base64), by which the relay identifies it. The push key is sealed (models/chat/common/vault.py).
    """

    __tablename__ = "client_device"
    __table_args__ = (
        Index(None, "user_id", "push_token_id"),
        CheckConstraint("push_token_kind IN ('apns', 'fcm')", name="push_token_kind"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    registered_at: Mapped[datetime] = mapped_column(UtcMs)
    sealed_push_key: Mapped[str | None] = mapped_column(Text)
    push_key_id: Mapped[int | None] = mapped_column(BigInteger)
    push_token_kind: Mapped[str | None] = mapped_column(String(4))
    push_token_id: Mapped[str | None] = mapped_column(String(12))
    pending_push_token_id: Mapped[str | None] = mapped_column(String(12))
    push_token_changed_at: Mapped[datetime | None] = mapped_column(UtcMs)
    push_error_code: Mapped[str | None] = mapped_column(String(40))


class MutedUser(ChatBase):
    """A user (`user_id`) has muted another user."""

    __tablename__ = "muted_user"
    __table_args__ = (Index(None, "muted_user_id", "user_id"),)

    user_id: Mapped[int] = key_of("user.id")
    muted_user_id: Mapped[int] = key_of("user.id")
    muted_at: Mapped[datetime] = mapped_column(UtcMs)


class NavigationView(ChatBase):
    """A view, identified by the fragment of its URL. Built-in views have no name."""

    __tablename__ = "navigation_view"
    __table_args__ = (UniqueConstraint("user_id", "fragment"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    fragment: Mapped[str] = mapped_column(String(500))
    is_pinned: Mapped[bool]
    name: Mapped[str | None] = mapped_column(String(100))


class Presence(ChatBase):
    """The times when a client of a user last reported, and last reported that the user is active
    (null if never).

    `update_id` increases within a realm in the order of commits. Clients request updates after the
    last one that they received.
    """

    __tablename__ = "presence"
    __table_args__ = (Index(None, "realm_id", "update_id"),)

    user_id: Mapped[int] = key_of("user.id")
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    last_active_at: Mapped[datetime | None] = mapped_column(UtcMs)
    last_connected_at: Mapped[datetime] = mapped_column(UtcMs)
    update_id: Mapped[int] = mapped_column(BigInteger)


class SavedSnippet(ChatBase):
    """A text in Markdown, with a title."""

    __tablename__ = "saved_snippet"
    __table_args__ = (Index(None, "user_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    title: Mapped[str] = mapped_column(String(60))
    content: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcMs)


class StoredDraft(ChatBase):
    """An unsent message of a user: to a channel, to users, or without a recipient if both are null.

    `edited_at` is a time from the client and is not checked.
    """

    __tablename__ = "draft"
    __table_args__ = (
        Index(None, "user_id", "edited_at", "id"),
        CheckConstraint("channel_id IS NULL OR recipient_ids IS NULL", name="recipient"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    channel_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel.id"))
    recipient_ids: Mapped[str | None] = mapped_column(Text)  # JSON array of user ids; direct only
    topic: Mapped[str] = mapped_column(TOPIC, default="")
    content: Mapped[str] = mapped_column(Text)
    edited_at: Mapped[datetime] = mapped_column(UtcMs)


class VendorToken(ChatBase):
    """A user's OAuth 2 tokens at the vendor, sealed (models/chat/common/vault.py).

    `generation` increases with every change of the tokens. A refresh or a deletion contains the
    generation that it read. `refreshing_until` is the lease of the request that currently refreshes
    them.
    """

    __tablename__ = "vendor_token"

    user_id: Mapped[int] = key_of("user.id")
    vendor_user_id: Mapped[str] = mapped_column(String(255), index=True)
    sealed_tokens: Mapped[str] = mapped_column(Text)
    generation: Mapped[int] = mapped_column(default=1)
    expires_at: Mapped[datetime] = mapped_column(UtcMs)
    refreshing_until: Mapped[datetime | None] = mapped_column(UtcMs)
