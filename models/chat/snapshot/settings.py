"""The actor's settings in a snapshot, with values that depend on them."""

from collections.abc import Mapping
from typing import Any

from models.chat.calls import has_token
from models.chat.drafts import find_drafts
from models.chat.organization.settings import USER_DEFAULTS
from models.chat.people.defaults import find_user_defaults
from models.chat.snapshot.viewing import Viewing
from models.chat.tables.setting_table import EMOJISETS, SETTINGS

TWENTY_FOUR_HOURS = "twenty_four_hour_time"
CONTENT_ON_DESKTOP = "pm_content_in_desktop_notifications"


def find_user_settings(view: Viewing) -> dict[str, Any]:
    """Return all settings of the actor, and two of them also under the keys for older clients."""
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
    """Return the settings of a new user."""
    realm = view.actor.realm
    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    defaults |= find_user_defaults(view.db, realm.id)
    defaults |= {name: getattr(realm, name) for name in USER_DEFAULTS}
    return {"realm_user_settings_defaults": describe_settings(defaults)}


def describe_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the values that clients expect."""
    emojiset = settings["emojiset"]
    return {**settings, "emojiset": EMOJISETS.get(emojiset, emojiset)}


def find_own_drafts(view: Viewing) -> dict[str, Any]:
    is_enabled = view.settings["enable_drafts_synchronization"]
    return {"drafts": find_drafts(view.db, view.actor) if is_enabled else []}


def find_vendor_token(view: Viewing) -> dict[str, Any]:
    """Return whether the actor has authorized video calls, under the current and the older name."""
    is_authorized = has_token(view.db, view.actor.id)
    return {"has_vendor_token": is_authorized, "has_zoom_token": is_authorized}
