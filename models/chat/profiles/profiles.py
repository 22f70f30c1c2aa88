"""The values of custom profile fields."""

from collections import defaultdict
from collections.abc import Container, Iterable

import orjson
from sqlalchemy import bindparam, select

from models.chat.people.users import MAX_MESSAGE
from models.chat.profiles.values import FieldType
from models.chat.tables import ProfileField, ProfileValue, User
from specd.db import Db, Query

Profile = dict[str, dict[str, str]]
"""Field id, as text -> `value` and, for Markdown fields, `rendered_value`."""

_VALUES = (
    select(
        ProfileValue.user_id,
        ProfileValue.field_id,
        ProfileValue.value,
        ProfileValue.rendered_value,
        ProfileField.type,
    )
    .join(ProfileField, ProfileField.id == ProfileValue.field_id)
    .order_by(ProfileValue.field_id)
)
_OF_ONE = Query(_VALUES.where(ProfileValue.user_id == bindparam("user_id")))
_OWN = Query(
    select(
        User.id,
        ProfileValue.field_id,
        ProfileValue.value,
        ProfileValue.rendered_value,
        ProfileField.type,
        MAX_MESSAGE.scalar_subquery(),
    )
    .outerjoin(ProfileValue, ProfileValue.user_id == User.id)
    .outerjoin(ProfileField, ProfileField.id == ProfileValue.field_id)
    .where(User.id == bindparam("user_id"))
    .order_by(ProfileValue.field_id)
)
_OF_ALL = Query(_VALUES.where(ProfileField.realm_id == bindparam("realm_id")), one_plan=False)


def find_profile(db: Db, user_id: int, *, visible_ids: Container[int] | None) -> Profile:
    """Return the values of one user. `visible_ids` are the users that the reader may see, or None
    for all users. Other users are left out of fields with users.
    """
    rows = _OF_ONE.all(db, {"user_id": user_id})
    return _profiles(rows, visible_ids).get(user_id, {})


def find_own(db: Db, user_id: int, *, visible_ids: Container[int] | None) -> tuple[Profile, int]:
    """Return the values of one user, and the result of `find_max_message_id`, with one
    statement.
    """
    rows = _OWN.all(db, {"user_id": user_id})
    newest = rows[0][-1]
    filled_in = [row[:-1] for row in rows if row[1] is not None]
    profile = _profiles(filled_in, visible_ids).get(user_id, {})
    return profile, -1 if newest is None else newest


def find_profiles(
    db: Db, realm_id: int, *, visible_ids: Container[int] | None
) -> dict[int, Profile]:
    """Return user id -> values, for users in the realm with values."""
    return _profiles(_OF_ALL.all(db, {"realm_id": realm_id}), visible_ids)


def _profiles(
    rows: Iterable[tuple[int, int, str, str | None, int]], visible_ids: Container[int] | None
) -> dict[int, Profile]:
    """Return user id -> values, from rows of `_VALUES`."""
    profiles: dict[int, Profile] = defaultdict(dict)
    for user_id, field_id, value, rendered_value, kind in rows:
        if kind == FieldType.USERS and visible_ids is not None:
            shown = [named_id for named_id in orjson.loads(value) if named_id in visible_ids]
            if not shown:
                continue
            value = orjson.dumps(shown).decode()
        entry = {"value": value}
        if rendered_value is not None:
            entry["rendered_value"] = rendered_value
        profiles[user_id][str(field_id)] = entry
    return profiles
