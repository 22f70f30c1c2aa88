"""The requirements of zulip-flutter's generated decoders (August 2026). If a key is missing or a
value has another type, the app rejects the complete response and retries forever.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.support.chat.decoding import (
    BOOL,
    INT,
    NUMBER,
    TEXT,
    Either,
    ListOf,
    MapOf,
    Maybe,
    Obj,
    OneOf,
    check,
)

LOWEST_FEATURE_LEVEL = 277
REGISTRATION: dict[str, Any] = {
    "idle_queue_timeout": '"mobile"',
    "apply_markdown": True,
    "client_gravatar": False,
    "slim_presence": True,
    "client_capabilities": dict.fromkeys(
        (
            "notification_settings_null",
            "bulk_message_deletion",
            "user_avatar_url_field_optional",
            "stream_typing_notifications",
            "user_settings_object",
            "include_deactivated_groups",
            "empty_topic_name",
            "individual_emoji_changes",
        ),
        True,
    ),
}
"""The parameters of the app's registration."""

IDS = ListOf(INT)
GROUP_VALUE = Either((INT, Obj({"direct_members": IDS, "direct_subgroups": IDS})))
REACTION_TYPE = OneOf(("unicode_emoji", "realm_emoji", "zulip_extra_emoji"))
EMOJISET = OneOf(("google", "google-blob", "twitter", "text"))
ROLE = OneOf((100, 200, 300, 400, 600))
USER = Obj(
    {
        "user_id": INT,
        "email": TEXT,
        "full_name": TEXT,
        "date_joined": TEXT,
        "is_bot": BOOL,
        "role": ROLE,
        "timezone": TEXT,
        "avatar_version": INT,
    },
    {
        "delivery_email": Maybe(TEXT),
        "is_active": BOOL,
        "bot_type": Maybe(INT),
        "bot_owner_id": Maybe(INT),
        "avatar_url": Maybe(TEXT),
        "profile_data": MapOf(Obj({"value": TEXT}, {"rendered_value": TEXT}), by_id=True),
        "is_system_bot": BOOL,
    },
)
STREAM = Obj(
    {
        "stream_id": INT,
        "name": TEXT,
        "description": TEXT,
        "rendered_description": TEXT,
        "date_created": INT,
        "invite_only": BOOL,
        "is_web_public": BOOL,
        "history_public_to_subscribers": BOOL,
    },
    {
        "is_archived": BOOL,
        "is_recently_active": BOOL,
        "first_message_id": Maybe(INT),
        "folder_id": Maybe(INT),
        "message_retention_days": Maybe(INT),
        "stream_weekly_traffic": Maybe(INT),
        "stream_post_policy": OneOf((1, 2, 3, 4)),
        "can_delete_any_message_group": GROUP_VALUE,
        "can_delete_own_message_group": GROUP_VALUE,
        "can_send_message_group": GROUP_VALUE,
        "topics_policy": TEXT,
    },
)
SUBSCRIPTION = STREAM.with_keys(color=TEXT, pin_to_top=BOOL, is_muted=BOOL)
GROUP = Obj(
    {
        "id": INT,
        "name": TEXT,
        "description": TEXT,
        "members": IDS,
        "direct_subgroup_ids": IDS,
        "is_system_group": BOOL,
    },
    {"deactivated": BOOL},
)
PROFILE_FIELD = Obj(
    {"id": INT, "type": INT, "order": INT, "name": TEXT, "hint": TEXT, "field_data": TEXT},
    {"display_in_profile_summary": BOOL},
)
FOLDER = Obj(
    {
        "id": INT,
        "name": TEXT,
        "description": TEXT,
        "rendered_description": TEXT,
        "is_archived": BOOL,
    },
    {"order": INT, "creator_id": Maybe(INT), "date_created": Maybe(INT)},
)
REALM_EMOJI = Obj(
    {"id": TEXT, "name": TEXT, "source_url": TEXT, "deactivated": BOOL},
    {"still_url": Maybe(TEXT), "author_id": Maybe(INT)},
)
UNREAD = {"unread_message_ids": IDS}
UNREAD_MESSAGES = Obj(
    {
        "count": INT,
        "pms": ListOf(Obj({"other_user_id": INT, **UNREAD})),
        "streams": ListOf(Obj({"topic": TEXT, "stream_id": INT, **UNREAD})),
        "huddles": ListOf(Obj({"user_ids_string": TEXT, **UNREAD})),
        "mentions": IDS,
        "old_unreads_missing": BOOL,
    }
)
REACTION = Obj(
    {"emoji_name": TEXT, "emoji_code": TEXT, "reaction_type": REACTION_TYPE, "user_id": INT}
)
EDIT = Obj(
    {"user_id": Maybe(INT), "timestamp": INT},
    {
        "prev_content": TEXT,
        "prev_rendered_content": TEXT,
        "prev_stream": INT,
        "prev_topic": TEXT,
        "stream": INT,
        "topic": TEXT,
    },
)
REACTION_EVENT = Obj(
    {
        "id": INT,
        "type": OneOf(("reaction",)),
        "op": OneOf(("add", "remove")),
        "emoji_name": TEXT,
        "emoji_code": TEXT,
        "reaction_type": REACTION_TYPE,
        "user_id": INT,
        "message_id": INT,
    }
)
STATUS = Obj(
    {},
    {"status_text": TEXT, "emoji_name": TEXT, "emoji_code": TEXT, "reaction_type": REACTION_TYPE},
)
DEVICE = Obj(
    {},
    {
        "push_key_id": Maybe(INT),
        "push_token_id": Maybe(TEXT),
        "pending_push_token_id": Maybe(TEXT),
        "push_token_last_updated_timestamp": Maybe(INT),
        "push_registration_error_code": Maybe(TEXT),
    },
)
USER_SETTINGS = Obj(
    {
        "twenty_four_hour_time": BOOL,
        "starred_message_counts": BOOL,
        "display_emoji_reaction_users": BOOL,
        "emojiset": EMOJISET,
        "presence_enabled": BOOL,
    },
    {"web_inbox_show_channel_folders": BOOL},
)
USER_TOPIC = Obj(
    {
        "stream_id": INT,
        "topic_name": TEXT,
        "last_updated": INT,
        "visibility_policy": OneOf((0, 1, 2, 3)),
    }
)
SNIPPET = Obj({"id": INT, "title": TEXT, "content": TEXT, "date_created": INT})
PRESENCE = Obj({}, {"active_timestamp": INT, "idle_timestamp": INT})
ACCOUNT = Obj({"name": TEXT, "text": TEXT, "hint": TEXT, "url_pattern": TEXT})
SNAPSHOT = Obj(
    {
        "queue_id": TEXT,
        "last_event_id": INT,
        "zulip_version": TEXT,
        "zulip_feature_level": INT,
        "zulip_merge_base": TEXT,
        "alert_words": ListOf(TEXT),
        "custom_profile_fields": ListOf(PROFILE_FIELD),
        "server_presence_ping_interval_seconds": INT,
        "server_presence_offline_threshold_seconds": INT,
        "muted_users": ListOf(Obj({"id": INT})),
        "presences": MapOf(PRESENCE, by_id=True),
        "realm_emoji": MapOf(REALM_EMOJI),
        "realm_user_groups": ListOf(GROUP),
        "recent_private_conversations": ListOf(Obj({"max_message_id": INT, "user_ids": IDS})),
        "subscriptions": ListOf(SUBSCRIPTION),
        "unread_msgs": UNREAD_MESSAGES,
        "streams": ListOf(STREAM),
        "starred_messages": IDS,
        "user_status": MapOf(STATUS, by_id=True),
        "user_settings": USER_SETTINGS,
        "user_topics": ListOf(USER_TOPIC),
        "realm_name": TEXT,
        "realm_icon_url": TEXT,
        "realm_wildcard_mention_policy": OneOf((1, 2, 3, 5, 6, 7)),
        "realm_waiting_period_threshold": INT,
        "realm_allow_message_editing": BOOL,
        "realm_enable_read_receipts": BOOL,
        "realm_presence_disabled": BOOL,
        "realm_default_external_accounts": MapOf(ACCOUNT),
        "max_stream_name_length": INT,
        "max_topic_length": INT,
        "max_file_upload_size_mib": INT,
        "server_emoji_data_url": TEXT,
        "event_queue_longpoll_timeout_seconds": INT,
        "realm_users": ListOf(USER),
        "realm_non_active_users": ListOf(USER),
        "cross_realm_bots": ListOf(USER),
    },
    {
        "channel_folders": ListOf(FOLDER),
        "saved_snippets": ListOf(SNIPPET),
        "devices": MapOf(DEVICE, by_id=True),
        "realm_message_content_edit_limit_seconds": Maybe(INT),
        "realm_message_content_delete_limit_seconds": Maybe(INT),
        "realm_can_delete_any_message_group": GROUP_VALUE,
        "realm_can_delete_own_message_group": GROUP_VALUE,
        "realm_topics_policy": TEXT,
        "realm_mandatory_topics": BOOL,
        "realm_moderation_request_channel_id": Maybe(INT),
        "realm_empty_topic_display_name": TEXT,
        "server_report_message_types": ListOf(Obj({"key": TEXT, "name": TEXT})),
        "server_thumbnail_formats": ListOf(Obj()),
        "server_typing_started_expiry_period_milliseconds": INT,
        "server_typing_stopped_wait_period_milliseconds": INT,
        "server_typing_started_wait_period_milliseconds": INT,
        "server_timestamp": NUMBER,
        "max_channel_folder_name_length": INT,
    },
)


CLIENT_PRESENCE = Obj(
    {"client": TEXT, "status": OneOf(("active", "idle")), "timestamp": INT, "pushable": BOOL}
)
EVENTS = {
    "presence": Obj(
        {"user_id": INT, "server_timestamp": NUMBER, "presence": MapOf(CLIENT_PRESENCE)}
    ),
    "typing": Obj(
        {
            "id": INT,
            "op": OneOf(("start", "stop")),
            "message_type": OneOf(("stream", "direct")),
            "sender": Obj({"user_id": INT}),
        },
        {
            "recipients": ListOf(Obj({}, {"user_id": INT})),
            "stream_id": INT,
            "topic": TEXT,
        },
    ),
}
"""The parts of an event that the app reads, by type. It ignores unknown types."""


PINGED = Obj(
    {},
    {
        "presence_last_update_id": INT,
        "server_timestamp": NUMBER,
        "presences": MapOf(PRESENCE, by_id=True),
    },
)
"""The parts that the app reads of the response of `POST /users/me/presence`."""


def check_ping(answer: dict[str, Any]) -> None:
    """Raise an error unless the app accepts the response to its presence report."""
    check(answer, PINGED, "ping")


def check_event(event: dict[str, Any]) -> None:
    """Raise an error unless the app accepts the event. A rejected event ends its queue."""
    check(event, Obj({"id": INT, "type": TEXT}), "event")
    check(event, EVENTS.get(event["type"], Obj()), event["type"])


def check_snapshot(snapshot: dict[str, Any]) -> None:
    """Raise an error unless the app starts with the response of `POST /register`."""
    check(snapshot, SNAPSHOT, "snapshot")
    assert snapshot["zulip_feature_level"] >= LOWEST_FEATURE_LEVEL
    for key in ("realm_icon_url", "server_emoji_data_url"):
        assert urlsplit(snapshot[key]).netloc, key
    unread = snapshot["unread_msgs"]
    for place in (*unread["pms"], *unread["streams"], *unread["huddles"]):
        ids = place["unread_message_ids"]
        assert ids == sorted(set(ids)), "the app asserts that they ascend"
    known = {stream["stream_id"] for stream in snapshot["streams"]}
    assert known >= {each["stream_id"] for each in snapshot["subscriptions"]}
