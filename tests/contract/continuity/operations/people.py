"""Calls about users and groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from models.chat.identity.roles import Role
from tests.contract.continuity.operations.table import operation
from tests.contract.continuity.world import Call, Nothing, World, call

MAY_GO = ("othello", "ophelia")
"""Users who may be deactivated, because their events are not followed."""
ROLE_CHANGES = {
    "hamlet": (Role.MEMBER, Role.MEMBER, Role.MODERATOR, Role.ADMINISTRATOR, Role.GUEST),
    "polonius": (Role.GUEST, Role.GUEST, Role.MEMBER),
    "othello": (Role.MEMBER, Role.GUEST, Role.OWNER),
    "prospero": (Role.MODERATOR, Role.MEMBER),
    "reminder": (Role.MEMBER,),
}


@operation
def create_user(world: World) -> Call:
    number = world.number()
    form = {"email": f"player{number}@acme.example", "full_name": f"Player {number}"}
    return call(world.administrator(), "POST", "/users", password="very long a word", **form)


@operation
def update_user(world: World) -> Call:
    name = world.pick(*ROLE_CHANGES)
    path = f"/users/{world.members[name].id}"
    form: dict[str, Any] = {}
    match world.pick("role", "role", "full_name", "profile_data", "new_email"):
        case "role":
            form["role"] = int(world.pick(*ROLE_CHANGES[name]))
        case "full_name":
            form["full_name"] = f"{name.title()} {world.number()}"
        case "profile_data":
            form["profile_data"] = [{"id": _field(world), "value": f"value {world.number()}"}]
        case "new_email":
            form["new_email"] = f"othello{world.number()}@acme.example"
            path = f"/users/{world.members['othello'].id}"
    made = call(world.administrator(), "PATCH", path, **form)
    if "new_email" not in form:
        return made
    return replace(made, after=lambda answer: _rename(world, form["new_email"]))


def _rename(world: World, email: str) -> None:
    world.members["othello"] = replace(world.members["othello"], email=email)


def _field(world: World) -> int:
    """Return a text field."""
    sql = "SELECT id FROM profile_field WHERE realm_id = :realm AND type IN (1, 2) ORDER BY id"
    return int(world.row(sql).id)


@operation
def deactivate_user(world: World) -> Call:
    user_id = world.pick(world.members["othello"].id, world.members["ophelia"].id, _player(world))
    removal = world.pick("delete_profile", "delete_public_channel_messages", "")
    form = {"actions": {removal: True}} if removal else {}
    return call(world.administrator(), "DELETE", f"/users/{user_id}", **form)


def _player(world: World) -> int:
    """Return a user created in the history, or Ophelia."""
    sql = "SELECT id FROM \"user\" WHERE realm_id = :realm AND full_name LIKE 'Player%' ORDER BY id"
    try:
        return int(world.row(sql).id)
    except Nothing:
        return world.members["ophelia"].id


@operation
def reactivate_user(world: World) -> Call:
    sql = 'SELECT id FROM "user" WHERE realm_id = :realm AND NOT is_active ORDER BY id'
    user_id = world.row(sql).id
    return call(world.administrator(), "POST", f"/users/{user_id}/reactivate")


@operation
def deactivate_own_user(world: World) -> Call:
    return call(world.member_among("othello"), "DELETE", "/users/me")


@operation
def regenerate_own_api_key(world: World) -> Call:
    name = world.pick("othello", "hamlet", "polonius")
    made = call(world.members[name], "POST", "/users/me/api_key/regenerate")
    return replace(made, after=lambda answer: _renew(world, name, answer["api_key"]))


def _renew(world: World, name: str, key: str) -> None:
    world.members[name] = replace(world.members[name], key=key)


@operation
def create_bot(world: World) -> Call:
    number = world.number()
    form = {"full_name": f"Puppet {number}", "short_name": f"puppet{number}"}
    return call(world.person(), "POST", "/bots", **form, bot_type=world.pick(1, 2))


def _puppet(world: World) -> str:
    """Return a bot created in the history."""
    sql = "SELECT id FROM \"user\" WHERE realm_id = :realm AND full_name LIKE 'Puppet%' ORDER BY id"
    return f"/bots/{world.row(sql).id}"


@operation
def update_bot(world: World) -> Call:
    owner = world.member_among("cordelia", "iago", "prospero", "hamlet", "othello")
    form = world.pick(
        {"full_name": f"Puppet {world.number()}"}, {"bot_owner_id": owner.id}, {"role": 300}
    )
    return call(world.administrator(), "PATCH", _puppet(world), **form)


@operation
def regenerate_bot_api_key(world: World) -> Call:
    return call(world.administrator(), "POST", f"{_puppet(world)}/api_key/regenerate")


@operation
def deactivate_bot(world: World) -> Call:
    return call(world.administrator(), "DELETE", _puppet(world))


@operation
def update_own_profile_data(world: World) -> Call:
    data = [{"id": _field(world), "value": f"value {world.number()}"}]
    return call(world.person(), "PATCH", "/users/me/profile_data", data=data)


@operation
def clear_own_profile_data(world: World) -> Call:
    return call(world.person(), "DELETE", "/users/me/profile_data", data=[_field(world)])


@operation
def update_user_status(world: World) -> Call:
    path = f"/users/{world.person().id}/status"
    form = world.pick({"status_text": world.pick("busy", "")}, {"emoji_name": "car"})
    return call(world.administrator(), "POST", path, **form)


@operation
def update_own_status(world: World) -> Call:
    form = world.pick(
        {"status_text": f"busy {world.number()}"},
        {"status_text": ""},
        {"emoji_name": "car"},
        {"emoji_name": "zulip"},
        {"emoji_name": ""},
        {"away": world.flip()},
    )
    return call(world.person(), "POST", "/users/me/status", **form)


@operation
def create_user_group(world: World) -> Call:
    form: dict[str, Any] = {"name": f"group {world.number()}", "description": "*Players*"}
    form["members"] = [world.user_id() for _ in range(world.pick(0, 1, 2))]
    if world.flip(0.3):
        form["can_mention_group"] = world.group()
    by = world.member_among("cordelia", "iago", "prospero", "hamlet")
    return call(by, "POST", "/user_groups/create", **form)


def _group(world: World, condition: str = "kind = 'named'") -> int:
    sql = f"SELECT id FROM user_group WHERE realm_id = :realm AND {condition} ORDER BY id"
    return int(world.row(sql).id)


def _changing_group(world: World, method: str, tail: str = "", **form: Any) -> Call:
    by = world.member_among("cordelia", "cordelia", "iago", "hamlet")
    return call(by, method, f"/user_groups/{_group(world)}{tail}", **form)


@operation
def update_user_group(world: World) -> Call:
    form = world.pick(
        {"name": f"group {world.number()}"},
        {"description": f"{world.number()}"},
        {"deactivated": False},
        {"deactivated": False, "name": f"group {world.number()}"},
        {"can_join_group": {"new": world.group()}},
        {"can_mention_group": {"new": world.group()}, "can_leave_group": {"new": world.group()}},
    )
    return _changing_group(world, "PATCH", **form)


@operation
def deactivate_user_group(world: World) -> Call:
    return _changing_group(world, "POST", "/deactivate")


@operation
def update_user_group_members(world: World) -> Call:
    op = world.pick("add", "add", "delete")
    return _changing_group(world, "POST", "/members", **{op: [world.user_id()]})


@operation
def update_user_group_subgroups(world: World) -> Call:
    op = world.pick("add", "add", "delete")
    subgroup = _group(world, "kind <> 'anonymous'")
    return _changing_group(world, "POST", "/subgroups", **{op: [subgroup]})
