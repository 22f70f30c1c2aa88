"""The schema of the first release. It stays as it is: later migrations change what it makes."""

from alembic import op

from models.migrations.statements import execute_all

revision = "0001"
down_revision = None
oldest = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE realm (
    id {number} NOT NULL CONSTRAINT pk_realm PRIMARY KEY {autoincrement},
    host VARCHAR(255) NOT NULL,
    name VARCHAR(40) NOT NULL,
    description VARCHAR(1000) NOT NULL,
    date_created BIGINT NOT NULL,
    is_deactivated BOOLEAN NOT NULL,
    internet_group_id BIGINT NOT NULL,
    everyone_group_id BIGINT NOT NULL,
    members_group_id BIGINT NOT NULL,
    fullmembers_group_id BIGINT NOT NULL,
    moderators_group_id BIGINT NOT NULL,
    administrators_group_id BIGINT NOT NULL,
    owners_group_id BIGINT NOT NULL,
    nobody_group_id BIGINT NOT NULL,
    default_language VARCHAR(50) NOT NULL,
    email_address_visibility INTEGER NOT NULL,
    emails_restricted_to_domains BOOLEAN NOT NULL,
    disallow_disposable_email_addresses BOOLEAN NOT NULL,
    require_unique_names BOOLEAN NOT NULL,
    name_changes_disabled BOOLEAN NOT NULL,
    email_changes_disabled BOOLEAN NOT NULL,
    owner_full_content_access BOOLEAN NOT NULL,
    enable_spectator_access BOOLEAN NOT NULL,
    enable_read_receipts BOOLEAN NOT NULL,
    topics_policy VARCHAR(24) NOT NULL,
    empty_topic_display_name VARCHAR(60) NOT NULL,
    welcome_message_custom_text TEXT NOT NULL,
    message_retention_days INTEGER NOT NULL,
    allow_message_editing BOOLEAN NOT NULL,
    message_edit_history_visibility_policy VARCHAR(8) NOT NULL,
    message_content_edit_limit_seconds INTEGER,
    message_content_delete_limit_seconds INTEGER,
    move_messages_within_stream_limit_seconds INTEGER,
    move_messages_between_streams_limit_seconds INTEGER,
    moderation_request_channel_id BIGINT,
    new_stream_announcements_stream_id BIGINT,
    can_access_all_users_group BIGINT NOT NULL,
    can_add_custom_emoji_group BIGINT NOT NULL,
    can_add_subscribers_group BIGINT NOT NULL,
    can_create_bots_group BIGINT NOT NULL,
    can_create_groups BIGINT NOT NULL,
    can_create_private_channel_group BIGINT NOT NULL,
    can_create_public_channel_group BIGINT NOT NULL,
    can_create_web_public_channel_group BIGINT NOT NULL,
    can_create_write_only_bots_group BIGINT NOT NULL,
    can_delete_any_message_group BIGINT NOT NULL,
    can_delete_own_message_group BIGINT NOT NULL,
    can_invite_users_group BIGINT NOT NULL,
    can_manage_all_groups BIGINT NOT NULL,
    can_mention_many_users_group BIGINT NOT NULL,
    can_move_messages_between_channels_group BIGINT NOT NULL,
    can_move_messages_between_topics_group BIGINT NOT NULL,
    can_resolve_topics_group BIGINT NOT NULL,
    can_set_delete_message_policy_group BIGINT NOT NULL,
    can_set_topics_policy_group BIGINT NOT NULL,
    create_multiuse_invite_group BIGINT NOT NULL,
    direct_message_initiator_group BIGINT NOT NULL,
    direct_message_permission_group BIGINT NOT NULL,
    CONSTRAINT uq_realm_host UNIQUE (host)
);
CREATE TABLE realm_domain (
    id {number} NOT NULL CONSTRAINT pk_realm_domain PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    domain VARCHAR(255) NOT NULL,
    allow_subdomains BOOLEAN NOT NULL,
    CONSTRAINT fk_realm_domain_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_realm_domain_realm_id_domain UNIQUE (realm_id, domain)
);
CREATE TABLE linkifier (
    id {number} NOT NULL CONSTRAINT pk_linkifier PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    pattern TEXT NOT NULL,
    url_template TEXT NOT NULL,
    example_input TEXT,
    reverse_template TEXT,
    alternative_url_templates TEXT NOT NULL,
    position INTEGER NOT NULL,
    CONSTRAINT fk_linkifier_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_linkifier_realm_id_pattern UNIQUE (realm_id, pattern)
);
CREATE TABLE playground (
    id {number} NOT NULL CONSTRAINT pk_playground PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    syntax_language VARCHAR(40) NOT NULL,
    name TEXT NOT NULL,
    url_template TEXT NOT NULL,
    CONSTRAINT fk_playground_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_playground_realm_id_syntax_language_name
        UNIQUE (realm_id, syntax_language, name)
);
CREATE TABLE "user" (
    id {number} NOT NULL CONSTRAINT pk_user PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    delivery_email VARCHAR(254) NOT NULL,
    email_key VARCHAR(254) NOT NULL,
    full_name VARCHAR(100) NOT NULL,
    role INTEGER NOT NULL,
    bot_type INTEGER,
    bot_owner_id BIGINT,
    is_active BOOLEAN NOT NULL,
    is_imported_stub BOOLEAN NOT NULL,
    is_deleted BOOLEAN NOT NULL,
    is_system_bot BOOLEAN NOT NULL,
    date_joined BIGINT NOT NULL,
    timezone VARCHAR(40) NOT NULL,
    default_language VARCHAR(50) NOT NULL,
    avatar_version INTEGER NOT NULL,
    email_address_visibility INTEGER NOT NULL,
    presence_enabled BOOLEAN NOT NULL,
    automatically_follow_topics_policy INTEGER NOT NULL,
    automatically_unmute_topics_in_muted_streams_policy INTEGER NOT NULL,
    automatically_follow_topics_where_mentioned BOOLEAN NOT NULL,
    can_create_users BOOLEAN NOT NULL,
    can_change_user_emails BOOLEAN NOT NULL,
    awaits_first_sign_in BOOLEAN NOT NULL,
    password_hash VARCHAR(200),
    api_key_nonce VARCHAR(32) NOT NULL,
    api_key_sha256 VARCHAR(64) NOT NULL,
    allow_private_data_export BOOLEAN NOT NULL,
    enable_stream_audible_notifications BOOLEAN NOT NULL,
    enable_stream_desktop_notifications BOOLEAN NOT NULL,
    enable_stream_email_notifications BOOLEAN NOT NULL,
    enable_stream_push_notifications BOOLEAN NOT NULL,
    enter_sends BOOLEAN NOT NULL,
    fluid_layout_width BOOLEAN NOT NULL,
    hide_ai_features BOOLEAN NOT NULL,
    high_contrast_mode BOOLEAN NOT NULL,
    left_side_userlist BOOLEAN NOT NULL,
    translate_emoticons BOOLEAN NOT NULL,
    twenty_four_hour_time BOOLEAN NOT NULL,
    display_emoji_reaction_users BOOLEAN NOT NULL,
    enable_desktop_notifications BOOLEAN NOT NULL,
    enable_digest_emails BOOLEAN NOT NULL,
    enable_drafts_synchronization BOOLEAN NOT NULL,
    enable_followed_topic_audible_notifications BOOLEAN NOT NULL,
    enable_followed_topic_desktop_notifications BOOLEAN NOT NULL,
    enable_followed_topic_email_notifications BOOLEAN NOT NULL,
    enable_followed_topic_push_notifications BOOLEAN NOT NULL,
    enable_followed_topic_wildcard_mentions_notify BOOLEAN NOT NULL,
    enable_login_emails BOOLEAN NOT NULL,
    enable_marketing_emails BOOLEAN NOT NULL,
    enable_offline_email_notifications BOOLEAN NOT NULL,
    enable_offline_push_notifications BOOLEAN NOT NULL,
    enable_online_push_notifications BOOLEAN NOT NULL,
    enable_sounds BOOLEAN NOT NULL,
    message_content_in_email_notifications BOOLEAN NOT NULL,
    pm_content_in_desktop_notifications BOOLEAN NOT NULL,
    receives_typing_notifications BOOLEAN NOT NULL,
    send_private_typing_notifications BOOLEAN NOT NULL,
    send_read_receipts BOOLEAN NOT NULL,
    send_stream_typing_notifications BOOLEAN NOT NULL,
    starred_message_counts BOOLEAN NOT NULL,
    web_escape_navigates_to_home_view BOOLEAN NOT NULL,
    web_inbox_show_channel_folders BOOLEAN NOT NULL,
    web_left_sidebar_show_channel_folders BOOLEAN NOT NULL,
    web_left_sidebar_unreads_count_summary BOOLEAN NOT NULL,
    web_navigate_to_sent_message BOOLEAN NOT NULL,
    web_suggest_update_timezone BOOLEAN NOT NULL,
    wildcard_mentions_notify BOOLEAN NOT NULL,
    color_scheme INTEGER NOT NULL,
    demote_inactive_streams INTEGER NOT NULL,
    desktop_icon_count_display INTEGER NOT NULL,
    email_notifications_batching_period_seconds INTEGER NOT NULL,
    emojiset VARCHAR(50) NOT NULL,
    notification_sound VARCHAR(50) NOT NULL,
    realm_name_in_email_notifications_policy INTEGER NOT NULL,
    resolved_topic_notice_auto_read_policy VARCHAR(50) NOT NULL,
    user_list_style INTEGER NOT NULL,
    web_animate_image_previews VARCHAR(50) NOT NULL,
    web_channel_default_view INTEGER NOT NULL,
    web_font_size_px INTEGER NOT NULL,
    web_home_view VARCHAR(50) NOT NULL,
    web_line_height_percent INTEGER NOT NULL,
    web_mark_read_on_scroll_policy INTEGER NOT NULL,
    web_stream_unreads_count_display_policy INTEGER NOT NULL,
    CONSTRAINT fk_user_bot_owner_id_user FOREIGN KEY (bot_owner_id) REFERENCES "user" (id),
    CONSTRAINT fk_user_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_user_api_key_sha256 UNIQUE (api_key_sha256),
    CONSTRAINT uq_user_realm_id_email_key UNIQUE (realm_id, email_key),
    CONSTRAINT ck_user_bot_type CHECK (bot_type IS NULL OR bot_type BETWEEN 1 AND 4),
    CONSTRAINT ck_user_role CHECK (role IN (100, 200, 300, 400, 600)),
    CONSTRAINT ck_user_visibility CHECK (email_address_visibility BETWEEN 1 AND 5)
);
CREATE INDEX ix_user_bot_owner_id ON "user" (bot_owner_id);
CREATE INDEX ix_user_realm_id_lower_full_name ON "user" (realm_id, lower(full_name));
CREATE INDEX ix_user_realm_id_role ON "user" (realm_id, role);
CREATE TABLE realm_emoji (
    id {number} NOT NULL CONSTRAINT pk_realm_emoji PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    name VARCHAR(60) NOT NULL,
    source_url TEXT NOT NULL,
    still_url TEXT,
    handle VARCHAR(32),
    author_id BIGINT,
    is_deactivated BOOLEAN NOT NULL,
    CONSTRAINT fk_realm_emoji_author_id_user FOREIGN KEY (author_id) REFERENCES "user" (id),
    CONSTRAINT fk_realm_emoji_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id)
);
CREATE INDEX ix_realm_emoji_handle ON realm_emoji (handle);
CREATE INDEX ix_realm_emoji_realm_id_name ON realm_emoji (realm_id, name);
CREATE TABLE email_change (
    id {number} NOT NULL CONSTRAINT pk_email_change PRIMARY KEY {autoincrement},
    user_id BIGINT NOT NULL,
    new_email VARCHAR(254) NOT NULL,
    token_sha256 VARCHAR(64) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT fk_email_change_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT uq_email_change_token_sha256 UNIQUE (token_sha256)
);
CREATE INDEX ix_email_change_expires_at ON email_change (expires_at);
CREATE INDEX ix_email_change_user_id ON email_change (user_id);
CREATE TABLE user_status (
    user_id BIGINT NOT NULL CONSTRAINT pk_user_status PRIMARY KEY,
    status_text VARCHAR(60) NOT NULL,
    emoji_name VARCHAR(100) NOT NULL,
    emoji_code VARCHAR(100) NOT NULL,
    reaction_type VARCHAR(32) NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT fk_user_status_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE TABLE profile_field (
    id {number} NOT NULL CONSTRAINT pk_profile_field PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    name VARCHAR(40) NOT NULL,
    type INTEGER NOT NULL,
    hint VARCHAR(80) NOT NULL,
    field_data TEXT NOT NULL,
    position INTEGER NOT NULL,
    is_required BOOLEAN NOT NULL,
    editable_by_user BOOLEAN NOT NULL,
    display_in_profile_summary BOOLEAN NOT NULL,
    use_for_user_matching BOOLEAN NOT NULL,
    CONSTRAINT fk_profile_field_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_profile_field_realm_id_name UNIQUE (realm_id, name),
    CONSTRAINT ck_profile_field_type CHECK (type BETWEEN 1 AND 8)
);
CREATE TABLE profile_value (
    user_id BIGINT NOT NULL,
    field_id BIGINT NOT NULL,
    value TEXT NOT NULL,
    rendered_value TEXT,
    CONSTRAINT pk_profile_value PRIMARY KEY (user_id, field_id),
    CONSTRAINT fk_profile_value_field_id_profile_field
        FOREIGN KEY (field_id) REFERENCES profile_field (id),
    CONSTRAINT fk_profile_value_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE TABLE channel_folder (
    id {number} NOT NULL CONSTRAINT pk_channel_folder PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    name VARCHAR(60) NOT NULL,
    name_key VARCHAR(200) NOT NULL,
    description VARCHAR(1024) NOT NULL,
    rendered_description TEXT NOT NULL,
    creator_id BIGINT,
    date_created BIGINT NOT NULL,
    is_archived BOOLEAN NOT NULL,
    position INTEGER NOT NULL,
    CONSTRAINT fk_channel_folder_creator_id_user FOREIGN KEY (creator_id) REFERENCES "user" (id),
    CONSTRAINT fk_channel_folder_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_channel_folder_realm_id_name_key UNIQUE (realm_id, name_key)
);
CREATE INDEX ix_channel_folder_realm_id ON channel_folder (realm_id);
CREATE TABLE channel (
    id {number} NOT NULL CONSTRAINT pk_channel PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    name VARCHAR(60) NOT NULL,
    name_key VARCHAR(200) NOT NULL,
    description VARCHAR(1024) NOT NULL,
    rendered_description TEXT NOT NULL,
    invite_only BOOLEAN NOT NULL,
    is_web_public BOOLEAN NOT NULL,
    history_public_to_subscribers BOOLEAN NOT NULL,
    is_archived BOOLEAN NOT NULL,
    creator_id BIGINT,
    date_created BIGINT NOT NULL,
    folder_id BIGINT,
    message_retention_days INTEGER,
    topics_policy VARCHAR(24) NOT NULL,
    first_message_id BIGINT,
    can_add_subscribers_group BIGINT NOT NULL,
    can_administer_channel_group BIGINT NOT NULL,
    can_create_topic_group BIGINT NOT NULL,
    can_delete_any_message_group BIGINT NOT NULL,
    can_delete_own_message_group BIGINT NOT NULL,
    can_move_messages_out_of_channel_group BIGINT NOT NULL,
    can_move_messages_within_channel_group BIGINT NOT NULL,
    can_remove_subscribers_group BIGINT NOT NULL,
    can_resolve_topics_group BIGINT NOT NULL,
    can_send_message_group BIGINT NOT NULL,
    can_subscribe_group BIGINT NOT NULL,
    CONSTRAINT fk_channel_creator_id_user FOREIGN KEY (creator_id) REFERENCES "user" (id),
    CONSTRAINT fk_channel_folder_id_channel_folder
        FOREIGN KEY (folder_id) REFERENCES channel_folder (id),
    CONSTRAINT fk_channel_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_channel_realm_id_name_key UNIQUE (realm_id, name_key),
    CONSTRAINT ck_channel_privacy CHECK (NOT (invite_only AND is_web_public)),
    CONSTRAINT ck_channel_topics_policy
        CHECK (topics_policy IN
            ('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'))
);
CREATE TABLE default_channel (
    channel_id BIGINT NOT NULL CONSTRAINT pk_default_channel PRIMARY KEY,
    realm_id BIGINT NOT NULL,
    CONSTRAINT fk_default_channel_channel_id_channel
        FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_default_channel_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id)
);
CREATE INDEX ix_default_channel_realm_id ON default_channel (realm_id);
CREATE TABLE subscription (
    channel_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    is_active BOOLEAN NOT NULL,
    color VARCHAR(7) NOT NULL,
    is_muted BOOLEAN NOT NULL,
    pin_to_top BOOLEAN NOT NULL,
    desktop_notifications BOOLEAN,
    audible_notifications BOOLEAN,
    push_notifications BOOLEAN,
    email_notifications BOOLEAN,
    wildcard_mentions_notify BOOLEAN,
    subscribed_at BIGINT NOT NULL,
    joined_after_id BIGINT NOT NULL,
    CONSTRAINT pk_subscription PRIMARY KEY (channel_id, user_id),
    CONSTRAINT fk_subscription_channel_id_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_subscription_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_subscription_user_id_is_active_channel_id
    ON subscription (user_id, is_active, channel_id);
CREATE TABLE topic (
    channel_id BIGINT NOT NULL,
    topic_key VARCHAR(200) NOT NULL,
    name VARCHAR(60) NOT NULL,
    max_id BIGINT NOT NULL,
    CONSTRAINT pk_topic PRIMARY KEY (channel_id, topic_key),
    CONSTRAINT fk_topic_channel_id_channel FOREIGN KEY (channel_id) REFERENCES channel (id)
);
CREATE INDEX ix_topic_channel_id_max_id_name ON topic (channel_id, max_id, name);
CREATE TABLE user_topic (
    user_id BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,
    topic_key VARCHAR(200) NOT NULL,
    topic VARCHAR(60) NOT NULL,
    visibility_policy INTEGER NOT NULL,
    last_updated BIGINT NOT NULL,
    CONSTRAINT pk_user_topic PRIMARY KEY (user_id, channel_id, topic_key),
    CONSTRAINT fk_user_topic_channel_id_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_user_topic_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT ck_user_topic_visibility_policy CHECK (visibility_policy IN (1, 2, 3))
);
CREATE INDEX ix_user_topic_channel_id_topic_key ON user_topic (channel_id, topic_key);
CREATE TABLE user_group (
    id {number} NOT NULL CONSTRAINT pk_user_group PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    kind VARCHAR(10) NOT NULL,
    name VARCHAR(100),
    name_key VARCHAR(200),
    description VARCHAR(1024) NOT NULL,
    creator_id BIGINT,
    date_created BIGINT NOT NULL,
    is_deactivated BOOLEAN NOT NULL,
    can_add_members_group BIGINT NOT NULL,
    can_join_group BIGINT NOT NULL,
    can_leave_group BIGINT NOT NULL,
    can_manage_group BIGINT NOT NULL,
    can_mention_group BIGINT NOT NULL,
    can_remove_members_group BIGINT NOT NULL,
    CONSTRAINT fk_user_group_creator_id_user FOREIGN KEY (creator_id) REFERENCES "user" (id),
    CONSTRAINT fk_user_group_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT ck_user_group_kind CHECK (kind IN ('system', 'named', 'anonymous')),
    CONSTRAINT ck_user_group_name CHECK ((kind = 'anonymous') = (name IS NULL))
);
CREATE UNIQUE INDEX uq_user_group_realm_id_name_key ON user_group (realm_id, name_key);
CREATE TABLE user_group_member (
    group_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    CONSTRAINT pk_user_group_member PRIMARY KEY (group_id, user_id),
    CONSTRAINT fk_user_group_member_group_id_user_group
        FOREIGN KEY (group_id) REFERENCES user_group (id),
    CONSTRAINT fk_user_group_member_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_user_group_member_user_id_group_id ON user_group_member (user_id, group_id);
CREATE TABLE subgroup (
    group_id BIGINT NOT NULL,
    subgroup_id BIGINT NOT NULL,
    CONSTRAINT pk_subgroup PRIMARY KEY (group_id, subgroup_id),
    CONSTRAINT fk_subgroup_group_id_user_group FOREIGN KEY (group_id) REFERENCES user_group (id),
    CONSTRAINT fk_subgroup_subgroup_id_user_group
        FOREIGN KEY (subgroup_id) REFERENCES user_group (id),
    CONSTRAINT ck_subgroup_not_itself CHECK (group_id <> subgroup_id)
);
CREATE INDEX ix_subgroup_subgroup_id_group_id ON subgroup (subgroup_id, group_id);
CREATE TABLE conversation (
    id {number} NOT NULL CONSTRAINT pk_conversation PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    key VARCHAR(64) NOT NULL,
    CONSTRAINT fk_conversation_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_conversation_realm_id_key UNIQUE (realm_id, key)
);
CREATE TABLE conversation_member (
    conversation_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    CONSTRAINT pk_conversation_member PRIMARY KEY (conversation_id, user_id),
    CONSTRAINT fk_conversation_member_conversation_id_conversation
        FOREIGN KEY (conversation_id) REFERENCES conversation (id),
    CONSTRAINT fk_conversation_member_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_conversation_member_user_id_conversation_id
    ON conversation_member (user_id, conversation_id);
CREATE TABLE message (
    id {number} NOT NULL CONSTRAINT pk_message PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    channel_id BIGINT,
    conversation_id BIGINT,
    topic VARCHAR(60) NOT NULL,
    topic_key VARCHAR(200) NOT NULL,
    content TEXT NOT NULL,
    rendered_content TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    last_edit_at BIGINT,
    last_moved_at BIGINT,
    has_link BOOLEAN NOT NULL,
    has_image BOOLEAN NOT NULL,
    has_attachment BOOLEAN NOT NULL,
    client VARCHAR(30) NOT NULL,
    scheduled_message_id BIGINT,
    CONSTRAINT fk_message_channel_id_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_message_conversation_id_conversation
        FOREIGN KEY (conversation_id) REFERENCES conversation (id),
    CONSTRAINT fk_message_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_message_sender_id_user FOREIGN KEY (sender_id) REFERENCES "user" (id),
    CONSTRAINT uq_message_scheduled_message_id UNIQUE (scheduled_message_id),
    CONSTRAINT ck_message_one_recipient CHECK ((channel_id IS NULL) <> (conversation_id IS NULL))
);
CREATE INDEX ix_message_channel_id_id ON message (channel_id, id);
CREATE INDEX ix_message_channel_id_topic_key_id ON message (channel_id, topic_key, id);
CREATE INDEX ix_message_conversation_id_id ON message (conversation_id, id);
CREATE INDEX ix_message_realm_id_id ON message (realm_id, id);
CREATE INDEX ix_message_sender_id_id ON message (sender_id, id);
CREATE TABLE user_message (
    user_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    flags BIGINT NOT NULL,
    CONSTRAINT pk_user_message PRIMARY KEY (user_id, message_id),
    CONSTRAINT fk_user_message_message_id_message
        FOREIGN KEY (message_id) REFERENCES message (id) ON DELETE CASCADE,
    CONSTRAINT fk_user_message_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
) {without_rowid};
CREATE INDEX ix_user_message_alerted ON user_message (user_id, message_id) WHERE flags & 512 <> 0;
CREATE INDEX ix_user_message_direct ON user_message (user_id, message_id) WHERE flags & 2048 <> 0;
CREATE INDEX ix_user_message_mentioned ON user_message (user_id, message_id)
    WHERE flags & 120 <> 0;
CREATE INDEX ix_user_message_message_id ON user_message (message_id);
CREATE INDEX ix_user_message_unread ON user_message (user_id, message_id) WHERE flags & 1 = 0;
CREATE TABLE starred_message (
    user_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    CONSTRAINT pk_starred_message PRIMARY KEY (user_id, message_id)
) {without_rowid};
CREATE TABLE message_archive (
    id BIGINT NOT NULL CONSTRAINT pk_message_archive PRIMARY KEY,
    realm_id BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    channel_id BIGINT,
    conversation_id BIGINT,
    topic VARCHAR(60) NOT NULL,
    content TEXT NOT NULL,
    rendered_content TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    archived_at BIGINT NOT NULL,
    archived_by BIGINT
);
CREATE INDEX ix_message_archive_archived_at ON message_archive (archived_at);
CREATE TABLE reaction_archive (
    message_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    reaction_type VARCHAR(32) NOT NULL,
    emoji_code VARCHAR(100) NOT NULL,
    emoji_name VARCHAR(100) NOT NULL,
    CONSTRAINT pk_reaction_archive PRIMARY KEY (message_id, user_id, reaction_type, emoji_code),
    CONSTRAINT fk_reaction_archive_message_id_message_archive
        FOREIGN KEY (message_id) REFERENCES message_archive (id) ON DELETE CASCADE
);
CREATE TABLE message_edit (
    id {number} NOT NULL CONSTRAINT pk_message_edit PRIMARY KEY {autoincrement},
    message_id BIGINT NOT NULL,
    editor_id BIGINT,
    edited_at BIGINT NOT NULL,
    prev_topic VARCHAR(60),
    prev_channel_id BIGINT,
    prev_content TEXT,
    prev_rendered_content TEXT,
    CONSTRAINT fk_message_edit_editor_id_user FOREIGN KEY (editor_id) REFERENCES "user" (id),
    CONSTRAINT fk_message_edit_message_id_message
        FOREIGN KEY (message_id) REFERENCES message (id) ON DELETE CASCADE
);
CREATE INDEX ix_message_edit_message_id_id ON message_edit (message_id, id);
CREATE TABLE submessage (
    id {number} NOT NULL CONSTRAINT pk_submessage PRIMARY KEY {autoincrement},
    message_id BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT fk_submessage_message_id_message
        FOREIGN KEY (message_id) REFERENCES message (id) ON DELETE CASCADE,
    CONSTRAINT fk_submessage_sender_id_user FOREIGN KEY (sender_id) REFERENCES "user" (id)
);
CREATE INDEX ix_submessage_message_id_id ON submessage (message_id, id);
CREATE TABLE reaction (
    id {number} NOT NULL CONSTRAINT pk_reaction PRIMARY KEY {autoincrement},
    message_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    reaction_type VARCHAR(32) NOT NULL,
    emoji_code VARCHAR(100) NOT NULL,
    emoji_name VARCHAR(100) NOT NULL,
    CONSTRAINT fk_reaction_message_id_message
        FOREIGN KEY (message_id) REFERENCES message (id) ON DELETE CASCADE,
    CONSTRAINT fk_reaction_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT uq_reaction_message_id_user_id_reaction_type_emoji_code
        UNIQUE (message_id, user_id, reaction_type, emoji_code)
);
CREATE TABLE stale_search (
    message_id BIGINT NOT NULL CONSTRAINT pk_stale_search PRIMARY KEY
);
CREATE TABLE message_removal (
    id {number} NOT NULL CONSTRAINT pk_message_removal PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    sender_id BIGINT,
    channel_id BIGINT,
    topic VARCHAR(60),
    actor_id BIGINT NOT NULL,
    public_channels BOOLEAN NOT NULL,
    private_channels BOOLEAN NOT NULL,
    direct BOOLEAN NOT NULL,
    after_id BIGINT NOT NULL,
    until_id BIGINT NOT NULL,
    removed INTEGER NOT NULL,
    CONSTRAINT fk_message_removal_actor_id_user FOREIGN KEY (actor_id) REFERENCES "user" (id),
    CONSTRAINT fk_message_removal_channel_id_channel
        FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_message_removal_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_message_removal_sender_id_user FOREIGN KEY (sender_id) REFERENCES "user" (id),
    CONSTRAINT ck_message_removal_sender_or_topic CHECK ((sender_id IS NULL) <> (topic IS NULL)),
    CONSTRAINT ck_message_removal_topic_of_channel CHECK ((channel_id IS NULL) = (topic IS NULL))
);
CREATE TABLE scheduled_message (
    id {number} NOT NULL CONSTRAINT pk_scheduled_message PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    channel_id BIGINT,
    recipient_ids TEXT,
    topic VARCHAR(60) NOT NULL,
    content TEXT NOT NULL,
    rendered_content TEXT NOT NULL,
    client VARCHAR(30) NOT NULL,
    read_by_sender BOOLEAN NOT NULL,
    scheduled_at BIGINT NOT NULL,
    next_try_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    state VARCHAR(8) NOT NULL,
    failure TEXT,
    message_id BIGINT,
    target_message_id BIGINT,
    note TEXT,
    created_at BIGINT NOT NULL,
    CONSTRAINT fk_scheduled_message_channel_id_channel
        FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_scheduled_message_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_scheduled_message_sender_id_user FOREIGN KEY (sender_id) REFERENCES "user" (id),
    CONSTRAINT ck_scheduled_message_message_id CHECK ((state = 'sent') = (message_id IS NOT NULL)),
    CONSTRAINT ck_scheduled_message_state CHECK (state IN ('pending', 'sent', 'failed'))
);
CREATE INDEX ix_scheduled_message_due ON scheduled_message (next_try_at, id)
    WHERE state = 'pending';
CREATE INDEX ix_scheduled_message_sender_id_scheduled_at
    ON scheduled_message (sender_id, scheduled_at);
CREATE INDEX ix_scheduled_message_sent ON scheduled_message (scheduled_at) WHERE state = 'sent';
CREATE TABLE draft (
    id {number} NOT NULL CONSTRAINT pk_draft PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    channel_id BIGINT,
    recipient_ids TEXT,
    topic VARCHAR(60) NOT NULL,
    content TEXT NOT NULL,
    edited_at BIGINT NOT NULL,
    CONSTRAINT fk_draft_channel_id_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
    CONSTRAINT fk_draft_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_draft_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT ck_draft_recipient CHECK (channel_id IS NULL OR recipient_ids IS NULL)
);
CREATE INDEX ix_draft_user_id_edited_at_id ON draft (user_id, edited_at, id);
CREATE TABLE saved_snippet (
    id {number} NOT NULL CONSTRAINT pk_saved_snippet PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    title VARCHAR(60) NOT NULL,
    content TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT fk_saved_snippet_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_saved_snippet_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_saved_snippet_user_id_id ON saved_snippet (user_id, id);
CREATE TABLE attachment (
    id {number} NOT NULL CONSTRAINT pk_attachment PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    handle VARCHAR(32) NOT NULL,
    name VARCHAR(200) NOT NULL,
    path_name VARCHAR(120) NOT NULL,
    size BIGINT NOT NULL,
    media_type VARCHAR(100) NOT NULL,
    width INTEGER,
    height INTEGER,
    is_animated BOOLEAN,
    created_at BIGINT NOT NULL,
    detached_at BIGINT,
    deleted_at BIGINT,
    CONSTRAINT fk_attachment_owner_id_user FOREIGN KEY (owner_id) REFERENCES "user" (id),
    CONSTRAINT fk_attachment_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_attachment_handle UNIQUE (handle)
);
CREATE INDEX ix_attachment_deleted_at ON attachment (deleted_at);
CREATE INDEX ix_attachment_detached_at ON attachment (detached_at);
CREATE INDEX ix_attachment_owner_id_id ON attachment (owner_id, id);
CREATE INDEX ix_attachment_realm_id_size ON attachment (realm_id, size);
CREATE TABLE attachment_message (
    attachment_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    CONSTRAINT pk_attachment_message PRIMARY KEY (attachment_id, message_id),
    CONSTRAINT fk_attachment_message_attachment_id_attachment
        FOREIGN KEY (attachment_id) REFERENCES attachment (id) ON DELETE CASCADE,
    CONSTRAINT fk_attachment_message_message_id_message
        FOREIGN KEY (message_id) REFERENCES message (id) ON DELETE CASCADE
) {without_rowid};
CREATE INDEX ix_attachment_message_message_id ON attachment_message (message_id);
CREATE TABLE alert_word (
    id {number} NOT NULL CONSTRAINT pk_alert_word PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    word VARCHAR(100) NOT NULL,
    word_key VARCHAR(300) NOT NULL,
    first_part VARCHAR(300) NOT NULL,
    CONSTRAINT fk_alert_word_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_alert_word_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT uq_alert_word_user_id_word_key UNIQUE (user_id, word_key)
);
CREATE INDEX ix_alert_word_realm_id_first_part_user_id
    ON alert_word (realm_id, first_part, user_id);
CREATE TABLE attempt_count (
    key VARCHAR(64) NOT NULL CONSTRAINT pk_attempt_count PRIMARY KEY,
    arrival_at BIGINT NOT NULL
);
CREATE INDEX ix_attempt_count_arrival_at ON attempt_count (arrival_at);
CREATE TABLE known_place (
    key VARCHAR(64) NOT NULL CONSTRAINT pk_known_place PRIMARY KEY,
    last_at BIGINT NOT NULL
);
CREATE INDEX ix_known_place_last_at ON known_place (last_at);
CREATE TABLE bot_storage (
    user_id BIGINT NOT NULL,
    key VARCHAR(250) NOT NULL,
    size INTEGER NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_bot_storage PRIMARY KEY (user_id, key),
    CONSTRAINT fk_bot_storage_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE TABLE client_device (
    id {number} NOT NULL CONSTRAINT pk_client_device PRIMARY KEY {autoincrement},
    user_id BIGINT NOT NULL,
    registered_at BIGINT NOT NULL,
    sealed_push_key TEXT,
    push_key_id BIGINT,
    push_token_kind VARCHAR(4),
    push_token_id VARCHAR(12),
    pending_push_token_id VARCHAR(12),
    push_token_changed_at BIGINT,
    push_error_code VARCHAR(40),
    CONSTRAINT fk_client_device_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT ck_client_device_push_token_kind CHECK (push_token_kind IN ('apns', 'fcm'))
);
CREATE INDEX ix_client_device_user_id_push_token_id ON client_device (user_id, push_token_id);
CREATE TABLE data_export (
    id {number} NOT NULL CONSTRAINT pk_data_export PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    acting_user_id BIGINT,
    export_type VARCHAR(24) NOT NULL,
    state VARCHAR(10) NOT NULL,
    requested_at BIGINT NOT NULL,
    ended_at BIGINT,
    deleted_at BIGINT,
    next_try_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    holder VARCHAR(32),
    rows_done BIGINT NOT NULL,
    rows_total BIGINT NOT NULL,
    failure TEXT,
    archive VARCHAR(100),
    archive_bytes BIGINT,
    archive_sha256 VARCHAR(64),
    CONSTRAINT fk_data_export_acting_user_id_user
        FOREIGN KEY (acting_user_id) REFERENCES "user" (id),
    CONSTRAINT fk_data_export_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT ck_data_export_archive CHECK ((state = 'succeeded') = (archive IS NOT NULL)),
    CONSTRAINT ck_data_export_deleted_at CHECK ((state = 'deleted') = (deleted_at IS NOT NULL)),
    CONSTRAINT ck_data_export_export_type
        CHECK (export_type IN ('public', 'full_with_consent', 'full_without_consent')),
    CONSTRAINT ck_data_export_state
        CHECK (state IN ('requested', 'started', 'succeeded', 'failed', 'deleted'))
);
CREATE INDEX ix_data_export_pending ON data_export (next_try_at, id)
    WHERE state IN ('requested', 'started');
CREATE INDEX ix_data_export_realm_id_requested_at ON data_export (realm_id, requested_at);
CREATE TABLE event_queue (
    id VARCHAR(36) NOT NULL CONSTRAINT pk_event_queue PRIMARY KEY,
    realm_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    client VARCHAR(30) NOT NULL,
    event_types TEXT,
    narrow TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    all_public_streams BOOLEAN NOT NULL,
    apply_markdown BOOLEAN NOT NULL,
    client_gravatar BOOLEAN NOT NULL,
    slim_presence BOOLEAN NOT NULL,
    known_people VARCHAR(64),
    position BIGINT NOT NULL,
    idle_timeout_s INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    polled_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT fk_event_queue_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_event_queue_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_event_queue_expires_at ON event_queue (expires_at);
CREATE INDEX ix_event_queue_realm_id_position ON event_queue (realm_id, position);
CREATE INDEX ix_event_queue_user_id ON event_queue (user_id);
CREATE TABLE invitation (
    id {number} NOT NULL CONSTRAINT pk_invitation PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    inviter_id BIGINT NOT NULL,
    link_id BIGINT,
    email VARCHAR(254),
    email_key VARCHAR(254),
    role INTEGER NOT NULL,
    channel_ids TEXT NOT NULL,
    group_ids TEXT NOT NULL,
    joins_default_channels BOOLEAN NOT NULL,
    tells_inviter BOOLEAN NOT NULL,
    token_sha256 VARCHAR(64) NOT NULL,
    sealed_token TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    CONSTRAINT fk_invitation_inviter_id_user FOREIGN KEY (inviter_id) REFERENCES "user" (id),
    CONSTRAINT fk_invitation_link_id_invitation
        FOREIGN KEY (link_id) REFERENCES invitation (id) ON DELETE CASCADE,
    CONSTRAINT fk_invitation_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_invitation_token_sha256 UNIQUE (token_sha256)
);
CREATE INDEX ix_invitation_expires_at ON invitation (expires_at);
CREATE INDEX ix_invitation_inviter_id_id ON invitation (inviter_id, id);
CREATE INDEX ix_invitation_link_id ON invitation (link_id);
CREATE INDEX ix_invitation_realm_id_email_key ON invitation (realm_id, email_key);
CREATE TABLE jwt_configuration (
    realm_id BIGINT NOT NULL CONSTRAINT pk_jwt_configuration PRIMARY KEY,
    sealed_key TEXT NOT NULL,
    algorithms VARCHAR(64) NOT NULL,
    audience VARCHAR(255),
    max_age_s INTEGER,
    CONSTRAINT fk_jwt_configuration_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id)
);
CREATE TABLE audit_log (
    id {number} NOT NULL CONSTRAINT pk_audit_log PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    kind VARCHAR(64) NOT NULL,
    actor_id BIGINT,
    user_id BIGINT,
    channel_id BIGINT,
    group_id BIGINT,
    facts TEXT NOT NULL,
    key_id VARCHAR(16),
    address VARCHAR(64),
    request_id VARCHAR(32),
    at BIGINT NOT NULL,
    CONSTRAINT fk_audit_log_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id)
);
CREATE INDEX ix_audit_log_realm_id_kind_at ON audit_log (realm_id, kind, at);
CREATE INDEX ix_audit_log_user_id_kind ON audit_log (user_id, kind);
CREATE TABLE event (
    id {number} NOT NULL CONSTRAINT pk_event PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    type VARCHAR(40) NOT NULL,
    payload TEXT NOT NULL,
    audience VARCHAR(16) NOT NULL,
    user_ids TEXT,
    channel_id BIGINT,
    at BIGINT NOT NULL,
    CONSTRAINT fk_event_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id)
);
CREATE INDEX ix_event_ephemeral ON event (at)
    WHERE type IN ('presence', 'typing', 'typing_edit_message');
CREATE INDEX ix_event_realm_id_id ON event (realm_id, id);
CREATE TABLE idempotency_key (
    user_id BIGINT NOT NULL,
    key VARCHAR(255) NOT NULL,
    operation VARCHAR(64) NOT NULL,
    fingerprint VARCHAR(64) NOT NULL,
    status INTEGER NOT NULL,
    body {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_idempotency_key PRIMARY KEY (user_id, key),
    CONSTRAINT fk_idempotency_key_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_idempotency_key_created_at ON idempotency_key (created_at);
CREATE TABLE muted_user (
    user_id BIGINT NOT NULL,
    muted_user_id BIGINT NOT NULL,
    muted_at BIGINT NOT NULL,
    CONSTRAINT pk_muted_user PRIMARY KEY (user_id, muted_user_id),
    CONSTRAINT fk_muted_user_muted_user_id_user FOREIGN KEY (muted_user_id) REFERENCES "user" (id),
    CONSTRAINT fk_muted_user_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_muted_user_muted_user_id_user_id ON muted_user (muted_user_id, user_id);
CREATE TABLE navigation_view (
    id {number} NOT NULL CONSTRAINT pk_navigation_view PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    fragment VARCHAR(500) NOT NULL,
    is_pinned BOOLEAN NOT NULL,
    name VARCHAR(100),
    CONSTRAINT fk_navigation_view_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_navigation_view_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT uq_navigation_view_user_id_fragment UNIQUE (user_id, fragment)
);
CREATE TABLE outbox (
    id {number} NOT NULL CONSTRAINT pk_outbox PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    key VARCHAR(32) NOT NULL,
    recipient VARCHAR(254) NOT NULL,
    subject VARCHAR(200) NOT NULL,
    body TEXT NOT NULL,
    is_sealed BOOLEAN NOT NULL,
    state VARCHAR(8) NOT NULL,
    attempts INTEGER NOT NULL,
    next_try_at BIGINT NOT NULL,
    failure TEXT,
    created_at BIGINT NOT NULL,
    closed_at BIGINT,
    CONSTRAINT fk_outbox_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_outbox_key UNIQUE (key),
    CONSTRAINT ck_outbox_closed_at CHECK ((state = 'pending') = (closed_at IS NULL)),
    CONSTRAINT ck_outbox_state CHECK (state IN ('pending', 'sent', 'dead'))
);
CREATE INDEX ix_outbox_due ON outbox (next_try_at, id) WHERE state = 'pending';
CREATE INDEX ix_outbox_state_closed_at ON outbox (state, closed_at);
CREATE TABLE outgoing_webhook (
    user_id BIGINT NOT NULL CONSTRAINT pk_outgoing_webhook PRIMARY KEY,
    payload_url VARCHAR(2000) NOT NULL,
    interface INTEGER NOT NULL,
    sealed_secret TEXT NOT NULL,
    CONSTRAINT fk_outgoing_webhook_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT ck_outgoing_webhook_interface CHECK (interface IN (1, 2))
);
CREATE TABLE outgoing_delivery (
    id {number} NOT NULL CONSTRAINT pk_outgoing_delivery PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    bot_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    cause VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    next_try_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT fk_outgoing_delivery_bot_id_user FOREIGN KEY (bot_id) REFERENCES "user" (id),
    CONSTRAINT fk_outgoing_delivery_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT ck_outgoing_delivery_cause CHECK (cause IN ('mention', 'direct_message'))
);
CREATE INDEX ix_outgoing_delivery_bot_id_id ON outgoing_delivery (bot_id, id);
CREATE INDEX ix_outgoing_delivery_next_try_at_id ON outgoing_delivery (next_try_at, id);
CREATE TABLE presence (
    user_id BIGINT NOT NULL CONSTRAINT pk_presence PRIMARY KEY,
    realm_id BIGINT NOT NULL,
    last_active_at BIGINT,
    last_connected_at BIGINT NOT NULL,
    update_id BIGINT NOT NULL,
    CONSTRAINT fk_presence_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT fk_presence_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_presence_realm_id_update_id ON presence (realm_id, update_id);
CREATE TABLE secret_check (
    id INTEGER NOT NULL CONSTRAINT pk_secret_check PRIMARY KEY,
    sealed TEXT NOT NULL
);
CREATE TABLE spent_link (
    key VARCHAR(32) NOT NULL CONSTRAINT pk_spent_link PRIMARY KEY,
    ends_at BIGINT NOT NULL
);
CREATE INDEX ix_spent_link_ends_at ON spent_link (ends_at);
CREATE TABLE vendor_token (
    user_id BIGINT NOT NULL CONSTRAINT pk_vendor_token PRIMARY KEY,
    vendor_user_id VARCHAR(255) NOT NULL,
    sealed_tokens TEXT NOT NULL,
    generation INTEGER NOT NULL,
    expires_at BIGINT NOT NULL,
    refreshing_until BIGINT,
    CONSTRAINT fk_vendor_token_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id)
);
CREATE INDEX ix_vendor_token_vendor_user_id ON vendor_token (vendor_user_id);
"""

# Beside the messages, what full-text search finds them by (models/chat/messages/search.py).
# On SQLite the words come stemmed and without accents, and whoever sends messages merges FTS5's
# segments in small steps, so that FTS5 does not merge by itself.
SEARCH_ON_SQLITE = """
CREATE VIRTUAL TABLE message_search USING fts5(
    topic, content, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'");
INSERT INTO message_search (message_search, rank) VALUES ('automerge', 0);
"""
SEARCH_ON_POSTGRESQL = """
CREATE TABLE message_search (
    message_id BIGINT NOT NULL CONSTRAINT pk_message_search PRIMARY KEY,
    vector TSVECTOR NOT NULL
);
CREATE INDEX ix_message_search_vector ON message_search USING gin (vector);
"""


def upgrade() -> None:
    execute_all(TABLES)
    if op.get_bind().dialect.name == "sqlite":
        execute_all(SEARCH_ON_SQLITE)
    else:
        execute_all(SEARCH_ON_POSTGRESQL)
