"""The chat service's first tables.

Spelled out in plain column types, so that this page of history never changes with the models.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "message_archive",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("sender_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("conversation_id", sa.BigInteger(), nullable=True),
        sa.Column("topic", sa.String(length=60), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("rendered_content", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), nullable=False),
        sa.Column("archived_by", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_message_archive"),
    )
    op.create_index(
        "ix_message_archive_archived_at", "message_archive", ["archived_at"], unique=False
    )
    op.create_table(
        "realm",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column("date_created", sa.BigInteger(), nullable=False),
        sa.Column("is_deactivated", sa.Boolean(), nullable=False),
        sa.Column("internet_group_id", sa.BigInteger(), nullable=False),
        sa.Column("everyone_group_id", sa.BigInteger(), nullable=False),
        sa.Column("members_group_id", sa.BigInteger(), nullable=False),
        sa.Column("fullmembers_group_id", sa.BigInteger(), nullable=False),
        sa.Column("moderators_group_id", sa.BigInteger(), nullable=False),
        sa.Column("administrators_group_id", sa.BigInteger(), nullable=False),
        sa.Column("owners_group_id", sa.BigInteger(), nullable=False),
        sa.Column("nobody_group_id", sa.BigInteger(), nullable=False),
        sa.Column("default_language", sa.String(length=50), nullable=False),
        sa.Column("email_address_visibility", sa.Integer(), nullable=False),
        sa.Column("enable_spectator_access", sa.Boolean(), nullable=False),
        sa.Column("topics_policy", sa.String(length=24), nullable=False),
        sa.Column("empty_topic_display_name", sa.String(length=60), nullable=False),
        sa.Column("message_retention_days", sa.Integer(), nullable=False),
        sa.Column("allow_message_editing", sa.Boolean(), nullable=False),
        sa.Column("message_edit_history_visibility_policy", sa.String(length=8), nullable=False),
        sa.Column("message_content_edit_limit_seconds", sa.Integer(), nullable=True),
        sa.Column("message_content_delete_limit_seconds", sa.Integer(), nullable=True),
        sa.Column("move_messages_within_stream_limit_seconds", sa.Integer(), nullable=True),
        sa.Column("move_messages_between_streams_limit_seconds", sa.Integer(), nullable=True),
        sa.Column("moderation_request_channel_id", sa.BigInteger(), nullable=True),
        sa.Column("new_stream_announcements_stream_id", sa.BigInteger(), nullable=True),
        sa.Column("can_access_all_users_group", sa.BigInteger(), nullable=False),
        sa.Column("can_add_subscribers_group", sa.BigInteger(), nullable=False),
        sa.Column("can_create_groups", sa.BigInteger(), nullable=False),
        sa.Column("can_create_private_channel_group", sa.BigInteger(), nullable=False),
        sa.Column("can_create_public_channel_group", sa.BigInteger(), nullable=False),
        sa.Column("can_create_web_public_channel_group", sa.BigInteger(), nullable=False),
        sa.Column("can_delete_any_message_group", sa.BigInteger(), nullable=False),
        sa.Column("can_delete_own_message_group", sa.BigInteger(), nullable=False),
        sa.Column("can_manage_all_groups", sa.BigInteger(), nullable=False),
        sa.Column("can_mention_many_users_group", sa.BigInteger(), nullable=False),
        sa.Column("can_move_messages_between_channels_group", sa.BigInteger(), nullable=False),
        sa.Column("can_move_messages_between_topics_group", sa.BigInteger(), nullable=False),
        sa.Column("can_resolve_topics_group", sa.BigInteger(), nullable=False),
        sa.Column("can_set_delete_message_policy_group", sa.BigInteger(), nullable=False),
        sa.Column("can_set_topics_policy_group", sa.BigInteger(), nullable=False),
        sa.Column("direct_message_initiator_group", sa.BigInteger(), nullable=False),
        sa.Column("direct_message_permission_group", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_realm"),
        sa.UniqueConstraint("host", name="uq_realm_host"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "audit_log",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("actor_id", sa.BigInteger(), nullable=True),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("group_id", sa.BigInteger(), nullable=True),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_audit_log_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_audit_log_realm_id_kind_at", "audit_log", ["realm_id", "kind", "at"], unique=False
    )
    op.create_table(
        "conversation",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_conversation_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_conversation"),
        sa.UniqueConstraint("realm_id", "key", name="uq_conversation_realm_id_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "event",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("audience", sa.String(length=16), nullable=False),
        sa.Column("user_ids", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_event_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_event_realm_id_id", "event", ["realm_id", "id"], unique=False)
    op.create_table(
        "linkifier",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("url_template", sa.Text(), nullable=False),
        sa.Column("example_input", sa.Text(), nullable=True),
        sa.Column("reverse_template", sa.Text(), nullable=True),
        sa.Column("alternative_url_templates", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_linkifier_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_linkifier"),
        sa.UniqueConstraint("realm_id", "pattern", name="uq_linkifier_realm_id_pattern"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "profile_field",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("type", sa.Integer(), nullable=False),
        sa.Column("hint", sa.String(length=80), nullable=False),
        sa.Column("field_data", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("is_required", sa.Boolean(), nullable=False),
        sa.Column("editable_by_user", sa.Boolean(), nullable=False),
        sa.Column("display_in_profile_summary", sa.Boolean(), nullable=False),
        sa.Column("use_for_user_matching", sa.Boolean(), nullable=False),
        sa.CheckConstraint("type BETWEEN 1 AND 8", name="ck_profile_field_type"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_profile_field_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_profile_field"),
        sa.UniqueConstraint("realm_id", "name", name="uq_profile_field_realm_id_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "user",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("delivery_email", sa.String(length=254), nullable=False),
        sa.Column("email_key", sa.String(length=254), nullable=False),
        sa.Column("full_name", sa.String(length=100), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("bot_type", sa.Integer(), nullable=True),
        sa.Column("bot_owner_id", sa.BigInteger(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_imported_stub", sa.Boolean(), nullable=False),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.Column("is_system_bot", sa.Boolean(), nullable=False),
        sa.Column("date_joined", sa.BigInteger(), nullable=False),
        sa.Column("timezone", sa.String(length=40), nullable=False),
        sa.Column("default_language", sa.String(length=50), nullable=False),
        sa.Column("avatar_version", sa.Integer(), nullable=False),
        sa.Column("email_address_visibility", sa.Integer(), nullable=False),
        sa.Column("presence_enabled", sa.Boolean(), nullable=False),
        sa.Column("automatically_follow_topics_policy", sa.Integer(), nullable=False),
        sa.Column(
            "automatically_unmute_topics_in_muted_streams_policy", sa.Integer(), nullable=False
        ),
        sa.Column("automatically_follow_topics_where_mentioned", sa.Boolean(), nullable=False),
        sa.Column("can_create_users", sa.Boolean(), nullable=False),
        sa.Column("can_change_user_emails", sa.Boolean(), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("api_key_nonce", sa.String(length=32), nullable=False),
        sa.Column("api_key_sha256", sa.String(length=64), nullable=False),
        sa.CheckConstraint("bot_type IS NULL OR bot_type BETWEEN 1 AND 4", name="ck_user_bot_type"),
        sa.CheckConstraint("email_address_visibility BETWEEN 1 AND 5", name="ck_user_visibility"),
        sa.CheckConstraint("role IN (100, 200, 300, 400, 600)", name="ck_user_role"),
        sa.ForeignKeyConstraint(["bot_owner_id"], ["user.id"], name="fk_user_bot_owner_id_user"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_user_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_user"),
        sa.UniqueConstraint("api_key_sha256", name="uq_user_api_key_sha256"),
        sa.UniqueConstraint("realm_id", "email_key", name="uq_user_realm_id_email_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_user_bot_owner_id", "user", ["bot_owner_id"], unique=False)
    op.create_index("ix_user_realm_id_role", "user", ["realm_id", "role"], unique=False)
    op.create_table(
        "channel_folder",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("description", sa.String(length=1024), nullable=False),
        sa.Column("rendered_description", sa.Text(), nullable=False),
        sa.Column("creator_id", sa.BigInteger(), nullable=True),
        sa.Column("date_created", sa.BigInteger(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["creator_id"], ["user.id"], name="fk_channel_folder_creator_id_user"
        ),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_channel_folder_realm_id_realm"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_channel_folder"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_channel_folder_realm_id", "channel_folder", ["realm_id"], unique=False)
    op.create_table(
        "conversation_member",
        sa.Column("conversation_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversation.id"],
            name="fk_conversation_member_conversation_id_conversation",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name="fk_conversation_member_user_id_user"
        ),
        sa.PrimaryKeyConstraint("conversation_id", "user_id", name="pk_conversation_member"),
    )
    op.create_index(
        "ix_conversation_member_user_id_conversation_id",
        "conversation_member",
        ["user_id", "conversation_id"],
        unique=False,
    )
    op.create_table(
        "idempotency_key",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("operation", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_idempotency_key_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", "key", name="pk_idempotency_key"),
    )
    op.create_index(
        "ix_idempotency_key_created_at", "idempotency_key", ["created_at"], unique=False
    )
    op.create_table(
        "profile_value",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("field_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("rendered_value", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["field_id"], ["profile_field.id"], name="fk_profile_value_field_id_profile_field"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_profile_value_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", "field_id", name="pk_profile_value"),
    )
    op.create_table(
        "realm_emoji",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("source_url", sa.Text(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=True),
        sa.Column("is_deactivated", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["user.id"], name="fk_realm_emoji_author_id_user"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_realm_emoji_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_realm_emoji"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_realm_emoji_realm_id_name", "realm_emoji", ["realm_id", "name"], unique=False
    )
    op.create_table(
        "user_group",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=True),
        sa.Column("name_key", sa.String(length=200), nullable=True),
        sa.Column("description", sa.String(length=1024), nullable=False),
        sa.Column("creator_id", sa.BigInteger(), nullable=True),
        sa.Column("date_created", sa.BigInteger(), nullable=False),
        sa.Column("is_deactivated", sa.Boolean(), nullable=False),
        sa.Column("can_add_members_group", sa.BigInteger(), nullable=False),
        sa.Column("can_join_group", sa.BigInteger(), nullable=False),
        sa.Column("can_leave_group", sa.BigInteger(), nullable=False),
        sa.Column("can_manage_group", sa.BigInteger(), nullable=False),
        sa.Column("can_mention_group", sa.BigInteger(), nullable=False),
        sa.Column("can_remove_members_group", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("(kind = 'anonymous') = (name IS NULL)", name="ck_user_group_name"),
        sa.CheckConstraint("kind IN ('system', 'named', 'anonymous')", name="ck_user_group_kind"),
        sa.ForeignKeyConstraint(["creator_id"], ["user.id"], name="fk_user_group_creator_id_user"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_user_group_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_user_group"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_user_group_realm_id_name_key", "user_group", ["realm_id", "name_key"], unique=True
    )
    op.create_table(
        "user_status",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("status_text", sa.String(length=60), nullable=False),
        sa.Column("emoji_name", sa.String(length=100), nullable=False),
        sa.Column("emoji_code", sa.String(length=100), nullable=False),
        sa.Column("reaction_type", sa.String(length=32), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_user_status_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", name="pk_user_status"),
    )
    op.create_table(
        "channel",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("name_key", sa.String(length=200), nullable=False),
        sa.Column("description", sa.String(length=1024), nullable=False),
        sa.Column("rendered_description", sa.Text(), nullable=False),
        sa.Column("invite_only", sa.Boolean(), nullable=False),
        sa.Column("is_web_public", sa.Boolean(), nullable=False),
        sa.Column("history_public_to_subscribers", sa.Boolean(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), nullable=False),
        sa.Column("creator_id", sa.BigInteger(), nullable=True),
        sa.Column("date_created", sa.BigInteger(), nullable=False),
        sa.Column("folder_id", sa.BigInteger(), nullable=True),
        sa.Column("message_retention_days", sa.Integer(), nullable=True),
        sa.Column("topics_policy", sa.String(length=24), nullable=False),
        sa.Column("first_message_id", sa.BigInteger(), nullable=True),
        sa.Column("can_add_subscribers_group", sa.BigInteger(), nullable=False),
        sa.Column("can_administer_channel_group", sa.BigInteger(), nullable=False),
        sa.Column("can_create_topic_group", sa.BigInteger(), nullable=False),
        sa.Column("can_delete_any_message_group", sa.BigInteger(), nullable=False),
        sa.Column("can_delete_own_message_group", sa.BigInteger(), nullable=False),
        sa.Column("can_move_messages_out_of_channel_group", sa.BigInteger(), nullable=False),
        sa.Column("can_move_messages_within_channel_group", sa.BigInteger(), nullable=False),
        sa.Column("can_remove_subscribers_group", sa.BigInteger(), nullable=False),
        sa.Column("can_resolve_topics_group", sa.BigInteger(), nullable=False),
        sa.Column("can_send_message_group", sa.BigInteger(), nullable=False),
        sa.Column("can_subscribe_group", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "topics_policy IN ('inherit', 'allow_empty_topic', 'disable_empty_topic',"
            " 'empty_topic_only')",
            name="ck_channel_topics_policy",
        ),
        sa.CheckConstraint("NOT (invite_only AND is_web_public)", name="ck_channel_privacy"),
        sa.ForeignKeyConstraint(["creator_id"], ["user.id"], name="fk_channel_creator_id_user"),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["channel_folder.id"], name="fk_channel_folder_id_channel_folder"
        ),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_channel_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_channel"),
        sa.UniqueConstraint("realm_id", "name_key", name="uq_channel_realm_id_name_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "subgroup",
        sa.Column("group_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("subgroup_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.CheckConstraint("group_id <> subgroup_id", name="ck_subgroup_not_itself"),
        sa.ForeignKeyConstraint(
            ["group_id"], ["user_group.id"], name="fk_subgroup_group_id_user_group"
        ),
        sa.ForeignKeyConstraint(
            ["subgroup_id"], ["user_group.id"], name="fk_subgroup_subgroup_id_user_group"
        ),
        sa.PrimaryKeyConstraint("group_id", "subgroup_id", name="pk_subgroup"),
    )
    op.create_index(
        "ix_subgroup_subgroup_id_group_id", "subgroup", ["subgroup_id", "group_id"], unique=False
    )
    op.create_table(
        "user_group_member",
        sa.Column("group_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["user_group.id"], name="fk_user_group_member_group_id_user_group"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_user_group_member_user_id_user"),
        sa.PrimaryKeyConstraint("group_id", "user_id", name="pk_user_group_member"),
    )
    op.create_index(
        "ix_user_group_member_user_id_group_id",
        "user_group_member",
        ["user_id", "group_id"],
        unique=False,
    )
    op.create_table(
        "default_channel",
        sa.Column("channel_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name="fk_default_channel_channel_id_channel"
        ),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_default_channel_realm_id_realm"
        ),
        sa.PrimaryKeyConstraint("channel_id", name="pk_default_channel"),
    )
    op.create_index("ix_default_channel_realm_id", "default_channel", ["realm_id"], unique=False)
    op.create_table(
        "message",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("sender_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("conversation_id", sa.BigInteger(), nullable=True),
        sa.Column("topic", sa.String(length=60), nullable=False),
        sa.Column("topic_key", sa.String(length=200), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("rendered_content", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.Column("last_edit_at", sa.BigInteger(), nullable=True),
        sa.Column("last_moved_at", sa.BigInteger(), nullable=True),
        sa.Column("has_link", sa.Boolean(), nullable=False),
        sa.Column("has_image", sa.Boolean(), nullable=False),
        sa.Column("has_attachment", sa.Boolean(), nullable=False),
        sa.Column("client", sa.String(length=30), nullable=False),
        sa.Column("scheduled_message_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(channel_id IS NULL) <> (conversation_id IS NULL)", name="ck_message_one_recipient"
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name="fk_message_channel_id_channel"
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversation.id"], name="fk_message_conversation_id_conversation"
        ),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_message_realm_id_realm"),
        sa.ForeignKeyConstraint(["sender_id"], ["user.id"], name="fk_message_sender_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_message"),
        sa.UniqueConstraint("scheduled_message_id", name="uq_message_scheduled_message_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_message_channel_id_id", "message", ["channel_id", "id"], unique=False)
    op.create_index(
        "ix_message_channel_id_topic_key_id",
        "message",
        ["channel_id", "topic_key", "id"],
        unique=False,
    )
    op.create_index(
        "ix_message_conversation_id_id", "message", ["conversation_id", "id"], unique=False
    )
    op.create_index("ix_message_realm_id_id", "message", ["realm_id", "id"], unique=False)
    op.create_index("ix_message_sender_id_id", "message", ["sender_id", "id"], unique=False)
    op.create_table(
        "scheduled_message",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("sender_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("recipient_ids", sa.Text(), nullable=True),
        sa.Column("topic", sa.String(length=60), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("rendered_content", sa.Text(), nullable=False),
        sa.Column("client", sa.String(length=30), nullable=False),
        sa.Column("read_by_sender", sa.Boolean(), nullable=False),
        sa.Column("scheduled_at", sa.BigInteger(), nullable=False),
        sa.Column("next_try_at", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "(state = 'sent') = (message_id IS NOT NULL)", name="ck_scheduled_message_message_id"
        ),
        sa.CheckConstraint(
            "state IN ('pending', 'sent', 'failed')", name="ck_scheduled_message_state"
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name="fk_scheduled_message_channel_id_channel"
        ),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_scheduled_message_realm_id_realm"
        ),
        sa.ForeignKeyConstraint(
            ["sender_id"], ["user.id"], name="fk_scheduled_message_sender_id_user"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_scheduled_message"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_scheduled_message_due",
        "scheduled_message",
        ["next_try_at", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'pending'"),
        sqlite_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_scheduled_message_sender_id_scheduled_at",
        "scheduled_message",
        ["sender_id", "scheduled_at"],
        unique=False,
    )
    op.create_table(
        "subscription",
        sa.Column("channel_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("color", sa.String(length=7), nullable=False),
        sa.Column("is_muted", sa.Boolean(), nullable=False),
        sa.Column("pin_to_top", sa.Boolean(), nullable=False),
        sa.Column("desktop_notifications", sa.Boolean(), nullable=True),
        sa.Column("audible_notifications", sa.Boolean(), nullable=True),
        sa.Column("push_notifications", sa.Boolean(), nullable=True),
        sa.Column("email_notifications", sa.Boolean(), nullable=True),
        sa.Column("wildcard_mentions_notify", sa.Boolean(), nullable=True),
        sa.Column("subscribed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name="fk_subscription_channel_id_channel"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_subscription_user_id_user"),
        sa.PrimaryKeyConstraint("channel_id", "user_id", name="pk_subscription"),
    )
    op.create_index(
        "ix_subscription_user_id_is_active_channel_id",
        "subscription",
        ["user_id", "is_active", "channel_id"],
        unique=False,
    )
    op.create_table(
        "topic",
        sa.Column("channel_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("topic_key", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("max_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["channel_id"], ["channel.id"], name="fk_topic_channel_id_channel"),
        sa.PrimaryKeyConstraint("channel_id", "topic_key", name="pk_topic"),
    )
    op.create_index("ix_topic_channel_id_max_id", "topic", ["channel_id", "max_id"], unique=False)
    op.create_table(
        "user_topic",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("topic_key", sa.String(length=200), nullable=False),
        sa.Column("topic", sa.String(length=60), nullable=False),
        sa.Column("visibility_policy", sa.Integer(), nullable=False),
        sa.Column("last_updated", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "visibility_policy IN (1, 2, 3)", name="ck_user_topic_visibility_policy"
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name="fk_user_topic_channel_id_channel"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_user_topic_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", "channel_id", "topic_key", name="pk_user_topic"),
    )
    op.create_index(
        "ix_user_topic_channel_id_topic_key",
        "user_topic",
        ["channel_id", "topic_key"],
        unique=False,
    )
    op.create_table(
        "message_edit",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("editor_id", sa.BigInteger(), nullable=True),
        sa.Column("edited_at", sa.BigInteger(), nullable=False),
        sa.Column("prev_topic", sa.String(length=60), nullable=True),
        sa.Column("prev_channel_id", sa.BigInteger(), nullable=True),
        sa.Column("prev_content", sa.Text(), nullable=True),
        sa.Column("prev_rendered_content", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["editor_id"], ["user.id"], name="fk_message_edit_editor_id_user"),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message.id"],
            name="fk_message_edit_message_id_message",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_message_edit"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_message_edit_message_id_id", "message_edit", ["message_id", "id"], unique=False
    )
    op.create_table(
        "reaction",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("reaction_type", sa.String(length=32), nullable=False),
        sa.Column("emoji_code", sa.String(length=100), nullable=False),
        sa.Column("emoji_name", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message.id"],
            name="fk_reaction_message_id_message",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_reaction_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_reaction"),
        sa.UniqueConstraint(
            "message_id",
            "user_id",
            "reaction_type",
            "emoji_code",
            name="uq_reaction_message_id_user_id_reaction_type_emoji_code",
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "user_message",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("flags", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message.id"],
            name="fk_user_message_message_id_message",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_user_message_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", "message_id", name="pk_user_message"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_user_message_mentioned",
        "user_message",
        ["user_id", "message_id"],
        unique=False,
        postgresql_where=sa.text("flags & 120 <> 0"),
        sqlite_where=sa.text("flags & 120 <> 0"),
    )
    op.create_index("ix_user_message_message_id", "user_message", ["message_id"], unique=False)
    op.create_index(
        "ix_user_message_starred",
        "user_message",
        ["user_id", "message_id"],
        unique=False,
        postgresql_where=sa.text("flags & 2 <> 0"),
        sqlite_where=sa.text("flags & 2 <> 0"),
    )
    op.create_index(
        "ix_user_message_unread",
        "user_message",
        ["user_id", "message_id"],
        unique=False,
        postgresql_where=sa.text("flags & 1 = 0"),
        sqlite_where=sa.text("flags & 1 = 0"),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE message_search USING fts5("
            "topic, content, tokenize = 'porter unicode61')"
        )
    else:
        op.execute(
            "CREATE TABLE message_search (message_id BIGINT NOT NULL,"
            " vector TSVECTOR NOT NULL, CONSTRAINT pk_message_search PRIMARY KEY (message_id))"
        )
        op.execute("CREATE INDEX ix_message_search_vector ON message_search USING gin (vector)")
