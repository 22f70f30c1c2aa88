"""What people filled into the custom profile fields of their organization."""

from collections import defaultdict
from typing import Any

from sqlalchemy import bindparam, select

from models.chat.actors import Reader
from models.chat.tables import ProfileValue, User

Profile = dict[str, dict[str, str]]
"""Field id, as text -> `value` and, for Markdown fields, `rendered_value`."""

_COLUMNS = (ProfileValue.field_id, ProfileValue.value, ProfileValue.rendered_value)
_OF_ONE: Any = (
    select(*_COLUMNS)
    .where(ProfileValue.user_id == bindparam("user_id"))
    .order_by(ProfileValue.field_id)
)
_OF_ALL: Any = (
    select(ProfileValue.user_id, *_COLUMNS)
    .join(User, User.id == ProfileValue.user_id)
    .where(User.realm_id == bindparam("realm_id"))
    .order_by(ProfileValue.field_id)
)


def find_profile(reader: Reader, user_id: int) -> Profile:
    """The values of one user."""
    return {
        str(field_id): _entry(value, rendered)
        for field_id, value, rendered in reader.execute(_OF_ONE, {"user_id": user_id})
    }


def find_profiles(reader: Reader, realm_id: int) -> dict[int, Profile]:
    """User id -> values, of everybody in the realm who filled in anything."""
    found: dict[int, Profile] = defaultdict(dict)
    for user_id, field_id, value, rendered in reader.execute(_OF_ALL, {"realm_id": realm_id}):
        found[user_id][str(field_id)] = _entry(value, rendered)
    return found


def _entry(value: str, rendered: str | None) -> dict[str, str]:
    return {"value": value} if rendered is None else {"value": value, "rendered_value": rendered}
