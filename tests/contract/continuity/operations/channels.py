"""Calls about channels, subscriptions, folders and topics."""

from __future__ import annotations

from typing import Any

from tests.contract.continuity.operations.table import operation
from tests.contract.continuity.world import NAMES, Call, Nothing, World, call

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
    """Subscribe to an existing channel, or to a new one of any kind."""
    by = world.member_among("cordelia", "iago", "hamlet", "prospero", "othello", "polonius")
    form: dict[str, Any] = {}
    if world.flip(0.5):
        form["principals"] = sorted({world.random_member().id, world.random_member().id})
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
    there = "s.is_active AND NOT c.is_archived"
    tie = world.row(f"{sql} WHERE {there} ORDER BY c.id, s.user_id")
    leaver = [member for member in world.members.values() if member.id == tie.user_id]
    by = world.pick(world.members["cordelia"], *leaver)
    form = {} if [by] == leaver else {"principals": [tie.user_id]}
    return call(by, "DELETE", "/users/me/subscriptions", subscriptions=[tie.name], **form)


def _setting(world: World) -> tuple[str, Any]:
    name = world.pick(*SETTINGS)
    return name, world.pick(*SETTINGS[name])


@operation
def update_subscription_settings(world: World) -> Call:
    member = world.random_member()
    data = []
    for _ in range(world.pick(1, 2)):
        name, value = _setting(world)
        data.append({"stream_id": _own(world, member.id), "property": name, "value": value})
    path = "/users/me/subscriptions/properties"
    return call(member, "POST", path, subscription_data=data)


@operation
def update_subscription_setting(world: World) -> Call:
    member = world.random_member()
    name, value = _setting(world)
    path = f"/users/me/subscriptions/{_own(world, member.id)}"
    return call(member, "PATCH", path, property=name, value=value)


def _own(world: World, user_id: int) -> int:
    """Return whether a user may be removed. Clients that do not support archived channels forget
    that their user is subscribed.
    """
    sql = "SELECT c.id FROM subscription s JOIN channel c ON c.id = s.channel_id"
    there = "s.user_id = :user_id AND s.is_active AND NOT c.is_archived"
    return int(world.row(f"{sql} WHERE {there} ORDER BY c.id", user_id=user_id).id)


# --- the channels themselves ----------------------------------------------------------------------


@operation
def update_channel(world: World) -> Call:
    """Update a channel. An archived channel is restored."""
    sql = "SELECT id, is_archived FROM channel WHERE realm_id = :realm"
    inside = "SELECT channel_id FROM subscription WHERE is_active"
    can_be = f"is_archived AND (NOT invite_only OR id IN ({inside}))"
    archived = world.rows(f"{sql} AND {can_be} ORDER BY id")
    channel = world.pick(*archived) if archived else world.row(f"{sql} ORDER BY id")
    form: dict[str, Any] = {"is_archived": False}
    if not archived:
        form = world.pick(
            {"new_name": f"{world.pick(*NAMES)} {world.number()}"},
            {"description": f"A *place* {world.number()}"},
            {"is_private": world.flip()},
            {"is_private": True, "history_public_to_subscribers": world.flip()},
            {"is_web_public": world.flip()},
            {"is_default_stream": world.flip()},
            {"folder_id": _folder(world) or "null"},
            {"topics_policy": world.pick("inherit", "allow_empty_topic")},
            {"can_subscribe_group": {"new": world.group()}},
            {"can_administer_channel_group": {"new": world.group()}},
            {"message_retention_days": world.pick(30, "realm_default")},
        )
    return call(world.administrator(), "PATCH", f"/streams/{channel.id}", **form)


@operation
def archive_channel(world: World) -> Call:
    """Archive a channel, unless it is one of the last."""
    sql = "SELECT id FROM channel WHERE realm_id = :realm AND NOT is_archived ORDER BY id"
    if len(world.rows(sql)) < 2:
        raise Nothing
    return call(world.administrator(), "DELETE", f"/streams/{world.row(sql).id}")


@operation
def add_default_channel(world: World) -> Call:
    by = world.administrator()
    return call(by, "POST", "/default_streams", stream_id=world.channel().id)


@operation
def remove_default_channel(world: World) -> Call:
    default = world.row("SELECT channel_id FROM default_channel ORDER BY channel_id")
    by = world.administrator()
    return call(by, "DELETE", "/default_streams", stream_id=default.channel_id)


# --- topics ---------------------------------------------------------------------------------------


@operation
def set_user_topic(world: World) -> Call:
    member = world.random_member()
    form = {"stream_id": _own(world, member.id), "topic": world.topic()}
    return call(member, "POST", "/user_topics", visibility_policy=world.pick(0, 1, 2, 3), **form)


@operation
def update_muted_topic(world: World) -> Call:
    member = world.random_member()
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
