"""Messages, users' copies of them, their edits, and conversations.

The index for full-text search is `message_search`: an FTS5 table (rowid = message id; topic,
content) on SQLite, and a table (message_id, vector tsvector) with a GIN index on PostgreSQL. A
migration creates it, and only models/chat/messages/search.py uses it.
"""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.channel import TOPIC, TOPIC_KEY
from models.chat.tables.columns import key_of
from models.dialects import partial_index
from specd.db import RowNumber, UtcMs

UNREAD = text("flags & 1 = 0")
ALERTED = text("flags & 512 <> 0")
DIRECT = text("flags & 2048 <> 0")
MENTIONED = text("flags & 120 <> 0")  # direct mentions, and wildcard and group mentions


class Conversation(ChatBase):
    """A set of users who exchange direct messages. `key` is derived from their sorted ids."""

    __tablename__ = "conversation"
    __table_args__ = (UniqueConstraint("realm_id", "key"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    key: Mapped[str] = mapped_column(String(64))  # SHA-256 of "1,5,9"


class ConversationMember(ChatBase):
    """A user of a conversation, including senders."""

    __tablename__ = "conversation_member"
    __table_args__ = (Index(None, "user_id", "conversation_id"),)

    conversation_id: Mapped[int] = key_of("conversation.id")
    user_id: Mapped[int] = key_of("user.id")


class Message(ChatBase):
    """A message to a topic of a channel, or to a conversation (then `topic` is empty)."""

    __tablename__ = "message"
    __table_args__ = (
        Index(None, "channel_id", "topic_key", "id"),
        Index(None, "channel_id", "id"),
        Index(None, "conversation_id", "id"),
        Index(None, "sender_id", "id"),
        Index(None, "realm_id", "id"),
        CheckConstraint("(channel_id IS NULL) <> (conversation_id IS NULL)", name="one_recipient"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    sender_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    channel_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel.id"))
    conversation_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("conversation.id"))
    topic: Mapped[str] = mapped_column(TOPIC, default="")
    topic_key: Mapped[str] = mapped_column(TOPIC_KEY, default="")
    content: Mapped[str] = mapped_column(Text)
    rendered_content: Mapped[str] = mapped_column(Text)
    sent_at: Mapped[datetime] = mapped_column(UtcMs)
    last_edit_at: Mapped[datetime | None] = mapped_column(UtcMs)
    last_moved_at: Mapped[datetime | None] = mapped_column(UtcMs)
    has_link: Mapped[bool] = mapped_column(default=False)
    has_image: Mapped[bool] = mapped_column(default=False)
    has_attachment: Mapped[bool] = mapped_column(default=False)
    client: Mapped[str] = mapped_column(String(30), default="")
    # Unique, so that two workers cannot send a scheduled message twice.
    scheduled_message_id: Mapped[int | None] = mapped_column(BigInteger, unique=True)


class UserMessage(ChatBase):
    """A user's copy of a message. `flags` is a bit set (models/chat/messages/flags.py names the
    bits), except for the star, which is a row of `StarredMessage`.

    It is created when the message is sent. In a protected history, only the copy gives access.
    """

    __tablename__ = "user_message"
    __table_args__ = (
        Index(None, "message_id"),
        partial_index("ix_user_message_unread", "user_id", "message_id", where=UNREAD),
        partial_index("ix_user_message_mentioned", "user_id", "message_id", where=MENTIONED),
        partial_index("ix_user_message_alerted", "user_id", "message_id", where=ALERTED),
        partial_index("ix_user_message_direct", "user_id", "message_id", where=DIRECT),
        {"sqlite_with_rowid": False},
    )

    user_id: Mapped[int] = key_of("user.id")
    message_id: Mapped[int] = key_of("message.id", ondelete="CASCADE")
    flags: Mapped[int] = mapped_column(BigInteger, default=0)


class StarredMessage(ChatBase):
    """A user's star on their copy of a message.

    It is a separate table because PostgreSQL would rewrite the complete copy, in the table and all
    of its indexes, if a flag that is used in indexes changes. It has no foreign keys for the same
    reason: a thousand stars may be set together. A star is deleted with its copy
    (models/chat/messages/stars.py). If a race leaves a star behind, it has no effect, because stars
    are read only with copies.
    """

    __tablename__ = "starred_message"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012  # SQLAlchemy's own attribute

    user_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    message_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)


class MessageArchive(ChatBase):
    """A deleted message, kept for a while (models/chat/retention.py) so that it can be restored
    manually.
    """

    __tablename__ = "message_archive"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    realm_id: Mapped[int] = mapped_column(BigInteger)
    sender_id: Mapped[int] = mapped_column(BigInteger)
    channel_id: Mapped[int | None] = mapped_column(BigInteger)
    conversation_id: Mapped[int | None] = mapped_column(BigInteger)
    topic: Mapped[str] = mapped_column(TOPIC)
    content: Mapped[str] = mapped_column(Text)
    rendered_content: Mapped[str] = mapped_column(Text)
    sent_at: Mapped[datetime] = mapped_column(UtcMs)
    archived_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
    archived_by: Mapped[int | None] = mapped_column(BigInteger)


class ReactionArchive(ChatBase):
    """A reaction to a deleted message, kept as long as the message."""

    __tablename__ = "reaction_archive"

    message_id: Mapped[int] = key_of("message_archive.id", ondelete="CASCADE")
    user_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    reaction_type: Mapped[str] = mapped_column(String(32), primary_key=True)
    emoji_code: Mapped[str] = mapped_column(String(100), primary_key=True)
    emoji_name: Mapped[str] = mapped_column(String(100))


class MessageEdit(ChatBase):
    """One edit of a message. Columns named `prev_` are null if the edit did not change that
    part.
    """

    __tablename__ = "message_edit"
    __table_args__ = (Index(None, "message_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    message_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("message.id", ondelete="CASCADE")
    )
    editor_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    edited_at: Mapped[datetime] = mapped_column(UtcMs)
    prev_topic: Mapped[str | None] = mapped_column(TOPIC)
    prev_channel_id: Mapped[int | None] = mapped_column(BigInteger)
    prev_content: Mapped[str | None] = mapped_column(Text)
    prev_rendered_content: Mapped[str | None] = mapped_column(Text)


class Submessage(ChatBase):
    """A change of a poll or a to-do list. The first submessage of a message describes the widget.
    `content` is JSON.
    """

    __tablename__ = "submessage"
    __table_args__ = (Index(None, "message_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    message_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("message.id", ondelete="CASCADE")
    )
    sender_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    content: Mapped[str] = mapped_column(Text)


class Reaction(ChatBase):
    """A user's reaction to a message with an emoji."""

    __tablename__ = "reaction"
    __table_args__ = (
        UniqueConstraint("message_id", "user_id", "reaction_type", "emoji_code"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    message_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("message.id", ondelete="CASCADE")
    )
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    reaction_type: Mapped[str] = mapped_column(String(32))
    emoji_code: Mapped[str] = mapped_column(String(100))
    emoji_name: Mapped[str] = mapped_column(String(100))


class MessageRemoval(ChatBase):
    """A removal in progress: messages after `after_id` and up to `until_id` are deleted.

    They are a user's messages in the places that are true, or those messages of a channel's topic
    that the actor can read. `removed` counts the messages that were deleted for this row.
    """

    __tablename__ = "message_removal"
    __table_args__ = (
        CheckConstraint("(sender_id IS NULL) <> (topic IS NULL)", name="sender_or_topic"),
        CheckConstraint("(channel_id IS NULL) = (topic IS NULL)", name="topic_of_channel"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    sender_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    channel_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel.id"))
    topic: Mapped[str | None] = mapped_column(TOPIC)
    actor_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    public_channels: Mapped[bool] = mapped_column(default=False)
    private_channels: Mapped[bool] = mapped_column(default=False)
    direct: Mapped[bool] = mapped_column(default=False)
    after_id: Mapped[int] = mapped_column(BigInteger)
    until_id: Mapped[int] = mapped_column(BigInteger)
    removed: Mapped[int] = mapped_column(default=0)


class StaleSearch(ChatBase):
    """A message that was moved or deleted together with many others. The search index is updated
    later.
    """

    __tablename__ = "stale_search"

    message_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
