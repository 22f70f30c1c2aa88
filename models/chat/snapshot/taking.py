"""THE table of fetch types: which part of the state each of them brings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from models.chat.snapshot import channels, messages, organization, people, realm, settings
from models.chat.snapshot.viewing import Viewing

Find = Callable[[Viewing], dict[str, Any]]
"""From who looks to some keys of the snapshot, in a few statements however much is stored."""


@dataclass(frozen=True, slots=True)
class Part:
    """Keys that a client gets when it asks for all of `fetch_types`."""

    fetch_types: tuple[str, ...]
    find: Find


def _always(**keys: Any) -> Find:
    """The same for everybody: what this server has none of."""
    return lambda view: keys


PARTS = (
    Part(("alert_words",), settings.find_own_alert_words),
    Part(("channel_folders",), channels.find_channel_folders),
    Part(("custom_profile_fields",), people.find_custom_profile_fields),
    Part(("default_stream_groups",), _always(realm_default_stream_groups=[])),
    Part(("default_streams",), channels.find_default_streams),
    Part(("device",), settings.find_own_devices),
    Part(("drafts",), settings.find_own_drafts),
    Part(("giphy",), _always(gif_rating_policy_options={}, giphy_rating_options={})),
    Part(("message",), messages.find_newest_message),
    Part(("message", "update_message_flags"), messages.find_unread_messages),
    Part(("muted_topics",), channels.find_muted_topics),
    Part(("muted_users",), settings.find_own_muted_users),
    Part(("navigation_views",), settings.find_own_navigation_views),
    Part(("onboarding_steps",), _always(onboarding_steps=[])),
    Part(("presence",), people.find_presence),
    Part(("realm",), realm.find_realm),
    Part(("realm_bot",), people.find_realm_bots),
    Part(("realm_domains",), organization.find_realm_domains),
    Part(("realm_embedded_bots",), _always(realm_embedded_bots=[])),
    Part(("realm_emoji",), organization.find_realm_emoji),
    Part(("realm_incoming_webhook_bots",), _always(realm_incoming_webhook_bots=[])),
    Part(("realm_linkifiers",), organization.find_realm_linkifiers),
    Part(("realm_playgrounds",), organization.find_realm_playgrounds),
    Part(("realm_user",), people.find_realm_users),
    Part(("realm_user_groups",), people.find_user_groups),
    Part(("realm_user_settings_defaults",), settings.find_settings_defaults),
    Part(("recent_private_conversations",), messages.find_recent_conversations),
    Part(("reminders",), settings.find_own_reminders),
    Part(("saved_snippets",), settings.find_own_snippets),
    Part(("scheduled_messages",), settings.find_own_scheduled_messages),
    Part(("starred_messages",), messages.find_starred_messages),
    Part(("stop_words",), _always(stop_words=[])),
    Part(("stream",), channels.find_streams),
    Part(("subscription",), channels.find_own_subscriptions),
    Part(("update_display_settings",), settings.find_display_settings),
    Part(("update_global_notifications",), settings.find_notification_settings),
    Part(("user_settings",), settings.find_user_settings),
    Part(("user_status",), people.find_user_statuses),
    Part(("user_topic",), channels.find_user_topics),
    Part(("video_calls",), settings.find_vendor_token),
)


def take_snapshot(view: Viewing) -> dict[str, Any]:
    """The keys of every fetch type that the client wants, all as of one moment."""
    snapshot: dict[str, Any] = {}
    for part in PARTS:
        if all(view.wants(fetch_type) for fetch_type in part.fetch_types):
            snapshot |= part.find(view)
    return snapshot
