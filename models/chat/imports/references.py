"""The columns of an archive that contain ids: foreign keys, columns recognized by their names, and
columns with JSON.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import BigInteger, Column, Table

from models.chat.access.group_settings import CHANNEL_GROUPS, REALM_GROUPS, USER_GROUP_GROUPS
from models.chat.imports.ids import Ids
from models.json import Json

GROUPS = REALM_GROUPS.keys() | CHANNEL_GROUPS.keys() | USER_GROUP_GROUPS.keys()
BY_NAME: Mapping[str, str] = {
    "actor": "user",
    "channel": "channel",
    "channel_folder": "channel_folder",
    "emoji": "realm_emoji",
    "field": "profile_field",
    "folder": "channel_folder",
    "group": "user_group",
    "invitation": "invitation",
    "inviter": "user",
    "linkifier": "linkifier",
    "message": "message",
    "playground": "playground",
    "scheduled_message": "scheduled_message",
    "stream": "channel",
    "subgroup": "user_group",
    "user": "user",
}
"""Tables by the last words of a column's or fact's name, without `_id` or `_ids`: `prev_channel_id`
contains the id of a channel, `user_ids` those of users.
"""
ONLY_ORDERED = frozenset(("joined_after_id",))
"""Columns with the id of a message that may be in another organization: only its position matters.
"""
JSON_LISTS = {"recipient_ids": "user", "channel_ids": "channel", "group_ids": "user_group"}
"""Text columns with a JSON array of ids."""
OLD_AND_NEW = ("old", "new")


def table_named(name: str) -> str | None:
    """Return the table whose ids a column or fact of this name contains, or None if it contains no
    ids.
    """
    if name in GROUPS:
        return "user_group"
    for ending in ("_id", "_ids"):
        if name.endswith(ending):
            words = name.removesuffix(ending).split("_")
            for start in range(len(words)):
                table = BY_NAME.get("_".join(words[start:]))
                if table is not None:
                    return table
    return None


def table_of_column(column: Column[Any]) -> str | None:
    """Return the table to which a column of numbers refers, or None."""
    for key in column.foreign_keys:
        return key.column.table.name
    if column.name == "id" or not isinstance(column.type, BigInteger):
        return None
    return table_named(column.name)


def is_reference_to_itself(column: Column[Any]) -> bool:
    """Return whether the column refers to rows of the same table."""
    return any(key.column.table is column.table for key in column.foreign_keys)


def referring_to_itself(table: Table) -> list[str]:
    return [column.name for column in table.columns if is_reference_to_itself(column)]


# --- JSON -----------------------------------------------------------------------------------------


def new_list(ids: Ids, table: str, text: str) -> str:
    """Return a JSON array of ids with the new ids. Raise ValueError if it is not an array of known
    ids.
    """
    old = orjson.loads(text)
    if not isinstance(old, list) or any(type(each) is not int for each in old):
        raise ValueError("is no list of ids")
    return orjson.dumps([_require(ids, table, each) for each in old]).decode()


def _require(ids: Ids, table: str, old: int) -> int:
    new = ids.find(table, old)
    if new is None:
        raise ValueError(f"the {table} {old} is not in the archive")
    return new


def new_facts(ids: Ids, kind: str, text: str) -> str:
    """Return the facts of an audit log entry with the new ids."""
    facts = orjson.loads(text)
    if not isinstance(facts, dict):
        raise ValueError("is no JSON object")
    return orjson.dumps({key: _new_fact(ids, kind, key, facts) for key in facts}).decode()


def _new_fact(ids: Ids, kind: str, key: str, facts: Mapping[str, Json]) -> Json:
    value = facts[key]
    if key in OLD_AND_NEW:
        if kind == "bot_owner_changed":
            return new_value(ids, "user", value)
        if isinstance(value, dict) and "property" not in facts:
            return {name: new_value(ids, table_named(name), value[name]) for name in value}
        return new_value(ids, table_named(str(facts.get("property", ""))), value)
    if key == "order":
        return new_value(ids, BY_NAME.get(kind.partition("s_")[0].rpartition("_")[2]), value)
    return new_value(ids, table_named(key), value)


def new_value(ids: Ids, table: str | None, value: Json) -> Json:
    """Convert an id, a list of ids or the value of a group setting to the new ids."""
    if table is None:
        return value
    if type(value) is int:
        # A setting may contain -1 for no value.
        return ids.find_or_nobody(table, value) if value > 0 else value
    if isinstance(value, list):
        return [new_value(ids, table, each) for each in value]
    if isinstance(value, dict):
        tables = {"direct_members": "user", "direct_subgroups": "user_group"}
        return {name: new_value(ids, tables.get(name), value[name]) for name in value}
    return value


def new_widget(ids: Ids, text: str) -> str:
    """Return the content of a submessage with the new ids. The key of an option that a user added
    begins with the id of the user: `5,1`.
    """
    content = orjson.loads(text)
    if not isinstance(content, dict):
        raise ValueError("is no JSON object")
    key = content.get("key")
    if not isinstance(key, str):
        return text
    owner, comma, rest = key.partition(",")
    if not comma or not owner.isascii() or not owner.isdigit():
        return text
    content["key"] = f"{ids.find_or_nobody('user', int(owner[:20]))},{rest}"
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS).decode()
