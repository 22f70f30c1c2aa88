"""The table of users' settings: columns, checks, events and the document follow from it.

This module contains only values and does not use the database. `models/chat/tables/user.py` creates
the columns, and `models/chat/settings/user_settings.py` changes them. Tests compare the migration
and the document with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = bool | int | str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting. In the API, booleans and numbers are JSON, and texts are plain.

    `choices` are all permitted values, or empty if there is no list. `least` and `most` limit a
    number. `length` is the length of a text column. `aliases` are older names of values. If
    `own_only`, administrators cannot change the setting for others.
    """

    name: str
    default: Value
    choices: tuple[Value, ...] = ()
    least: int = 1
    most: int = 32_767
    length: int = 50
    aliases: Mapping[str, str] = field(default_factory=dict)
    own_only: bool = False


def _flags(default: bool, *names: str) -> tuple[Setting, ...]:
    return tuple(Setting(name, default, own_only=name in OWN_ONLY) for name in names)


OWN_ONLY = frozenset(
    (
        "allow_private_data_export",
        "email_address_visibility",
        "enable_digest_emails",
        "enable_login_emails",
        "enable_marketing_emails",
        "presence_enabled",
        "send_private_typing_notifications",
        "send_read_receipts",
        "send_stream_typing_notifications",
        "timezone",
    )
)

ALL = (
    *_flags(
        False,
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
    ),
    *_flags(
        True,
        "automatically_follow_topics_where_mentioned",
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
        "presence_enabled",
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
    ),
    Setting("automatically_follow_topics_policy", 3, (1, 2, 3, 4)),
    Setting("automatically_unmute_topics_in_muted_streams_policy", 2, (1, 2, 3, 4)),
    Setting("color_scheme", 1, (1, 2, 3)),
    Setting("default_language", "en"),
    Setting("demote_inactive_streams", 1, (1, 2, 3)),
    Setting("desktop_icon_count_display", 1, (1, 2, 3, 4)),
    Setting("email_address_visibility", 1, (1, 2, 3, 4, 5), own_only=True),
    Setting("email_notifications_batching_period_seconds", 120, least=1, most=604_800),
    Setting(
        "emojiset",
        "set_a",
        ("text", "set_a", "set_b"),
        aliases={"google": "set_a", "google-blob": "set_a", "twitter": "set_b"},
    ),
    Setting("notification_sound", "zulip", ("zulip", "ding", "none")),
    Setting("realm_name_in_email_notifications_policy", 1, (1, 2, 3)),
    Setting(
        "resolved_topic_notice_auto_read_policy",
        "except_followed",
        ("always", "except_followed", "never"),
    ),
    Setting("timezone", "", length=40, own_only=True),
    Setting("user_list_style", 2, (1, 2, 3)),
    Setting("web_animate_image_previews", "on_hover", ("always", "on_hover", "never")),
    Setting("web_channel_default_view", 1, (1, 2, 3, 4)),
    Setting("web_font_size_px", 16),
    Setting(
        "web_home_view",
        "inbox",
        ("recent", "inbox", "all_messages"),
        aliases={"recent_topics": "recent"},
    ),
    Setting("web_line_height_percent", 140),
    Setting("web_mark_read_on_scroll_policy", 1, (1, 2, 3)),
    Setting("web_stream_unreads_count_display_policy", 2, (1, 2, 3)),
)
SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in ALL}
EMOJISETS = {"set_a": "google", "set_b": "twitter"}
"""Emoji sets by their names in the API, because some clients reject other names."""
