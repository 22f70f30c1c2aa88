"""Calls about the organization, its lists and exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.chat.access.group_settings import REALM_GROUPS
from models.chat.people.defaults import CHANGEABLE
from models.chat.tables.setting_table import SETTINGS
from tests.contract.continuity.operations.own import value_of
from tests.contract.continuity.operations.table import operation
from tests.contract.continuity.world import Call, World, call
from tests.support.chat.app import SentFile
from tests.support.pictures import PIXEL

VALUES: Mapping[str, tuple[Any, ...]] = {
    "name": ("Acme", "Globe"),
    "description": ("*Rockets*", ""),
    "welcome_message_custom_text": ("Ask in *help*", ""),
    "default_language": ("en", "de"),
    "email_address_visibility": (1, 3),
    "enable_read_receipts": (True, False),
    "require_unique_names": (True, False),
    "name_changes_disabled": (True, False),
    "topics_policy": ("allow_empty_topic", "disable_empty_topic"),
    "message_retention_days": (90, -1),
    "allow_message_editing": (True, True, False),
    "message_edit_history_visibility_policy": ("all", "moves", "none"),
    "message_content_edit_limit_seconds": (600, "unlimited"),
    "message_content_delete_limit_seconds": (600, "unlimited"),
    "move_messages_within_stream_limit_seconds": (604800, "unlimited"),
}
"""A name in `empty_topic_display_name` would change topics that clients without the capability
store under the name in their snapshot."""
CHANNELS = ("moderation_request_channel_id", "new_stream_announcements_stream_id")


@operation
def update_realm(world: World) -> Call:
    form: dict[str, Any] = {}
    for _ in range(world.pick(1, 1, 2)):
        kind = world.pick("value", "value", "group", "group", "guests", "channel")
        if kind == "value":
            name = world.pick(*VALUES)
            form[name] = world.pick(*VALUES[name])
        elif kind == "group":
            name = world.pick(*REALM_GROUPS)
            if name not in ("direct_message_permission_group", "can_access_all_users_group"):
                form[name] = {"new": world.group()}
        elif kind == "guests":
            form["can_access_all_users_group"] = {"new": _members_or_all(world)}
        else:
            form[world.pick(*CHANNELS)] = world.pick(world.channel().id, -1)
    return call(world.members["cordelia"], "PATCH", "/realm", **form)


@operation
def update_user_defaults(world: World) -> Call:
    setting = SETTINGS[world.pick("email_address_visibility", *sorted(CHANGEABLE))]
    form = {setting.name: value_of(world, setting)}
    return call(world.members["cordelia"], "PATCH", "/realm/user_settings_defaults", **form)


def _members_or_all(world: World) -> int:
    """Return members or everyone as the users who can access all users, which restricts guests or
    not.
    """
    name = world.pick("role:members", "role:everyone")
    sql = "SELECT id FROM user_group WHERE realm_id = :realm AND name = :name"
    return int(world.row(sql, name=name).id)


@operation
def try_welcome_message(world: World) -> Call:
    path, form = "/realm/test_welcome_bot_custom_message", {"welcome_message_custom_text": "Hi"}
    return call(world.administrator(), "POST", path, **form)


# --- profile fields -------------------------------------------------------------------------------


@operation
def create_profile_field(world: World) -> Call:
    form = {"name": f"field {world.number()}", "field_type": world.pick(1, 2), "hint": "a hint"}
    return call(world.administrator(), "POST", "/realm/profile_fields", **form)


def _fields(world: World) -> list[int]:
    sql = "SELECT id FROM profile_field WHERE realm_id = :realm ORDER BY id"
    return [row.id for row in world.rows(sql)]


@operation
def reorder_profile_fields(world: World) -> Call:
    order = _fields(world)
    world.rng.shuffle(order)
    return call(world.administrator(), "PATCH", "/realm/profile_fields", order=order)


@operation
def update_profile_field(world: World) -> Call:
    field_id = world.row("SELECT id FROM profile_field WHERE realm_id = :realm ORDER BY id").id
    form = world.pick({"name": f"field {world.number()}"}, {"hint": f"hint {world.number()}"})
    return call(world.administrator(), "PATCH", f"/realm/profile_fields/{field_id}", **form)


@operation
def delete_profile_field(world: World) -> Call:
    field_id = world.row("SELECT id FROM profile_field WHERE realm_id = :realm ORDER BY id").id
    return call(world.administrator(), "DELETE", f"/realm/profile_fields/{field_id}")


# --- linkifiers -----------------------------------------------------------------------------------


def _linkifier(world: World) -> dict[str, Any]:
    number = world.number()
    return {
        "pattern": f"#{number}-(?P<id>[0-9]+)",
        "url_template": f"https://cases.example/{number}/{{id}}",
    }


@operation
def create_linkifier(world: World) -> Call:
    return call(world.administrator(), "POST", "/realm/filters", **_linkifier(world))


@operation
def update_linkifier(world: World) -> Call:
    found = world.row("SELECT id FROM linkifier WHERE realm_id = :realm ORDER BY id")
    path = f"/realm/filters/{found.id}"
    return call(world.administrator(), "PATCH", path, **_linkifier(world))


@operation
def delete_linkifier(world: World) -> Call:
    found = world.row("SELECT id FROM linkifier WHERE realm_id = :realm ORDER BY id")
    return call(world.administrator(), "DELETE", f"/realm/filters/{found.id}")


@operation
def reorder_linkifiers(world: World) -> Call:
    sql = "SELECT id FROM linkifier WHERE realm_id = :realm ORDER BY id"
    ids = [row.id for row in world.rows(sql)]
    world.rng.shuffle(ids)
    return call(world.administrator(), "PATCH", "/realm/linkifiers", ordered_linkifier_ids=ids)


# --- playgrounds, domains, exports ----------------------------------------------------------------


@operation
def create_playground(world: World) -> Call:
    form = {"name": f"play {world.number()}", "syntax_language": "Rust"}
    form["url_template"] = f"https://play.example/{world.number()}?code={{code}}"
    return call(world.administrator(), "POST", "/realm/playgrounds", **form)


@operation
def delete_playground(world: World) -> Call:
    found = world.row("SELECT id FROM playground WHERE realm_id = :realm ORDER BY id")
    return call(world.administrator(), "DELETE", f"/realm/playgrounds/{found.id}")


@operation
def create_domain(world: World) -> Call:
    form = {"domain": f"d{world.number()}.example", "allow_subdomains": world.flip()}
    return call(world.members["cordelia"], "POST", "/realm/domains", **form)


def _domain(world: World) -> str:
    found = world.row("SELECT domain FROM realm_domain WHERE realm_id = :realm ORDER BY id")
    return f"/realm/domains/{found.domain}"


@operation
def update_domain(world: World) -> Call:
    path = _domain(world)
    return call(world.members["cordelia"], "PATCH", path, allow_subdomains=world.flip())


@operation
def delete_domain(world: World) -> Call:
    return call(world.members["cordelia"], "DELETE", _domain(world))


@operation
def create_export(world: World) -> Call:
    return call(world.members["cordelia"], "POST", "/export/realm")


@operation
def create_custom_emoji(world: World) -> Call:
    picture = SentFile("p.png", PIXEL, "image/png")
    return call(world.person(), "POST", f"/realm/emoji/e{world.number()}", file=picture)


@operation
def delete_custom_emoji(world: World) -> Call:
    row = world.row("SELECT name FROM realm_emoji WHERE NOT is_deactivated ORDER BY id")
    return call(world.person(), "DELETE", f"/realm/emoji/{row.name}")
