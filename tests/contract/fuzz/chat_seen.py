"""Ids from responses about the organization, for use in later cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

KEPT = 40

LISTED = {
    "list_users": ("user", "members", "user_id"),
    "list_bots": ("bot", "bots", "user_id"),
    "list_channels": ("channel", "streams", "stream_id"),
    "list_messages": ("message", "messages", "id"),
    "list_scheduled_messages": ("scheduled", "scheduled_messages", "scheduled_message_id"),
    "list_saved_snippets": ("snippet", "saved_snippets", "id"),
    "list_reminders": ("reminder", "reminders", "reminder_id"),
    "list_attachments": ("attachment", "attachments", "id"),
    "list_invitations": ("invitation", "invites", "id"),
    "list_drafts": ("draft", "drafts", "id"),
    "list_profile_fields": ("field", "custom_fields", "id"),
    "list_linkifiers": ("linkifier", "linkifiers", "id"),
    "list_channel_folders": ("folder", "channel_folders", "id"),
    "list_domains": ("domain", "domains", "domain"),
    "list_exports": ("export", "exports", "id"),
    "list_user_groups": ("group", "user_groups", "id"),
}
"""operationId -> kind of object, the array that contains the objects, and the key of their ids."""

CREATED = {
    "create_user": ("user", "user_id"),
    "create_bot": ("bot", "user_id"),
    "send_message": ("message", "id"),
    "create_scheduled_message": ("scheduled", "scheduled_message_id"),
    "create_reminder": ("reminder", "reminder_id"),
    "create_saved_snippet": ("snippet", "saved_snippet_id"),
    "create_profile_field": ("field", "id"),
    "create_linkifier": ("linkifier", "id"),
    "create_channel_folder": ("folder", "channel_folder_id"),
    "create_playground": ("playground", "id"),
    "create_export": ("export", "id"),
    "create_user_group": ("group", "group_id"),
    "register_client_device": ("device", "device_id"),
}

REMOVED = {
    "deactivate_bot": ("bot", "bot_id"),
    "delete_message": ("message", "message_id"),
    "delete_scheduled_message": ("scheduled", "scheduled_message_id"),
    "delete_reminder": ("reminder", "reminder_id"),
    "delete_saved_snippet": ("snippet", "saved_snippet_id"),
    "delete_attachment": ("attachment", "attachment_id"),
    "delete_draft": ("draft", "draft_id"),
    "delete_profile_field": ("field", "field_id"),
    "delete_linkifier": ("linkifier", "filter_id"),
    "delete_playground": ("playground", "playground_id"),
    "delete_domain": ("domain", "domain"),
    "delete_export": ("export", "export_id"),
    "remove_client_device": ("device", "device_id"),
}
"""operationId -> kind, and the parameter with the id."""


class Seen:
    """Objects by kind, the newest last. The oldest are removed."""

    def __init__(self) -> None:
        self._held: dict[str, list[Any]] = defaultdict(list)

    def note(self, operation_id: str, sent: Mapping[str, Any], body: Mapping[str, Any]) -> None:
        """Record a 200 response to a request."""
        if operation_id in LISTED:
            kind, array, key = LISTED[operation_id]
            found = [item[key] for item in body[array]]
            if operation_id == "list_user_groups":
                found = [it["id"] for it in body[array] if _may_hold_permissions(it)]
            self._held[kind] = found[-KEPT:]
        elif operation_id in CREATED:
            kind, key = CREATED[operation_id]
            self._held[kind] = [*self._held[kind], body[key]][-KEPT:]
        elif operation_id in REMOVED:
            kind, name = REMOVED[operation_id]
            gone = sent.get(name)
            self._held[kind] = [item for item in self._held[kind] if item != gone]
        elif operation_id == "list_own_devices":
            self._held["device"] = [int(name) for name in body["devices"]][-KEPT:]

    def one(self, kind: str, chance: int) -> Any:
        """Return an object of a kind, or None if none was seen."""
        held = self._held[kind]
        return held[chance % len(held)] if held else None

    def all(self, kind: str) -> list[Any]:
        """Return all objects of a kind that were seen."""
        return list(self._held[kind])


def _may_hold_permissions(group: Mapping[str, Any]) -> bool:
    """Return whether a group can have most permissions. Everyone on the internet, and nobody,
    cannot.
    """
    return group["name"] not in ("role:internet", "role:nobody") and not group["deactivated"]
