"""Organizations (realms), selected by the Host header, and data of whole organizations."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import GROUP
from specd.db import RowNumber, UtcMs


class Realm(ChatBase):
    """An organization. All other data belongs to exactly one organization and is hidden from the
    others.
    """

    __tablename__ = "realm"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    host: Mapped[str] = mapped_column(String(255), unique=True)
    name: Mapped[str] = mapped_column(String(40))
    description: Mapped[str] = mapped_column(String(1000), default="")
    date_created: Mapped[datetime] = mapped_column(UtcMs)
    is_deactivated: Mapped[bool] = mapped_column(default=False)
    stopped_at: Mapped[datetime | None] = mapped_column(UtcMs)
    """The time since which the organization cannot be used, because it moves to another
    installation.
    """

    # The system groups, from the widest to the narrowest, so that no query is needed for the
    # membership of a role.
    internet_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    everyone_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    members_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    fullmembers_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    moderators_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    administrators_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    owners_group_id: Mapped[int] = mapped_column(GROUP, default=0)
    nobody_group_id: Mapped[int] = mapped_column(GROUP, default=0)

    # Settings, with the names from PATCH /realm (models/chat/organization/settings.py lists them).
    default_language: Mapped[str] = mapped_column(String(50), default="en")
    email_address_visibility: Mapped[int] = mapped_column(default=1)
    emails_restricted_to_domains: Mapped[bool] = mapped_column(default=False)
    disallow_disposable_email_addresses: Mapped[bool] = mapped_column(default=True)
    require_unique_names: Mapped[bool] = mapped_column(default=False)
    name_changes_disabled: Mapped[bool] = mapped_column(default=False)
    email_changes_disabled: Mapped[bool] = mapped_column(default=False)
    avatar_changes_disabled: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Only the operator sets it: administrators may export the private data of all users.
    owner_full_content_access: Mapped[bool] = mapped_column(default=False)
    enable_spectator_access: Mapped[bool] = mapped_column(default=False)
    enable_read_receipts: Mapped[bool] = mapped_column(default=True)
    topics_policy: Mapped[str] = mapped_column(String(24), default="allow_empty_topic")
    empty_topic_display_name: Mapped[str] = mapped_column(String(60), default="general chat")
    welcome_message_custom_text: Mapped[str] = mapped_column(Text, default="")
    user_defaults: Mapped[str] = mapped_column(Text, default="{}", server_default="{}")
    """Initial settings of new users that differ from the defaults, as a JSON object."""
    message_retention_days: Mapped[int] = mapped_column(default=-1)
    allow_message_editing: Mapped[bool] = mapped_column(default=True)
    message_edit_history_visibility_policy: Mapped[str] = mapped_column(String(8), default="all")
    message_content_edit_limit_seconds: Mapped[int | None] = mapped_column(default=600)
    message_content_delete_limit_seconds: Mapped[int | None] = mapped_column(default=600)
    move_messages_within_stream_limit_seconds: Mapped[int | None] = mapped_column(default=604_800)
    move_messages_between_streams_limit_seconds: Mapped[int | None] = mapped_column(default=604_800)
    moderation_request_channel_id: Mapped[int | None] = mapped_column(BigInteger)
    new_stream_announcements_stream_id: Mapped[int | None] = mapped_column(BigInteger)
    can_access_all_users_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_add_custom_emoji_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_add_subscribers_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_create_bots_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_create_groups: Mapped[int] = mapped_column(GROUP, default=0)
    can_create_private_channel_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_create_public_channel_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_create_web_public_channel_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_create_write_only_bots_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_delete_any_message_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_delete_own_message_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_invite_users_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_manage_all_groups: Mapped[int] = mapped_column(GROUP, default=0)
    can_mention_many_users_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_move_messages_between_channels_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_move_messages_between_topics_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_resolve_topics_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_set_delete_message_policy_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_set_topics_policy_group: Mapped[int] = mapped_column(GROUP, default=0)
    create_multiuse_invite_group: Mapped[int] = mapped_column(GROUP, default=0)
    direct_message_initiator_group: Mapped[int] = mapped_column(GROUP, default=0)
    direct_message_permission_group: Mapped[int] = mapped_column(GROUP, default=0)


class RealmDomain(ChatBase):
    """A permitted email domain if emails are restricted, in lower case."""

    __tablename__ = "realm_domain"
    __table_args__ = (UniqueConstraint("realm_id", "domain"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    domain: Mapped[str] = mapped_column(String(255))
    allow_subdomains: Mapped[bool] = mapped_column(default=False)


class Linkifier(ChatBase):
    """A pattern whose matches in messages become links. Linkifiers are applied in the order of
    `position`, then by id.
    """

    __tablename__ = "linkifier"
    __table_args__ = (UniqueConstraint("realm_id", "pattern"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    pattern: Mapped[str] = mapped_column(Text)
    url_template: Mapped[str] = mapped_column(Text)
    example_input: Mapped[str | None] = mapped_column(Text)
    reverse_template: Mapped[str | None] = mapped_column(Text)
    alternative_url_templates: Mapped[str] = mapped_column(Text, default="[]")  # JSON array
    position: Mapped[int] = mapped_column(default=0)


class Playground(ChatBase):
    """A site on which code blocks of a language can be run. Its template has one variable,
    `code`.
    """

    __tablename__ = "playground"
    __table_args__ = (
        UniqueConstraint("realm_id", "syntax_language", "name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    syntax_language: Mapped[str] = mapped_column(String(40))
    name: Mapped[str] = mapped_column(Text)
    url_template: Mapped[str] = mapped_column(Text)


class RealmEmoji(ChatBase):
    """A custom emoji. Its id is its `emoji_code` with the reaction_type `realm_emoji`.

    `handle` identifies the image in the store. An animation also has a still image.
    """

    __tablename__ = "realm_emoji"
    __table_args__ = (Index(None, "realm_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    name: Mapped[str] = mapped_column(String(60))
    source_url: Mapped[str] = mapped_column(Text)
    still_url: Mapped[str | None] = mapped_column(Text)
    handle: Mapped[str | None] = mapped_column(String(32), index=True)
    author_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    is_deactivated: Mapped[bool] = mapped_column(default=False)
