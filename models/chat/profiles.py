"""What people filled into the custom profile fields of their organization."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import bindparam, select

from models.chat.actors import Reader
from models.chat.tables import ProfileValue

Profile = dict[str, dict[str, str]]
"""Field id, as text -> `value` and, for Markdown fields, `rendered_value`."""

_COLUMNS = (ProfileValue.field_id, ProfileValue.value, ProfileValue.rendered_value)
_OF_ONE: Any = (
    select(*_COLUMNS)
    .where(ProfileValue.user_id == bindparam("user_id"))
    .order_by(ProfileValue.field_id)
)


def find_profile(reader: Reader, user_id: int) -> Profile:
    """The values of one user."""
    return {
        str(field_id): _entry(value, rendered)
        for field_id, value, rendered in reader.execute(_OF_ONE, {"user_id": user_id})
    }


def find_profiles(reader: Reader, user_ids: Iterable[int]) -> dict[int, Profile]:
    """The values of several users; a user without any has an empty profile."""
    found: dict[int, Profile] = defaultdict(dict)
    rows = reader.execute(
        select(ProfileValue.user_id, *_COLUMNS)
        .where(ProfileValue.user_id.in_(list(user_ids)))
        .order_by(ProfileValue.field_id)
    )
    for user_id, field_id, value, rendered in rows:
        found[user_id][str(field_id)] = _entry(value, rendered)
    return found


def _entry(value: str, rendered: str | None) -> dict[str, str]:
    return {"value": value} if rendered is None else {"value": value, "rendered_value": rendered}
