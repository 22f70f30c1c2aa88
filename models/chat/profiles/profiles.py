"""What people filled into the custom profile fields of their organization."""

from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Protocol

import orjson
from sqlalchemy import bindparam, select

from models.chat.profiles.values import FieldType
from models.chat.tables import ProfileField, ProfileValue
from models.reader import Db

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
_OF_ONE = _VALUES.where(ProfileValue.user_id == bindparam("user_id"))
_OF_ALL = _VALUES.where(ProfileField.realm_id == bindparam("realm_id"))


class _ValueRow(Protocol):
    """A row of `_VALUES`."""

    @property
    def user_id(self) -> int: ...
    @property
    def field_id(self) -> int: ...
    @property
    def value(self) -> str: ...
    @property
    def rendered_value(self) -> str | None: ...
    @property
    def type(self) -> int: ...


def find_profile(db: Db, user_id: int, *, known_ids: Container[int] | None) -> Profile:
    """The values of one user. `known_ids`: the only users that their reader may know, so that a
    field of others is not filled in for them; None: everybody.
    """
    rows = db.execute(_OF_ONE, {"user_id": user_id})
    return _profiles(rows, known_ids).get(user_id, {})


def find_profiles(db: Db, realm_id: int, *, known_ids: Container[int] | None) -> dict[int, Profile]:
    """User id -> values, of everybody in the realm who filled in anything."""
    return _profiles(db.execute(_OF_ALL, {"realm_id": realm_id}), known_ids)


def _profiles(rows: Iterable[_ValueRow], known_ids: Container[int] | None) -> dict[int, Profile]:
    found: dict[int, Profile] = defaultdict(dict)
    for row in rows:
        value = row.value
        if row.type == FieldType.USERS and known_ids is not None:
            shown = [user_id for user_id in orjson.loads(value) if user_id in known_ids]
            if not shown:
                continue
            value = orjson.dumps(shown).decode()
        entry = {"value": value}
        if row.rendered_value is not None:
            entry["rendered_value"] = row.rendered_value
        found[row.user_id][str(row.field_id)] = entry
    return found
