"""Users and bots, with status and custom profile."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, MappedColumn, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import key_of
from models.chat.tables.setting_table import ALL, Setting
from specd.db import RowNumber, UtcMs


class User(ChatBase):
    """A user or a bot (`bot_type` is not null) of one realm.

    `email_key` is the real email, casefolded: it is unique in a realm. The API key is not stored:
    `api_key_sha256` identifies its user, and `api_key_nonce` derives the key again
    (models/chat/identity/api_keys.py). Every setting of models/chat/tables/setting_table.py is a
    column, including settings that only clients use.
    """

    __tablename__ = "user"
    __table_args__ = (
        UniqueConstraint("realm_id", "email_key"),
        Index(None, "realm_id", "role"),
        Index("ix_user_realm_id_lower_full_name", "realm_id", text("lower(full_name)")),
        CheckConstraint("role IN (100, 200, 300, 400, 600)", name="role"),
        CheckConstraint("bot_type IS NULL OR bot_type BETWEEN 1 AND 4", name="bot_type"),
        CheckConstraint("email_address_visibility BETWEEN 1 AND 5", name="visibility"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    delivery_email: Mapped[str] = mapped_column(String(254))
    email_key: Mapped[str] = mapped_column(String(254))
    full_name: Mapped[str] = mapped_column(String(100))
    role: Mapped[int] = mapped_column(default=400)
    bot_type: Mapped[int | None] = mapped_column()
    bot_owner_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"), index=True)
    is_active: Mapped[bool] = mapped_column(default=True)
    is_imported_stub: Mapped[bool] = mapped_column(default=False)
    is_deleted: Mapped[bool] = mapped_column(default=False)
    # For example the realm's notification bot. System bots cannot sign in and have no owner.
    is_system_bot: Mapped[bool] = mapped_column(default=False)
    date_joined: Mapped[datetime] = mapped_column(UtcMs)
    timezone: Mapped[str] = mapped_column(String(40), default="")
    default_language: Mapped[str] = mapped_column(String(50), default="en")
    avatar_version: Mapped[int] = mapped_column(default=1)
    # Identifies the user's uploaded avatar in the store (models/chat/uploads/names.py).
    avatar_handle: Mapped[str | None] = mapped_column(String(32), index=True)
    email_address_visibility: Mapped[int] = mapped_column(default=1)
    presence_enabled: Mapped[bool] = mapped_column(default=True)
    automatically_follow_topics_policy: Mapped[int] = mapped_column(default=3)
    automatically_unmute_topics_in_muted_streams_policy: Mapped[int] = mapped_column(default=2)
    automatically_follow_topics_where_mentioned: Mapped[bool] = mapped_column(default=True)
    can_create_users: Mapped[bool] = mapped_column(default=False)
    can_change_user_emails: Mapped[bool] = mapped_column(default=False)
    # Created by an administrator: `date_joined` is set again at the first sign-in.
    awaits_first_sign_in: Mapped[bool] = mapped_column(default=False)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    api_key_nonce: Mapped[str] = mapped_column(String(32))
    api_key_sha256: Mapped[str] = mapped_column(String(64), unique=True)


def _column_of(setting: Setting) -> MappedColumn[Any]:
    match setting.default:
        case bool():
            return mapped_column(Boolean, default=setting.default, nullable=False)
        case int():
            return mapped_column(Integer, default=setting.default, nullable=False)
    return mapped_column(String(setting.length), default=setting.default, nullable=False)


for _setting in ALL:
    if not hasattr(User, _setting.name):
        setattr(User, _setting.name, _column_of(_setting))


class EmailChange(ChatBase):
    """A new address that is not confirmed yet, and the token that was mailed to it."""

    __tablename__ = "email_change"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"), index=True)
    new_email: Mapped[str] = mapped_column(String(254))
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    expires_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class UserStatus(ChatBase):
    """A user's status. Users without a row have no status."""

    __tablename__ = "user_status"

    user_id: Mapped[int] = key_of("user.id")
    status_text: Mapped[str] = mapped_column(String(60), default="")
    emoji_name: Mapped[str] = mapped_column(String(100), default="")
    emoji_code: Mapped[str] = mapped_column(String(100), default="")
    reaction_type: Mapped[str] = mapped_column(String(32), default="")
    updated_at: Mapped[datetime] = mapped_column(UtcMs)


class ProfileField(ChatBase):
    """A custom profile field of a realm. `type` is a number of the API, from 1 (short text) to 8
    (pronouns).
    """

    __tablename__ = "profile_field"
    __table_args__ = (
        UniqueConstraint("realm_id", "name"),
        CheckConstraint("type BETWEEN 1 AND 8", name="type"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    name: Mapped[str] = mapped_column(String(40))
    type: Mapped[int] = mapped_column()
    hint: Mapped[str] = mapped_column(String(80), default="")
    field_data: Mapped[str] = mapped_column(Text, default="")
    position: Mapped[int] = mapped_column(default=0)
    is_required: Mapped[bool] = mapped_column(default=False)
    editable_by_user: Mapped[bool] = mapped_column(default=True)
    display_in_profile_summary: Mapped[bool] = mapped_column(default=False)
    use_for_user_matching: Mapped[bool] = mapped_column(default=False)


class ProfileValue(ChatBase):
    """A user's value of a custom profile field. Only Markdown fields have a `rendered_value`."""

    __tablename__ = "profile_value"

    user_id: Mapped[int] = key_of("user.id")
    field_id: Mapped[int] = key_of("profile_field.id")
    value: Mapped[str] = mapped_column(Text)
    rendered_value: Mapped[str | None] = mapped_column(Text)
