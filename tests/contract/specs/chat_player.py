"""Plays the chat document's examples, in an organization with the objects that they mention."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx
from openapi_core.testing import MockRequest

import specs
from tests.contract.authorization.chat_stage import HOST, ChatStage, members
from tests.contract.authorization.policy import ALLOWED, filled, load
from tests.support.chat.app import BASE, ChatClient, SentFile
from tests.support.contract import judge_of, operations_of
from tests.support.documents import resolved

DOCUMENT = specs.load("chat")
resolve = partial(resolved, DOCUMENT)
OPERATIONS = operations_of(DOCUMENT)
JSON, FORM, MULTIPART = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
)

# Ids are assigned by the server, and a token is signed. These values replace them.
STANDS_FOR: dict[tuple[str, str], dict[str, Any]] = {
    ("jwt_fetch_api_key", "hamlet"): {"token": "$hamlets_token"},
    ("create_scheduled_message", "channel"): {"to": "$denmark"},
    ("add_submessage", "vote"): {"message_id": "$poll"},
    ("add_submessage", "option"): {"message_id": "$poll"},
    ("create_reminder", "noted"): {
        "message_id": "$hamlets_message",
        "scheduled_delivery_timestamp": "$tomorrow",
    },
    ("create_drafts", "channel"): {
        "drafts": [{"type": "stream", "to": ["$square"], "topic": "castle", "content": "Words"}]
    },
    ("create_drafts", "two"): {
        "drafts": [{"type": "private", "to": ["$hamlet"], "topic": "", "content": "Hi"}]
    },
    ("update_draft", "channel"): {
        "draft": {"type": "stream", "to": ["$square"], "topic": "castle", "content": "Words"}
    },
    ("upload_file", "note"): {"file": "$file"},
    ("create_custom_emoji", "picture"): {"file": "$picture"},
    ("upload_own_avatar", "picture"): {"file": "$picture"},
    ("delete_queue", "stop"): {"queue_id": "$own_queue"},
    ("update_settings", "others"): {
        "target_users": {"group_ids": ["$audience"], "skip_if_already_edited": True}
    },
    ("update_notification_settings", "others"): {
        "target_users": {"group_ids": ["$audience"], "skip_if_already_edited": True}
    },
    ("update_user_group", "permissions"): {
        f"can_{right}_group": {"new": "$members_group"}
        for right in ("add_members", "join", "leave", "manage", "mention", "remove_members")
    },
    ("update_user_group_members", "add"): {"add": ["$hamlet"]},
    ("update_user_group_members", "exchange"): {
        "delete": ["$own_id"],
        "add_subgroups": ["$members_group"],
    },
    ("update_user_group_subgroups", "add"): {"add": ["$members_group"]},
    ("send_invitations", "two"): {"stream_ids": ["$denmark"]},
    ("update_own_profile_data", "short_text"): {"data": [{"id": "$profile_field", "value": "P"}]},
    ("clear_own_profile_data", "one"): {"data": ["$profile_field"]},
    ("update_user", "profile"): {"profile_data": [{"id": "$profile_field", "value": "Prince"}]},
    ("update_user_by_email", "profile"): {
        "profile_data": [{"id": "$profile_field", "value": "Prince"}]
    },
    ("reorder_profile_fields", "turned"): {"order": ["$profile_field"]},
    ("reorder_linkifiers", "turned"): {"ordered_linkifier_ids": ["$linkifier"]},
    ("reorder_channel_folders", "turned"): {"order": ["$channel_folder"]},
    ("update_message_flags", "read"): {"messages": ["$hamlets_message"]},
    ("remove_reaction", "vote"): {"emoji_code": "1f419"},
    ("unsubscribe", "leave"): {"subscriptions": ["Elsinore"]},
    ("update_subscriptions", "swap"): {"add": [{"name": "Elsinore"}], "delete": ["square"]},
    ("update_muted_topic", "unmute"): {"stream_id": "$denmark"},
    ("update_subscription_settings", "pin"): {
        "subscription_data": [
            {"stream_id": "$denmark", "property": "pin_to_top", "value": True},
            {"stream_id": "$denmark", "property": "color", "value": "#f00f00"},
        ]
    },
    ("add_default_channel", "one"): {"stream_id": "$denmark"},
    ("remove_default_channel", "one"): {"stream_id": "$denmark"},
    ("mark_channel_as_read", "some"): {"stream_id": "$denmark"},
    ("mark_topic_as_read", "some"): {"stream_id": "$square", "topic_name": "Hamlet"},
    ("delete_topic", "ghost"): {"topic_name": "Hamlet"},
    ("set_user_topic", "mute"): {"stream_id": "$denmark"},
    ("set_user_topic", "follow"): {"stream_id": "$denmark"},
    ("set_user_topic", "clear"): {"stream_id": "$denmark"},
    ("set_typing_status", "channel"): {"stream_id": "$denmark"},
    ("remove_client_device", "phone"): {"device_id": "$own_device"},
    ("register_push_device", "first"): {"device_id": "$own_device"},
    ("register_push_device", "new_key"): {"device_id": "$own_device"},
    ("send_test_push_notification", "one"): {"device_id": "$own_device"},
}
# These have no counterparts here. tests/handlers/chat plays them with counterparts.
REFUSED = {
    "register_push_device": "Server is not configured to use push notification service.",
    "send_test_push_notification": "No active registered push device",
    "create_video_call": "Video call credentials have not been configured",
    "create_zoom_call": "Zoom credentials have not been configured",
    "receive_json": "Missing 'api_key' argument",
    "receive_webhook": "Missing 'api_key' argument",
    "receive_vendor_notice": "Video call credentials have not been configured",
}


def operation_of(operation_id: str) -> dict[str, Any]:
    method, path = OPERATIONS[operation_id]
    found: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]
    return found


def example(operation_id: str, name: str) -> Any:
    body = resolve(operation_of(operation_id)["requestBody"])
    return resolve(body["content"][FORM]["examples"][name])["value"]


PATHS = {
    case.operation: case.request
    for case in reversed(load("chat").cases)
    if case.cells["owner"] == ALLOWED or case.operation in REFUSED
}


KEY = "0a9b6c1e-8d4f-4a53-b7de-94c1f2a6e385"


def takes_key(operation_id: str) -> bool:
    listed = operation_of(operation_id).get("parameters", ())
    return any(resolve(parameter)["name"] == "Idempotency-Key" for parameter in listed)


def require_acceptance(method: str, path: str, headers: Mapping[str, str], **more: Any) -> None:
    """Raise an error unless openapi-core accepts a request that the service accepted."""
    signed = {**headers, "Authorization": "Basic eDp4"}
    asked = MockRequest(f"http://{HOST}", method.lower(), BASE + path, headers=signed, **more)
    judge_of(DOCUMENT).validate_request(asked)


class Player:
    """Plays examples on a copy of the stage's database, as the owner by default."""

    def __init__(self, stage: ChatStage) -> None:
        self.database = stage.copy("example")
        self._stage = stage
        stage.app.play(self.database, stage.clock)
        self.accept = JSON
        self.act_as("owner")

    def act_as(self, actor: str) -> None:
        self._client = ChatClient(self._stage.app, HOST, members(self._stage.cast)[actor])
        self._things = self._stage.things_of(actor)

    def close(self) -> None:
        self.database.dispose()

    def send(self, operation_id: str, values: Any, kind: str = FORM) -> httpx.Response:
        """Return the response. Numbers in it are available as `$new_...` in later requests."""
        answer = self._send(operation_id, values, kind)
        if answer.is_success and JSON in answer.headers.get("Content-Type", ""):
            told = {f"new_{name}": v for name, v in answer.json().items() if isinstance(v, int)}
            self._things |= told
        return answer

    def _send(self, operation_id: str, values: Any, kind: str) -> httpx.Response:
        method, path = OPERATIONS[operation_id]
        values = filled(values, self._things)
        path_values = {**filled(PATHS.get(operation_id, {}), self._things), **values}
        for name, value in path_values.items():
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", quote(str(value), safe="@"))
                values = {n: v for n, v in values.items() if n != name}
        more = {"Accept": self.accept}
        if takes_key(operation_id):
            more["Idempotency-Key"] = KEY
        if kind == FORM or any(isinstance(value, SentFile) for value in values.values()):
            answer = self._client.request(method, path, values, headers=more)
            if method == "GET" and answer.is_success:
                query = {n: v if isinstance(v, str) else json.dumps(v) for n, v in values.items()}
                require_acceptance(method, path, more, args=query)
            return answer
        if kind == JSON:
            content, header = json.dumps(values).encode(), JSON
        else:
            fields = {n: v if isinstance(v, str) else json.dumps(v) for n, v in values.items()}
            parts = {name: (None, text) for name, text in fields.items()}
            request = httpx.Request("POST", "http://nowhere", files=parts)
            content, header = request.read(), request.headers.get("Content-Type", FORM)
        headers = {"Content-Type": header, **more}
        answer = self._client.request(method, path, content=content, headers=headers)
        if kind == JSON and answer.is_success:
            require_acceptance(method, path, headers, data=content, content_type=JSON)
        return answer
