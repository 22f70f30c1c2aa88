"""Calls about channels, subscriptions, folders and topics."""

from __future__ import annotations

from typing import Any

from tests.judges.continuity.operations.table import operation
from tests.judges.continuity.world import NAMES, Call, World, call

SETTINGS = {
    "is_muted": (True, False),
    "in_home_view": (True, False),
    "pin_to_top": (True, False),
    "color": ("#aabbcc", "#123456"),
    "desktop_notifications": (True, False),
    "wildcard_mentions_notify": (True, False),
}


@operation
def subscribe(world: World) -> Call:
    """To a channel that is there, or to a new one of any kind."""
    by = world.somebody("cordelia", "iago", "hamlet", "prospero", "othello", "polonius")
    form: dict[str, Any] = {}
    if world.flip(0.5):
        form["principals"] = sorted({world.anybody().id, world.anybody().id})
    name = f"{world.pick(*NAMES)} {world.pick(1, 2)}"
    form |= world.pick(
        {},
        {"invite_only": True},
        {"invite_only": True, "history_public_to_subscribers": False},
        {"is_default_stream": True},
        {"is_web_public": True},
        {"can_add_subscribers_group": world.group(), "folder_id": _folder(world)},
    )
    subscriptions = [{"name": name, "description": "A *place*"}]
    return call(by, "POST", "/users/me/subscriptions", subscriptions=subscriptions, **form)


def _folder(world: World) -> int | None:
    found = world.rows("SELECT id FROM channel_folder WHERE NOT is_archived ORDER BY id")
    return int(world.pick(*found).id) if found else None


@operation
def unsubscribe(world: World) -> Call:
    sql = "SELECT c.name, s.user_id FROM subscription s JOIN channel c ON c.id = s.channel_id"
    tie = world.row(f"{sql} WHERE s.is_active ORDER BY c.id, s.user_id")
    leaver = [member for member in world.members.values() if member.id == tie.user_id]
    by = world.pick(world.members["cordelia"], *leaver)
    form = {} if [by] == leaver else {"principals": [tie.user_id]}
    return call(by, "DELETE", "/users/me/subscriptions", subscriptions=[tie.name], **form)


def _setting(world: World) -> tuple[str, Any]:
    name = world.pick(*SETTINGS)
    return name, world.pick(*SETTINGS[name])


@operation
def update_subscription_settings(world: World) -> Call:
    member = world.anybody()
    data = []
    for _ in range(world.pick(1, 2)):
        name, value = _setting(world)
        data.append({"stream_id": _own(world, member.id), "property": name, "value": value})
    path = "/users/me/subscriptions/properties"
    return call(member, "POST", path, subscription_data=data)


@operation
def update_subscription_setting(world: World) -> Call:
    member = world.anybody()
    name, value = _setting(world)
    path = f"/users/me/subscriptions/{_own(world, member.id)}"
    return call(member, "PATCH", path, property=name, value=value)


def _own(world: World, user_id: int) -> int:
    sql = "SELECT channel_id AS id FROM subscription WHERE user_id = :user_id AND is_active"
    return int(world.row(f"{sql} ORDER BY channel_id", user_id=user_id).id)


# --- topics ---------------------------------------------------------------------------------------


@operation
def set_user_topic(world: World) -> Call:
    member = world.anybody()
    form = {"stream_id": _own(world, member.id), "topic": world.topic()}
    return call(member, "POST", "/user_topics", visibility_policy=world.pick(0, 1, 2, 3), **form)


@operation
def update_muted_topic(world: World) -> Call:
    member = world.anybody()
    form = {"stream_id": _own(world, member.id), "topic": world.topic()}
    path = "/users/me/subscriptions/muted_topics"
    return call(member, "PATCH", path, op=world.pick("add", "remove"), **form)


# --- folders --------------------------------------------------------------------------------------


@operation
def create_channel_folder(world: World) -> Call:
    form = {"name": f"folder {world.number()}", "description": "*Castles*"}
    return call(world.administrator(), "POST", "/channel_folders/create", **form)


@operation
def update_channel_folder(world: World) -> Call:
    folder = world.row("SELECT id FROM channel_folder ORDER BY id")
    number = world.number()
    form = world.pick(
        {"name": f"folder {number}"}, {"description": f"_{number}_"}, {"is_archived": world.flip()}
    )
    return call(world.administrator(), "PATCH", f"/channel_folders/{folder.id}", **form)


@operation
def reorder_channel_folders(world: World) -> Call:
    order = [row.id for row in world.rows("SELECT id FROM channel_folder ORDER BY id")]
    world.rng.shuffle(order)
    return call(world.administrator(), "PATCH", "/channel_folders", order=order)
