"""Valid cases, changed to refer to existing objects of the organization.

Schemas do not define which ids, names and addresses exist. Most ids are replaced by ids from
responses (`chat_seen`). Some stay as generated, and so do values at the limits of their range.
"""

from __future__ import annotations

import uuid
from typing import Any

from schemathesis import Case
from schemathesis.generation.meta import TestPhase

from tests.contract.fuzz.chat_seen import Seen
from tests.contract.fuzz.chat_sense import TOLD, sensible

KINDS = {
    "user_id": "user",
    "user_ids": "user",
    "muted_user_id": "user",
    "bot_id": "bot",
    "bot_owner_id": "user",
    "principals": "user",
    "members": "user",
    "direct_members": "user",
    "stream_id": "channel",
    "moderation_request_channel_id": "channel",
    "new_stream_announcements_stream_id": "channel",
    "message_id": "message",
    "message_ids": "message",
    "messages": "message",
    "scheduled_message_id": "scheduled",
    "reminder_id": "reminder",
    "draft_id": "draft",
    "saved_snippet_id": "snippet",
    "attachment_id": "attachment",
    "invite_id": "invitation",
    "stream_ids": "channel",
    "group_ids": "group",
    "filter_id": "linkifier",
    "field_id": "field",
    "playground_id": "playground",
    "export_id": "export",
    "channel_folder_id": "folder",
    "folder_id": "folder",
    "device_id": "device",
    "direct_subgroups": "group",
    "subgroups": "group",
    "user_group_id": "group",
    "add_subgroups": "group",
    "delete_subgroups": "group",
}
"""Parameter or key -> the kind of its ids. Permissions (`can_..._group`) are groups as well."""

HIGHEST = {
    "user": 9,
    "bot": 9,
    "channel": 5,
    "message": 30,
    "scheduled": 10,
    "reminder": 10,
    "draft": 10,
    "snippet": 10,
    "attachment": 10,
    "invitation": 10,
    "group": 8,
}
"""Ids up to these probably exist if none was seen yet."""

WORDS: dict[str, tuple[str, ...]] = {
    "anchor": ("newest", "oldest", "first_unread", "7"),
    "email": ("second@fuzz.example", "user2@127.0.0.1", "user3@127.0.0.1"),
    "stream": ("general", "Denmark", "Verona"),
    "username": ("first@fuzz.example", "second@fuzz.example"),
    "flag": ("starred", "read", "collapsed"),
    "op": ("add", "remove"),
    "fragment": ("inbox", "recent", "narrow/is/alerted"),
    "operator": ("channel", "topic", "sender", "is", "search", "has", "near"),
}
"""Text parameter -> meaningful values."""

TYPING = ("start", "stop")
"""Values of `op` other than `add` and `remove`."""

SPELLINGS = (
    ("topic", "subject"),
    ("client_extavatar", "client_gravatar"),
    ("syntax_language", "pygments_language"),
)
"""Two names of one parameter, of which one is sent."""

UNTOUCHED = 2**31 - 100
"""Greater values are kept, because the coverage phase tests the limits."""

KEY = "Idempotency-Key"


def factual(case: Case, seen: Seen) -> None:
    """Change a valid case in place to another valid case."""
    operation_id = case.operation.definition.raw["operationId"]
    if case.meta is None or case.meta.phase.name is not TestPhase.STATEFUL:
        path = _near(case.path_parameters, seen)  # values from a link are not changed
        if isinstance(path, dict) and isinstance(path.get("domain"), str):
            path["domain"] = seen.one("domain", len(path["domain"])) or path["domain"]
        if isinstance(path, dict) and len(str(path.get("token", ""))) % 4:
            path["token"] = TOLD.get("email_token", path["token"])
        case.path_parameters = path
    case.query = _spelled_once(_near(case.query, seen))
    if case.method == "GET" and isinstance(case.query, dict):
        case.query = sensible(operation_id, case.query, seen)
    if case.headers is not None and KEY in case.headers:
        case.headers[KEY] = f"{case.headers[KEY][:60]}.{uuid.uuid4().hex}"
    if isinstance(case.body, dict):
        body = _spelled_once(_near(case.body, seen))
        case.body = sensible(operation_id, body, seen)


def _spelled_once(sent: Any) -> Any:
    dropped = {other for chosen, other in SPELLINGS if sent and chosen in sent}
    return {k: v for k, v in sent.items() if k not in dropped} if dropped else sent


def _near(value: Any, seen: Seen, name: str = "") -> Any:
    if isinstance(value, dict):
        near = {key: _near(item, seen, key) for key, item in value.items()}
        if "property" in near and "value" in near:
            near["value"] = _fitting(near["property"], near["value"])
        return near
    if isinstance(value, list):
        return [_near(item, seen, name) for item in value]
    kind = KINDS.get(name) or ("group" if _is_permission(name) else None)
    if kind is not None and type(value) is int and 0 <= value < UNTOUCHED and value % 16:
        known = seen.one(kind, value)
        return value % HIGHEST.get(kind, 5) + 1 if known is None else known
    if name in WORDS and isinstance(value, str) and len(value) % 4 and value not in TYPING:
        return WORDS[name][len(value) % len(WORDS[name])]
    return value


def _is_permission(name: str) -> bool:
    return name.startswith("can_") and name.endswith(("_group", "_groups"))


def _fitting(setting: Any, value: Any) -> Any:
    """Return a value for a setting of a subscription."""
    if setting == "color":
        return value if isinstance(value, str) and value.startswith("#") else "#f00f00"
    return value if isinstance(value, bool) else bool(value)
