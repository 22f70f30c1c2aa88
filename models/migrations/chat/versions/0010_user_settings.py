"""Settings of users, addresses that wait to be confirmed, what organizations keep people from."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0006"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OFF = (
    "allow_private_data_export",
    "enable_stream_audible_notifications",
    "enable_stream_desktop_notifications",
    "enable_stream_email_notifications",
    "enable_stream_push_notifications",
    "enter_sends",
    "fluid_layout_width",
    "hide_ai_features",
    "high_contrast_mode",
    "left_side_userlist",
    "translate_emoticons",
    "twenty_four_hour_time",
)
ON = (
    "display_emoji_reaction_users",
    "enable_desktop_notifications",
    "enable_digest_emails",
    "enable_drafts_synchronization",
    "enable_followed_topic_audible_notifications",
    "enable_followed_topic_desktop_notifications",
    "enable_followed_topic_email_notifications",
    "enable_followed_topic_push_notifications",
    "enable_followed_topic_wildcard_mentions_notify",
    "enable_login_emails",
    "enable_marketing_emails",
    "enable_offline_email_notifications",
    "enable_offline_push_notifications",
    "enable_online_push_notifications",
    "enable_sounds",
    "message_content_in_email_notifications",
    "pm_content_in_desktop_notifications",
    "receives_typing_notifications",
    "send_private_typing_notifications",
    "send_read_receipts",
    "send_stream_typing_notifications",
    "starred_message_counts",
    "web_escape_navigates_to_home_view",
    "web_inbox_show_channel_folders",
    "web_left_sidebar_show_channel_folders",
    "web_left_sidebar_unreads_count_summary",
    "web_navigate_to_sent_message",
    "web_suggest_update_timezone",
    "wildcard_mentions_notify",
)
NUMBERS = {
    "color_scheme": 1,
    "demote_inactive_streams": 1,
    "desktop_icon_count_display": 1,
    "email_notifications_batching_period_seconds": 120,
    "realm_name_in_email_notifications_policy": 1,
    "user_list_style": 2,
    "web_channel_default_view": 1,
    "web_font_size_px": 16,
    "web_line_height_percent": 140,
    "web_mark_read_on_scroll_policy": 1,
    "web_stream_unreads_count_display_policy": 2,
}
TEXTS = {
    "emojiset": "set_a",
    "notification_sound": "zulip",
    "resolved_topic_notice_auto_read_policy": "except_followed",
    "web_animate_image_previews": "on_hover",
    "web_home_view": "inbox",
}
REALM = ("name_changes_disabled", "email_changes_disabled")


def _columns() -> list[sa.Column[Any]]:
    return [
        *(sa.Column(n, sa.Boolean(), server_default=sa.false(), nullable=False) for n in OFF),
        *(sa.Column(n, sa.Boolean(), server_default=sa.true(), nullable=False) for n in ON),
        *(
            sa.Column(name, sa.Integer(), server_default=str(value), nullable=False)
            for name, value in NUMBERS.items()
        ),
        *(
            sa.Column(name, sa.String(length=50), server_default=value, nullable=False)
            for name, value in TEXTS.items()
        ),
    ]


def upgrade() -> None:
    for column in _columns():
        op.add_column("user", column)
    for name in REALM:
        off: sa.Column[bool] = sa.Column(
            name, sa.Boolean(), server_default=sa.false(), nullable=False
        )
        op.add_column("realm", off)
    op.create_table(
        "email_change",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("new_email", sa.String(length=254), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_email_change_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_email_change"),
        sa.UniqueConstraint("token_sha256", name="uq_email_change_token_sha256"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_email_change_user_id", "email_change", ["user_id"])
    op.create_index("ix_audit_log_user_id_kind", "audit_log", ["user_id", "kind"])


def downgrade() -> None:
    op.drop_index("ix_audit_log_user_id_kind", "audit_log")
    op.drop_table("email_change")
    for name in REALM:
        op.drop_column("realm", name)
    for column in _columns():
        op.drop_column("user", column.name)
