"""The table of fetch types and the snapshot keys for each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from models.chat.alert_words import find_alert_words
from models.chat.channels.folders import find_folders
from models.chat.devices import find_devices
from models.chat.identity.actors import Actor
from models.chat.muted_users import find_muted_users
from models.chat.navigation_views import find_navigation_views
from models.chat.organization.domains import find_domains
from models.chat.organization.playgrounds import find_playgrounds
from models.chat.people.bots import find_managed_bots
from models.chat.people.users import find_max_message_id
from models.chat.saved_snippets import find_saved_snippets
from models.chat.scheduling.reminders import find_reminders
from models.chat.scheduling.scheduled_messages import find_scheduled_messages
from models.chat.snapshot import channels, messages, people, realm, settings
from models.chat.snapshot.viewing import Viewing
from specd.db import Db

Find = Callable[[Viewing], dict[str, Any]]
"""A function that returns keys of a snapshot, with a fixed number of statements."""


@dataclass(frozen=True, slots=True)
class Part:
    """Snapshot keys for a client that requests all of `fetch_types`."""

    fetch_types: tuple[str, ...]
    find: Find


def _always(**keys: Any) -> Find:
    """Return a function for values that are the same for all users, because this server lacks the
    feature.
    """
    return lambda view: keys


def _own(key: str, find: Callable[[Db, Actor], object]) -> Find:
    return lambda view: {key: find(view.db, view.actor)}


def _of_realm(key: str, find: Callable[[Db, int], object]) -> Find:
    return lambda view: {key: find(view.db, view.actor.realm_id)}


def _of_user(key: str, find: Callable[[Db, int], object]) -> Find:
    return lambda view: {key: find(view.db, view.actor.id)}


PARTS = (
    Part(("alert_words",), _own("alert_words", find_alert_words)),
    Part(
        ("channel_folders",), _own("channel_folders", partial(find_folders, include_archived=True))
    ),
    Part(("custom_profile_fields",), people.find_custom_profile_fields),
    Part(("default_stream_groups",), _always(realm_default_stream_groups=[])),
    Part(("default_streams",), channels.find_default_streams),
    Part(("device",), _of_user("devices", find_devices)),
    Part(("drafts",), settings.find_own_drafts),
    Part(("giphy",), _always(gif_rating_policy_options={}, giphy_rating_options={})),
    Part(("message",), _of_user("max_message_id", find_max_message_id)),
    Part(("message", "update_message_flags"), messages.find_unread_messages),
    Part(("muted_topics",), channels.find_muted_topics),
    Part(("muted_users",), _own("muted_users", find_muted_users)),
    Part(("navigation_views",), _own("navigation_views", find_navigation_views)),
    Part(("onboarding_steps",), _always(onboarding_steps=[])),
    Part(("presence",), people.find_presence),
    Part(("realm",), realm.find_realm),
    Part(("realm_bot",), _own("realm_bots", find_managed_bots)),
    Part(("realm_domains",), _of_realm("realm_domains", find_domains)),
    Part(("realm_embedded_bots",), _always(realm_embedded_bots=[])),
    Part(("realm_emoji",), realm.find_realm_emoji),
    Part(("realm_incoming_webhook_bots",), _always(realm_incoming_webhook_bots=[])),
    Part(("realm_linkifiers",), realm.find_realm_linkifiers),
    Part(("realm_playgrounds",), _of_realm("realm_playgrounds", find_playgrounds)),
    Part(("realm_user",), people.find_realm_users),
    Part(("realm_user_groups",), people.find_user_groups),
    Part(("realm_user_settings_defaults",), settings.find_settings_defaults),
    Part(("recent_private_conversations",), messages.find_recent_conversations),
    Part(("reminders",), _own("reminders", find_reminders)),
    Part(("saved_snippets",), _own("saved_snippets", find_saved_snippets)),
    Part(("scheduled_messages",), _own("scheduled_messages", find_scheduled_messages)),
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
    """Return the keys for all fetch types that the client requested, at one moment."""
    snapshot: dict[str, Any] = {}
    for part in PARTS:
        if all(view.wants(fetch_type) for fetch_type in part.fetch_types):
            snapshot |= part.find(view)
    return snapshot
