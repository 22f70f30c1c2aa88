"""Events without the users whom their reader may not know, and without channels that the reader's
client does not.
"""

from collections.abc import Container, Iterable
from typing import Any

from models.chat.access.people import visible_user_id
from models.json import Json

NAMES_ONE = frozenset(("author_id", "bot_owner_id", "creator_id"))
NAMES_MANY = frozenset(("direct_members", "members", "subscribers", "user_ids"))
"""Keys of events that name users beside the one that an event is about."""


def without_hidden_names(value: Json, known_ids: Container[int]) -> Json:
    """The same without users whom its reader may not know, wherever it names them."""
    if isinstance(value, list):
        return [without_hidden_names(item, known_ids) for item in value]
    if not isinstance(value, dict):
        return value
    shown: dict[str, Json] = {}
    for key, item in value.items():
        if key in NAMES_ONE:
            shown[key] = visible_user_id(item, known_ids)
        elif key in NAMES_MANY:
            shown[key] = [user_id for user_id in item if user_id in known_ids]
        else:
            shown[key] = without_hidden_names(item, known_ids)
    return shown


def not_archived(channels: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The channels of a client that does not know archived ones."""
    return [channel for channel in channels if not channel["is_archived"]]
