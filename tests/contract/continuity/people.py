"""How clients apply events of users and user groups."""

from __future__ import annotations

from typing import Any

from tests.contract.continuity.store import Event, Store, applies

OWNER, ADMINISTRATOR, MODERATOR, GUEST = 100, 200, 300, 600
ONLY_OWN = ("avatar_source", "avatar_url_medium")
"""Properties that a client stores only for its own user."""
OWN = ("full_name", "delivery_email", "avatar_url", *ONLY_OWN)


def roles(role: int) -> dict[str, bool]:
    return {
        "is_owner": role == OWNER,
        "is_admin": role <= ADMINISTRATOR,
        "is_guest": role == GUEST,
    }


@applies("realm_user")
def realm_user(store: Store, event: Event) -> None:
    person = dict(event["person"])
    user_id = person.pop("user_id")
    if event["op"] == "add":
        _forget(store, user_id)
        store.state["realm_users"].append(event["person"])
    elif event["op"] == "remove":
        _forget(store, user_id)
    else:
        user = store.find("realm_users", "user_id", user_id)
        if user is None:
            user = store.find("realm_non_active_users", "user_id", user_id)
        if user is not None:
            _update(store, user, person)


def _forget(store: Store, user_id: int) -> None:
    for key in ("realm_users", "realm_non_active_users"):
        store.take(key, "user_id", user_id)


def _update(store: Store, user: dict[str, Any], person: dict[str, Any]) -> None:
    own: dict[str, Any] = {}
    for name, value in person.items():
        if name == "custom_profile_field":
            _set_field(user, dict(value))
        elif name == "new_email":
            user["email"] = value
            own["email"] = value
        elif name == "is_active":
            _set_active(store, user, value)
        elif name == "is_deleted" and not value:
            user.pop(name, None)  # present only if it is true
        else:
            if name not in ONLY_OWN:
                user[name] = value
            if name in OWN:
                own[name] = value
    if "role" in person:
        user.update(roles(person["role"]))
        own |= roles(person["role"]) | {"is_moderator": person["role"] <= MODERATOR}
    if user["user_id"] == store.me:
        store.state.update(own)


def _set_active(store: Store, user: dict[str, Any], is_active: bool) -> None:
    _forget(store, user["user_id"])
    user["is_active"] = is_active
    store.state["realm_users" if is_active else "realm_non_active_users"].append(user)


def _set_field(user: dict[str, Any], field: dict[str, Any]) -> None:
    field_id = str(field.pop("id"))
    if field["value"] is None:
        user["profile_data"].pop(field_id, None)
    else:
        user["profile_data"][field_id] = field


@applies("realm_bot")
def realm_bot(store: Store, event: Event) -> None:
    bot = event["bot"]
    if event["op"] == "update":
        found = store.find("realm_bots", "user_id", bot["user_id"])
        assert found is not None
        found.update(bot)
        return
    store.take("realm_bots", "user_id", bot["user_id"])
    if event["op"] == "add":
        store.state["realm_bots"].append(bot)


@applies("custom_profile_fields")
def custom_profile_fields(store: Store, event: Event) -> None:
    """Replace the profile fields. The users' values of a deleted field are deleted too."""
    store.state["custom_profile_fields"] = event["fields"]
    kept = {str(field["id"]) for field in event["fields"]}
    for user in (*store.state["realm_users"], *store.state["realm_non_active_users"]):
        for field_id in set(user.get("profile_data", {})) - kept:
            del user["profile_data"][field_id]


@applies("user_group")
def user_group(store: Store, event: Event) -> None:
    if event["op"] == "add":
        store.state["realm_user_groups"].append(event["group"])
        return
    group = store.find("realm_user_groups", "id", event["group_id"])
    if group is None:
        return
    match event["op"]:
        case "add_members":
            group["members"] = sorted({*group["members"], *event["user_ids"]})
        case "remove_members":
            group["members"] = [each for each in group["members"] if each not in event["user_ids"]]
        case "add_subgroups":
            more = event["direct_subgroup_ids"]
            group["direct_subgroup_ids"] = sorted({*group["direct_subgroup_ids"], *more})
        case "remove_subgroups":
            gone = event["direct_subgroup_ids"]
            kept = [each for each in group["direct_subgroup_ids"] if each not in gone]
            group["direct_subgroup_ids"] = kept
        case "update":
            group.update(event["data"])
        case "remove":
            store.state["realm_user_groups"].remove(group)


@applies("user_status")
def user_status(store: Store, event: Event) -> None:
    """Apply a status. An empty text, and `away` if it is false, are not part of a status."""
    said = {key: value for key, value in event.items() if key not in ("id", "type", "user_id")}
    status = store.state["user_status"].get(str(event["user_id"]), {}) | said
    status = {key: value for key, value in status.items() if value not in ("", False)}
    if status:
        store.state["user_status"][str(event["user_id"])] = status
    else:
        store.state["user_status"].pop(str(event["user_id"]), None)
