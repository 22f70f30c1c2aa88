"""Changes of group settings: to a new value, if need be only where the old one still holds."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.errors import ExpectedValueMismatch
from models.chat.access.group_settings import (
    GroupSetting,
    check_group_value,
    find_group_values,
    store_anonymous_group,
)
from models.chat.common.errors import InvalidParameter
from models.chat.identity.actors import Actor
from models.json import Json


def changed_group(
    session: Session,
    realm_id: int,
    setting: GroupSetting,
    value: Json,
    current_id: int,
    *,
    actor: Actor | None,
    now: datetime,
) -> int:
    """The id of the group that holds the setting from now on: `current_id` if it means the same.

    `value`: a group value, a system group's name, or `{"new": value, "old": value}`. Raises
    `ExpectedValueMismatch`, `InvalidParameter`, and what `check_group_value` raises.
    """
    current = find_group_values(session, [current_id])[current_id]
    if isinstance(value, Mapping) and "new" in value:
        if "old" in value and _plain(value["old"]) != _plain(current):
            raise ExpectedValueMismatch()
        value = value["new"]
    if isinstance(value, bool) or not isinstance(value, int | str | Mapping):
        raise InvalidParameter(name=setting.name, problem="is not a group setting value")
    checked = check_group_value(session, realm_id, setting, value, actor=actor)
    if isinstance(checked, int):
        return checked
    wanted = {
        "direct_members": list(checked.members),
        "direct_subgroups": list(checked.subgroups),
    }
    if wanted == current:
        return current_id
    return store_anonymous_group(session, realm_id, checked, now=now)


def _plain(value: Json) -> Json:
    """A group value without the order of its lists."""
    if isinstance(value, Mapping):
        return {key: sorted(items) for key, items in value.items()}
    return value
