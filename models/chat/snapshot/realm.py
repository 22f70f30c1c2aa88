"""The organization and the server in a snapshot: settings, permissions, limits and constants."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, select

from models.chat.access.group_settings import (
    REALM_GROUPS,
    describe_group_settings,
    find_group_values,
)
from models.chat.accounts import avatars
from models.chat.channels import channels, folders
from models.chat.identity import passwords
from models.chat.organization.emoji import find_custom_emoji
from models.chat.organization.linkifiers import list_linkifiers
from models.chat.organization.settings import (
    NO_CHANNEL,
    OPERATOR_SETTINGS,
    SETTINGS,
    clients_value,
    find_older_settings,
)
from models.chat.presence.view import OFFLINE_AFTER, PING_EVERY
from models.chat.profiles.field_data import EXTERNAL_ACCOUNTS
from models.chat.rendering.previews import FORMAT, THUMBNAIL_SIZE
from models.chat.rendering.texts import CONTENT_MAX
from models.chat.scheduling import reminders
from models.chat.sending.reports import REPORT_TYPES
from models.chat.snapshot.viewing import Viewing
from models.chat.tables import Realm
from models.chat.topics.names import TOPIC_MAX

_REALM = select(Realm.__table__).where(Realm.id == bindparam("realm_id"))

LIMITS: Mapping[str, int] = {
    "max_message_length": CONTENT_MAX,
    "max_topic_length": TOPIC_MAX,
    "max_stream_name_length": channels.NAME_MAX,
    "max_stream_description_length": channels.DESCRIPTION_MAX,
    "max_channel_folder_name_length": folders.NAME_MAX,
    "max_channel_folder_description_length": channels.DESCRIPTION_MAX,
    "max_reminder_note_length": reminders.NOTE_MAX,
    "max_avatar_file_size_mib": avatars.FILE_MAX_MIB,
    "password_min_length": passwords.LENGTH_MIN,
    "password_max_length": passwords.LENGTH_MAX,
    "password_min_guesses": passwords.GUESSES_MIN,
}
TIMES: Mapping[str, int] = {
    "server_presence_ping_interval_seconds": int(PING_EVERY.total_seconds()),
    "server_presence_offline_threshold_seconds": int(OFFLINE_AFTER.total_seconds()),
    "server_typing_started_expiry_period_milliseconds": 15_000,
    "server_typing_stopped_wait_period_milliseconds": 5_000,
    "server_typing_started_wait_period_milliseconds": 10_000,
}
WITHOUT: Mapping[str, Any] = {
    "giphy_api_key": "",
    "realm_default_code_block_language": "",
    "realm_presence_disabled": False,
    "realm_push_notifications_enabled_end_timestamp": None,
    "realm_signup_announcements_stream_id": NO_CHANNEL,
    "realm_waiting_period_threshold": 0,
    "realm_zulip_update_announcements_stream_id": NO_CHANNEL,
    "server_avatar_changes_disabled": False,
    "server_name_changes_disabled": False,
    "server_needs_upgrade": False,
    "server_thumbnail_formats": [
        {
            "name": FORMAT,
            "max_width": THUMBNAIL_SIZE[0],
            "max_height": THUMBNAIL_SIZE[1],
            "format": "webp",
            "animated": False,
        }
    ],
    "server_supported_permission_settings": describe_group_settings(),
    "settings_send_digest_emails": False,
    "zulip_plan_is_not_limited": True,
}
"""Values that clients read and that are the same for all organizations on this server."""


def find_realm(view: Viewing) -> dict[str, Any]:
    """Return all settings of the organization, with the prefix `realm_`, and facts about the
    server.
    """
    realm = view.actor.realm
    row = view.db.execute(_REALM, {"realm_id": realm.id}).mappings().one()
    names = (*SETTINGS, *OPERATOR_SETTINGS)
    group_ids = {name: row[name] for name in REALM_GROUPS}
    values = find_group_values(view.db, set(group_ids.values()), visible_ids=view.visible_ids)
    return {
        **{f"realm_{name}": clients_value(name, row[name]) for name in names},
        **{f"realm_{name}": values[group_id] for name, group_id in group_ids.items()},
        **_derived(view),
        **LIMITS,
        **TIMES,
        **WITHOUT,
    }


def _derived(view: Viewing) -> dict[str, Any]:
    realm, server = view.actor.realm, view.server
    return {
        "realm_url": server.realm_url,
        "realm_uri": server.realm_url,
        "realm_bot_domain": realm.host,
        "realm_date_created": int(realm.date_created.timestamp()),
        "realm_icon_url": server.icon_url,
        "realm_icon_source": "G",
        "realm_email_auth_enabled": True,
        "realm_password_auth_enabled": True,
        "realm_push_notifications_enabled": server.push_enabled,
        **{f"realm_{name}": value for name, value in find_older_settings(realm).items()},
        "realm_default_external_accounts": {
            key: {
                "name": account.name,
                "text": account.text,
                "hint": account.hint,
                "url_pattern": account.url_pattern,
            }
            for key, account in EXTERNAL_ACCOUNTS.items()
        },
        "development_environment": server.is_development,
        "max_file_upload_size_mib": server.max_upload_mib,
        "realm_upload_quota_mib": server.upload_quota_mib,
        "server_generation": server.started_at,
        "server_emoji_data_url": server.emoji_data_url,
        "server_report_message_types": [
            {"key": key, "name": name} for key, name in REPORT_TYPES.items()
        ],
        "server_web_public_streams_enabled": server.web_public_enabled,
    }


def find_realm_emoji(view: Viewing) -> dict[str, Any]:
    emoji = find_custom_emoji(view.db, view.actor.realm_id, visible_ids=view.visible_ids)
    return {"realm_emoji": emoji}


def find_realm_linkifiers(view: Viewing) -> dict[str, Any]:
    """Return the linkifiers, or an empty list if the client does not support URL templates."""
    if not view.can("linkifier_url_template"):
        return {"realm_linkifiers": []}
    return {"realm_linkifiers": list_linkifiers(view.db, view.actor.realm_id)}
