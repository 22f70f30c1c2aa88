"""The chat document's request examples, played: each is sent as it stands, in every notation it is
given for, to an organization that holds what it speaks of, and is answered as the document shows.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import specs
from models.clock import FrozenClock
from models.database import Database
from tests.authorization.chat_stage import HOST, ChatStage, prepare
from tests.authorization.conftest import NOW
from tests.authorization.policy import ALLOWED, filled, load
from tests.chat_app import ChatClient
from tests.chat_cast import Cast
from tests.contract import operations_of

DOCUMENT = specs.load("chat")
OPERATIONS = operations_of(DOCUMENT)
JSON, FORM, MULTIPART = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
)

# Ids are given out by the server, and a token is signed: what stands in their places here.
STANDS_FOR: dict[tuple[str, str], dict[str, Any]] = {
    ("jwt_fetch_api_key", "hamlet"): {"token": "$hamlets_token"},
    ("create_scheduled_message", "channel"): {"to": "$denmark"},
    ("update_settings", "others"): {
        "target_users": {"group_ids": ["$audience"], "skip_if_already_edited": True}
    },
    ("update_own_profile_data", "short_text"): {"data": [{"id": "$profile_field", "value": "P"}]},
    ("clear_own_profile_data", "one"): {"data": ["$profile_field"]},
    ("update_user", "profile"): {"profile_data": [{"id": "$profile_field", "value": "Prince"}]},
    ("reorder_profile_fields", "turned"): {"order": ["$profile_field"]},
    ("reorder_linkifiers", "turned"): {"ordered_linkifier_ids": ["$linkifier"]},
    ("reorder_channel_folders", "turned"): {"order": ["$channel_folder"]},
    ("update_message_flags", "read"): {"messages": ["$hamlets_message"]},
    ("update_muted_topic", "unmute"): {"stream_id": "$denmark"},
    ("update_subscription_settings", "pin"): {
        "subscription_data": [
            {"stream_id": "$denmark", "property": "pin_to_top", "value": True},
            {"stream_id": "$denmark", "property": "color", "value": "#f00f00"},
        ]
    },
    ("set_user_topic", "mute"): {"stream_id": "$denmark"},
    ("set_user_topic", "follow"): {"stream_id": "$denmark"},
    ("set_user_topic", "clear"): {"stream_id": "$denmark"},
    ("remove_client_device", "phone"): {"device_id": "$own_device"},
    ("register_push_device", "first"): {"device_id": "$own_device"},
    ("register_push_device", "new_key"): {"device_id": "$own_device"},
    ("send_test_push_notification", "one"): {"device_id": "$own_device"},
}
# What must have happened before: example -> the example of another operation.
AFTER = {
    ("unsubscribe", "leave"): ("subscribe", "elsinore"),
    ("update_muted_topic", "unmute"): ("update_muted_topic", "mute"),
    ("update_linkifier", "reverse"): ("update_linkifier", "cases"),
}
# What the organization has already; the example is of one that has not.
BEFORE = {
    ("create_domain", "acme"): ("delete_domain", {"domain": "acme.example"}),
    ("create_linkifier", "cases"): ("delete_linkifier", {"filter_id": "$linkifier"}),
    ("create_linkifier", "reverse"): ("delete_linkifier", {"filter_id": "$linkifier"}),
    ("create_channel_folder", "plays"): (
        "update_channel_folder",
        {"channel_folder_id": "$channel_folder", "name": "Old plays"},
    ),
}
# Nothing is behind these here: with their counterparts they are played in tests/handlers/chat.
REFUSED = {
    "register_push_device": "Server is not configured to use push notification service.",
    "send_test_push_notification": "No active registered push device",
    "create_video_call": "Video call credentials have not been configured",
    "create_zoom_call": "Zoom credentials have not been configured",
    "receive_vendor_notice": "Video call credentials have not been configured",
}


def resolved(node: Any) -> Any:
    while isinstance(node, Mapping) and "$ref" in node:
        target: Any = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def operation_of(operation_id: str) -> dict[str, Any]:
    method, path = OPERATIONS[operation_id]
    found: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]
    return found


def examples() -> Iterator[Any]:
    """(operationId, media type, name, value) of every example of a request body."""
    for operation_id in OPERATIONS:
        body = resolved(operation_of(operation_id).get("requestBody", {}))
        for kind, media in body.get("content", {}).items():
            for name, example in media.get("examples", {}).items():
                value = resolved(example)["value"]
                yield pytest.param(
                    operation_id, kind, name, value, id=f"{operation_id}-{name}-{kind}"
                )


def example(operation_id: str, name: str) -> Any:
    body = resolved(operation_of(operation_id)["requestBody"])
    return resolved(body["content"][FORM]["examples"][name])["value"]


@pytest.fixture(scope="module")
def stage(
    chat_sqlite_template: tuple[str, Cast], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChatStage]:
    """The organization of the authorization tests, with the channel and the group of examples."""
    prepared = prepare(chat_sqlite_template, tmp_path_factory.mktemp("x"), FrozenClock(NOW))
    database = Database(f"sqlite:///{prepared.file}")
    prepared.app.play(database, prepared.clock)
    owner = ChatClient(prepared.app, HOST, prepared.cast.cordelia)
    owner.post("/users/me/subscriptions", subscriptions=[{"name": "Denmark"}])
    denmark = owner.get("/get_stream_id", stream="Denmark")["stream_id"]
    readers = {"name": "audience", "description": "", "members": [prepared.cast.hamlet.id]}
    owner.post("/user_groups/create", **readers)
    groups = owner.get("/user_groups")["user_groups"]
    audience = next(group["id"] for group in groups if group["name"] == "audience")
    database.dispose()
    things = {**prepared.things, "denmark": denmark, "audience": audience}
    yield replace(prepared, things=things)
    prepared.app.close()


PATHS = {
    case.operation: case.request
    for case in reversed(load("chat").cases)
    if case.cells["owner"] == ALLOWED or case.operation in REFUSED
}


class Player:
    """Plays examples as the owner, on a copy of the stage's database."""

    def __init__(self, stage: ChatStage, directory: Path) -> None:
        self._database = stage.copy(directory / "example.db")
        stage.app.play(self._database, stage.clock)
        self._client = ChatClient(stage.app, HOST, stage.cast.cordelia)
        self._things = stage.things_of("owner")

    def close(self) -> None:
        self._database.dispose()

    def send(self, operation_id: str, values: Any, kind: str = FORM) -> httpx.Response:
        method, path = OPERATIONS[operation_id]
        values = filled(values, self._things)
        path_values = {**filled(PATHS.get(operation_id, {}), self._things), **values}
        for name, value in path_values.items():
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(value))
                values = {n: v for n, v in values.items() if n != name}
        if kind == FORM:
            return self._client.request(method, path, values)
        if kind == JSON:
            content, header = json.dumps(values).encode(), JSON
        else:
            fields = {n: v if isinstance(v, str) else json.dumps(v) for n, v in values.items()}
            parts = {name: (None, text) for name, text in fields.items()}
            request = httpx.Request("POST", "http://nowhere", files=parts)
            content, header = request.read(), request.headers.get("Content-Type", FORM)
        return self._client.request(method, path, content=content, headers={"Content-Type": header})


@pytest.fixture
def player(stage: ChatStage, tmp_path: Path) -> Iterator[Player]:
    playing = Player(stage, tmp_path)
    yield playing
    playing.close()


@pytest.mark.parametrize(("operation_id", "kind", "name", "value"), list(examples()))
def test_every_request_example_works(
    player: Player, operation_id: str, kind: str, name: str, value: Any
) -> None:
    if (operation_id, name) in AFTER:
        other, named = AFTER[operation_id, name]
        first = player.send(other, {**example(other, named), **STANDS_FOR.get((other, named), {})})
        assert first.is_success, first.text
    if (operation_id, name) in BEFORE:
        before = player.send(*BEFORE[operation_id, name])
        assert before.is_success, before.text
    replaced = STANDS_FOR.get((operation_id, name), {})
    assert set(replaced) <= set(value), "something stands for what the example does not say"
    answer = player.send(operation_id, {**value, **replaced}, kind)
    if operation_id in REFUSED:
        assert (answer.status_code, answer.json()["msg"]) == (400, REFUSED[operation_id])
        return
    assert answer.status_code == 200, answer.text
    shown = operation_of(operation_id)["responses"]["200"]
    bodies = resolved(shown)["content"][JSON].get("examples", {})
    keys = [set(resolved(it)["value"]) for it in bodies.values()]
    assert not keys or set(answer.json()) in keys, answer.text


def test_every_stand_in_is_for_an_example() -> None:
    there = {(p.values[0], p.values[2]) for p in examples()}
    assert set(STANDS_FOR) | set(AFTER) | set(BEFORE) <= there
    assert {name for name, _ in there} >= set(REFUSED)
