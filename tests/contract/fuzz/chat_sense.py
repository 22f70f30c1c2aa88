"""Valid cases with consistent parameters, which OpenAPI 3.0 cannot express.

A channel message has a topic and a direct message has users, names of emoji match their codes, and
patterns match their templates. Names of new objects are unused. Three of four cases are changed
this way, and the fourth is sent as generated.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.fuzz.chat_seen import Seen

Sent = dict[str, Any]
Sense = Callable[[Sent, Seen, int], Sent]

HOUR_S = 3_600
EMOJIS = (("smile", "1f642"), ("octopus", "1f419"), ("rocket", "1f680"))
FIELD_TYPES = 8
DIRECT = ("direct", "private")
LONG = "A password that nobody guesses."


def told() -> Sent:
    """Return the values from the stage: secrets, signed tokens, and the data of a phone."""
    users = os.environ.get("SPECD_FUZZ_USERS")
    file = None if not users else Path(users).with_name("facts.json")
    return json.loads(file.read_text()) if file is not None and file.exists() else {}


TOLD = told()


def sensible(operation_id: str, sent: Sent, seen: Seen) -> Sent:
    """Make the parameters of one place (query or body) consistent."""
    chance = len(repr(sent))
    sense = SENSES.get(operation_id)
    return sent if sense is None or chance % 4 == 0 else sense(dict(sent), seen, chance)


def _fresh(sent: Sent, name: str, longest: int = 30) -> None:
    """Replace a name by an unused one."""
    if isinstance(sent.get(name), str):
        sent[name] = f"{sent[name].strip()[: longest - 9]} {uuid.uuid4().hex[:8]}"


def _named(*names: str) -> Sense:
    def sense(sent: Sent, seen: Seen, chance: int) -> Sent:
        for name in names:
            _fresh(sent, name)
        return sent

    return sense


def _addressed(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Make a message to a channel with a topic, or to users, at a future time."""
    if "to" in sent or "type" in sent:
        if sent.get("type") in DIRECT:
            sent["to"] = [seen.one("user", chance + n) or 2 for n in range(chance % 3 + 1)]
        else:
            sent["to"] = seen.one("channel", chance) or 1
            sent["topic"] = str(sent.get("topic") or sent.pop("subject", "") or "castle")
            sent.pop("subject", None)
    if isinstance(sent.get("scheduled_delivery_timestamp"), int):
        sent["scheduled_delivery_timestamp"] = int(time.time()) + HOUR_S + chance
    return sent


def _typing(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Type in a topic of a channel, or to users."""
    if sent.get("type", "direct") in DIRECT:
        return {**sent, "to": [seen.one("user", chance) or 2]}
    return {**_one_channel(sent, seen, chance), "topic": str(sent.get("topic") or "castle")}


def _anchored(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Select messages by their ids, or around an anchor."""
    if "message_ids" in sent:
        return {k: v for k, v in sent.items() if k not in ("anchor", "num_before", "num_after")}
    return {"anchor": "newest", "num_before": chance % 50, "num_after": 0, **sent}


def _one_channel(sent: Sent, seen: Seen, chance: int) -> Sent:
    sent.pop("stream", None)
    return {**sent, "stream_id": seen.one("channel", chance) or 1}


def _whole_order(kind: str, name: str) -> Sense:
    """Use all objects of a kind, in another order."""

    def sense(sent: Sent, seen: Seen, chance: int) -> Sent:
        every = seen.all(kind)
        turn = chance % (len(every) or 1)
        return {**sent, name: every[turn:] + every[:turn]}

    return sense


def _profile(name: str) -> Sense:
    """Use values or bare ids of existing profile fields."""

    def sense(sent: Sent, seen: Seen, chance: int) -> Sent:
        data = sent.get(name)
        if not isinstance(data, list):
            return sent
        near: list[Any] = []
        for at, item in enumerate(data):
            known = seen.one("field", chance + at)
            if known is None:
                near.append(item)
            else:
                near.append({**item, "id": known} if isinstance(item, dict) else known)
        return {**sent, name: near}

    return sense


def _user(sent: Sent, seen: Seen, chance: int) -> Sent:
    if "profile_data" in sent:
        sent = _profile("profile_data")(sent, seen, chance)
    if "new_email" in sent:
        sent["new_email"] = f"{uuid.uuid4().hex[:12]}@fuzz.example"
    return sent


def _linkified(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Use a pattern and templates with the same group."""
    mark = uuid.uuid4().hex[:8]
    return {
        "pattern": f"{mark}-(?P<id>[0-9]+)",
        "url_template": "https://issues.example/{id}",
        **(
            {"example_input": f"{mark}-7", "reverse_template": f"{mark}-{{id}}"}
            if chance % 2
            else {}
        ),
    }


def _view(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Use no name for built-in views, and a name for others."""
    if sent.get("fragment") in ("inbox", "recent"):
        sent.pop("name", None)
        return sent
    return {**sent, "name": f"view {uuid.uuid4().hex[:8]}"}


def _playground(sent: Sent, seen: Seen, chance: int) -> Sent:
    _fresh(sent, "name")
    spelling = "pygments_language" if "pygments_language" in sent else "syntax_language"
    return {**sent, spelling: "Python", "url_template": "https://play.example/?code={code}"}


def _field(sent: Sent, seen: Seen, chance: int) -> Sent:
    sent = {"name": "Editor", **sent, "field_type": chance % FIELD_TYPES + 1}
    _fresh(sent, "name")
    if "field_data" in sent:
        is_choice = sent.get("field_type") == 3
        sent["field_data"] = {"vim": {"text": "Vim", "order": "1"}} if is_choice else {}
    elif sent.get("field_type") in (3, 7):
        sent["field_type"] = 1
    return sent


def _domain(sent: Sent, seen: Seen, chance: int) -> Sent:
    return {**sent, "domain": f"{uuid.uuid4().hex[:8]}.example"}


def _account(sent: Sent, seen: Seen, chance: int) -> Sent:
    name = f"Player {chance}"
    return {"email": f"{uuid.uuid4().hex[:12]}@fuzz.example", "full_name": name, "password": LONG}


def _status(sent: Sent, seen: Seen, chance: int) -> Sent:
    emoji = {"emoji_name", "emoji_code", "reaction_type"}
    if emoji & sent.keys():
        name, code = EMOJIS[chance % len(EMOJIS)]
        sent |= {"emoji_name": name, "emoji_code": code, "reaction_type": "unicode_emoji"}
    return sent if sent else {"status_text": "In the castle"}


def _draft(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Address one channel, users, or no recipient yet."""
    kind, to = (("stream", "channel"), ("private", "user"), ("", ""))[chance % 3]
    known = seen.one(to, chance) if to else None
    return {**sent, "type": kind, "to": [known or 1] if to else [], "timestamp": chance}


def _drafts(sent: Sent, seen: Seen, chance: int) -> Sent:
    if isinstance(sent.get("drafts"), list):
        sent["drafts"] = [_draft(draft, seen, chance) for draft in sent["drafts"]]
    if isinstance(sent.get("draft"), dict):
        sent["draft"] = _draft(sent["draft"], seen, chance)
    return sent


def _reacting(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Use an emoji whose name and code match."""
    name, code = EMOJIS[chance % len(EMOJIS)]
    return {**sent, "emoji_name": name, "emoji_code": code, "reaction_type": "unicode_emoji"}


def _reported(sent: Sent, seen: Seen, chance: int) -> Sent:
    return {**sent, "description": f"Words {chance}"}


def _permitted(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Use existing groups for permissions, regardless of the old value in the case."""
    _fresh(sent, "name")
    near = {}
    for at, (name, value) in enumerate(sent.items()):
        value = value["new"] if isinstance(value, dict) and "new" in value else value
        if name.startswith("can_") and not isinstance(value, int):
            value = seen.one("group", chance + at) or value
        near[name] = value
    return near


def _joined(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Use users to add to a group or to remove from it."""
    return {("add", "delete")[chance % 2]: [seen.one("user", chance) or 2]}


def _nested(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Use a group to add to a group or to remove from it."""
    return {("add", "delete")[chance % 2]: [seen.one("group", chance) or 2]}


def _invited(sent: Sent, seen: Seen, chance: int) -> Sent:
    """Invite a new user, to existing channels and groups or to none."""
    email = f"{uuid.uuid4().hex[:12]}@fuzz.example"
    return {**sent, "invitee_emails": email, "invite_as": (400, 600)[chance % 2]}


def _own_device(sent: Sent, seen: Seen, chance: int) -> Sent:
    known = seen.one("device", chance)
    return sent if known is None else {**sent, "device_id": known}


def _told(*names: str) -> Sense:
    def sense(sent: Sent, seen: Seen, chance: int) -> Sent:
        return sent | {name: TOLD[name] for name in names if name in TOLD}

    return sense


def _registered(sent: Sent, seen: Seen, chance: int) -> Sent:
    device = seen.one("device", chance)
    return sent if device is None or "push" not in TOLD else {"device_id": device, **TOLD["push"]}


SENSES: dict[str, Sense] = {
    "send_message": _addressed,
    "create_scheduled_message": _addressed,
    "update_scheduled_message": _addressed,
    "create_reminder": _addressed,
    "create_drafts": _drafts,
    "update_draft": _drafts,
    "set_typing_status": _typing,
    "add_reaction": _reacting,
    "remove_reaction": _reacting,
    "list_messages": _anchored,
    "update_muted_topic": _one_channel,
    "reorder_profile_fields": _whole_order("field", "order"),
    "reorder_linkifiers": _whole_order("linkifier", "ordered_linkifier_ids"),
    "reorder_channel_folders": _whole_order("folder", "order"),
    "update_own_profile_data": _profile("data"),
    "clear_own_profile_data": _profile("data"),
    "update_user": _user,
    "create_linkifier": _linkified,
    "update_linkifier": _linkified,
    "create_playground": _playground,
    "create_profile_field": _field,
    "update_profile_field": _named("name"),
    "create_channel_folder": _named("name"),
    "update_channel_folder": _named("name"),
    "create_domain": _domain,
    "create_user": _account,
    "update_own_status": _status,
    "update_user_status": _status,
    "add_navigation_view": _view,
    "report_message": _reported,
    "update_realm": _permitted,
    "update_channel": _permitted,
    "create_user_group": _permitted,
    "update_user_group": _named("name"),
    "update_user_group_members": _joined,
    "update_user_group_subgroups": _nested,
    "send_invitations": _invited,
    "subscribe": _permitted,
    "remove_client_device": _own_device,
    "send_test_push_notification": _own_device,
    "fetch_api_key": _told("username", "password"),
    "jwt_fetch_api_key": _told("token"),
    "register_push_device": _registered,
}
"""By operationId. Each function gets a copy that it may change."""
