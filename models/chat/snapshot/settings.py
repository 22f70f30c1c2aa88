"""The actor's own settings in a snapshot, and what else belongs to the actor alone."""

from collections.abc import Mapping
from typing import Any

from models.chat.alert_words import find_alert_words
from models.chat.calls import has_token
from models.chat.devices import find_devices
from models.chat.drafts import find_drafts
from models.chat.muted_users import find_muted_users
from models.chat.navigation_views import find_navigation_views
from models.chat.organization.settings import USER_DEFAULTS
from models.chat.queues.spellings import EMOJISETS
from models.chat.saved_snippets import find_saved_snippets
from models.chat.scheduling.reminders import find_reminders
from models.chat.scheduling.scheduled_messages import find_scheduled_messages
from models.chat.snapshot.viewing import Viewing
from models.chat.tables.setting_table import SETTINGS

TWENTY_FOUR_HOURS = "twenty_four_hour_time"
CONTENT_ON_DESKTOP = "pm_content_in_desktop_notifications"


def find_user_settings(view: Viewing) -> dict[str, Any]:
    """All of the actor's settings, and two of them once more where older clients look."""
    return {
        "user_settings": describe_settings(view.settings),
        **find_display_settings(view),
        **find_notification_settings(view),
    }


def find_display_settings(view: Viewing) -> dict[str, Any]:
    return {TWENTY_FOUR_HOURS: view.settings[TWENTY_FOUR_HOURS]}


def find_notification_settings(view: Viewing) -> dict[str, Any]:
    return {CONTENT_ON_DESKTOP: view.settings[CONTENT_ON_DESKTOP]}


def find_settings_defaults(view: Viewing) -> dict[str, Any]:
    """The settings that a new user begins with."""
    realm = view.actor.realm
    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    defaults |= {name: getattr(realm, name) for name in USER_DEFAULTS}
    return {"realm_user_settings_defaults": describe_settings(defaults)}


def describe_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in the spellings that clients know."""
    emojiset = settings["emojiset"]
    return {**settings, "emojiset": EMOJISETS.get(emojiset, emojiset)}


def find_own_devices(view: Viewing) -> dict[str, Any]:
    return {"devices": find_devices(view.db, view.actor.id)}


def find_own_scheduled_messages(view: Viewing) -> dict[str, Any]:
    return {"scheduled_messages": find_scheduled_messages(view.db, view.actor)}


def find_own_reminders(view: Viewing) -> dict[str, Any]:
    return {"reminders": find_reminders(view.db, view.actor)}


def find_own_drafts(view: Viewing) -> dict[str, Any]:
    is_on = view.settings["enable_drafts_synchronization"]
    return {"drafts": find_drafts(view.db, view.actor) if is_on else []}


def find_own_alert_words(view: Viewing) -> dict[str, Any]:
    return {"alert_words": find_alert_words(view.db, view.actor)}


def find_own_snippets(view: Viewing) -> dict[str, Any]:
    return {"saved_snippets": find_saved_snippets(view.db, view.actor)}


def find_own_navigation_views(view: Viewing) -> dict[str, Any]:
    return {"navigation_views": find_navigation_views(view.db, view.actor)}


def find_own_muted_users(view: Viewing) -> dict[str, Any]:
    return {"muted_users": find_muted_users(view.db, view.actor)}


def find_vendor_token(view: Viewing) -> dict[str, Any]:
    """Has the actor authorized video calls? Under both names."""
    is_there = has_token(view.db, view.actor.id)
    return {"has_vendor_token": is_there, "has_zoom_token": is_there}
