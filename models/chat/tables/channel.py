"""Channels, subscriptions to them, and their topics."""

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
from models.chat.tables.columns import GROUP, key_of
from specd.db import RowNumber, UtcMs

TOPIC = String(60)
TOPIC_KEY = String(200)  # casefolding can triple the length of a text


class ChannelFolder(ChatBase):
    """A heading for channels in clients. `name_key` is the key of the name. It is unique in the
    realm, including archived folders.
    """

    __tablename__ = "channel_folder"
    __table_args__ = (UniqueConstraint("realm_id", "name_key"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    name_key: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(String(1024), default="")
    rendered_description: Mapped[str] = mapped_column(Text, default="")
    creator_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    date_created: Mapped[datetime] = mapped_column(UtcMs)
    is_archived: Mapped[bool] = mapped_column(default=False)
    position: Mapped[int] = mapped_column(default=0)


class Channel(ChatBase):
    """A place for messages with topics. `name_key` is the key of the name and unique in the realm.

    A channel that is not `invite_only` is public and has a public history. A private channel has a
    shared history (`history_public_to_subscribers`) or a protected history.
    """

    __tablename__ = "channel"
    __table_args__ = (
        UniqueConstraint("realm_id", "name_key"),
        CheckConstraint(
            "topics_policy IN ('inherit', 'allow_empty_topic', 'disable_empty_topic',"
            " 'empty_topic_only')",
            name="topics_policy",
        ),
        CheckConstraint("NOT (invite_only AND is_web_public)", name="privacy"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    name: Mapped[str] = mapped_column(String(60))
    name_key: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(String(1024), default="")
    rendered_description: Mapped[str] = mapped_column(Text, default="")
    invite_only: Mapped[bool] = mapped_column(default=False)
    is_web_public: Mapped[bool] = mapped_column(default=False)
    history_public_to_subscribers: Mapped[bool] = mapped_column(default=True)
    is_archived: Mapped[bool] = mapped_column(default=False)
    creator_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    date_created: Mapped[datetime] = mapped_column(UtcMs)
    folder_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel_folder.id"))
    message_retention_days: Mapped[int | None] = mapped_column()  # null: the realm's; -1: unlimited
    topics_policy: Mapped[str] = mapped_column(String(24), default="inherit")
    first_message_id: Mapped[int | None] = mapped_column(BigInteger)
    can_add_subscribers_group: Mapped[int] = mapped_column(GROUP)
    can_administer_channel_group: Mapped[int] = mapped_column(GROUP)
    can_create_topic_group: Mapped[int] = mapped_column(GROUP)
    can_delete_any_message_group: Mapped[int] = mapped_column(GROUP)
    can_delete_own_message_group: Mapped[int] = mapped_column(GROUP)
    can_move_messages_out_of_channel_group: Mapped[int] = mapped_column(GROUP)
    can_move_messages_within_channel_group: Mapped[int] = mapped_column(GROUP)
    can_remove_subscribers_group: Mapped[int] = mapped_column(GROUP)
    can_resolve_topics_group: Mapped[int] = mapped_column(GROUP)
    can_send_message_group: Mapped[int] = mapped_column(GROUP)
    can_subscribe_group: Mapped[int] = mapped_column(GROUP)


class DefaultChannel(ChatBase):
    """A channel to which new members are subscribed."""

    __tablename__ = "default_channel"

    channel_id: Mapped[int] = key_of("channel.id")
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"), index=True)


class Subscription(ChatBase):
    """A user's subscription and its settings. If the user unsubscribes, the row is kept and
    `is_active` becomes false.

    The notification settings are null if the user's defaults apply. In a protected history, the
    user has no message up to `joined_after_id`, which was the newest message at the first
    subscription. It is only a bound for searches; the permission to read is the user's copy.
    """

    __tablename__ = "subscription"
    __table_args__ = (Index(None, "user_id", "is_active", "channel_id"),)

    channel_id: Mapped[int] = key_of("channel.id")
    user_id: Mapped[int] = key_of("user.id")
    is_active: Mapped[bool] = mapped_column(default=True)
    color: Mapped[str] = mapped_column(String(7))
    is_muted: Mapped[bool] = mapped_column(default=False)
    pin_to_top: Mapped[bool] = mapped_column(default=False)
    desktop_notifications: Mapped[bool | None] = mapped_column()
    audible_notifications: Mapped[bool | None] = mapped_column()
    push_notifications: Mapped[bool | None] = mapped_column()
    email_notifications: Mapped[bool | None] = mapped_column()
    wildcard_mentions_notify: Mapped[bool | None] = mapped_column()
    subscribed_at: Mapped[datetime] = mapped_column(UtcMs)
    joined_after_id: Mapped[int] = mapped_column(BigInteger, default=0)


class Topic(ChatBase):
    """The newest message of each topic, so that lists of topics do not read messages.

    It is updated in the transaction that sends, moves or deletes a message. `name` has the case of
    the newest message.
    """

    __tablename__ = "topic"
    # With the name, a list of topics reads only the index.
    __table_args__ = (Index(None, "channel_id", "max_id", "name"),)

    channel_id: Mapped[int] = key_of("channel.id")
    topic_key: Mapped[str] = mapped_column(TOPIC_KEY, primary_key=True)
    name: Mapped[str] = mapped_column(TOPIC)
    max_id: Mapped[int] = mapped_column(BigInteger)


class UserTopic(ChatBase):
    """A user's visibility policy for one topic: 1 muted, 2 unmuted, 3 followed. Without a row, the
    policy is none.
    """

    __tablename__ = "user_topic"
    __table_args__ = (
        Index(None, "channel_id", "topic_key"),
        CheckConstraint("visibility_policy IN (1, 2, 3)", name="visibility_policy"),
    )

    user_id: Mapped[int] = key_of("user.id")
    channel_id: Mapped[int] = key_of("channel.id")
    topic_key: Mapped[str] = mapped_column(TOPIC_KEY, primary_key=True)
    topic: Mapped[str] = mapped_column(TOPIC)
    visibility_policy: Mapped[int] = mapped_column()
    last_updated: Mapped[datetime] = mapped_column(UtcMs)
