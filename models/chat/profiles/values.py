"""Values of custom profile fields: check them, store them and append events."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import IntEnum
from typing import NamedTuple
from urllib.parse import urlsplit

import orjson
from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.orm import Session

from models.chat.access.errors import InvalidUserId
from models.chat.access.naming import find_named
from models.chat.access.people import UserRow
from models.chat.common.errors import InvalidParameter
from models.chat.common.hosts import is_host
from models.chat.common.one_line import require_one_line
from models.chat.events.people import FieldValue, PersonChange
from models.chat.identity.actors import Actor
from models.chat.people.events import notify_of_user
from models.chat.profiles.errors import (
    FieldNotEditable,
    InvalidFieldChoice,
    ProfileFieldNotFound,
    UserIsABot,
    UserWithIdIsDeactivated,
)
from models.chat.rendering.texts import NO_TEXTS
from models.chat.tables import ProfileField, ProfileValue, User
from models.rows import columns_of, read_rows

Value = str | list[int] | None
"""The value in a request for a field. None, an empty text and an empty list clear the field."""


class FieldType(IntEnum):
    """The type of a custom profile field."""

    SHORT_TEXT = 1
    PARAGRAPH = 2
    DROPDOWN = 3
    DATE = 4
    LINK = 5
    USERS = 6
    EXTERNAL_ACCOUNT = 7
    PRONOUNS = 8


LENGTHS = {
    FieldType.SHORT_TEXT: 50,
    FieldType.PARAGRAPH: 500,
    FieldType.EXTERNAL_ACCOUNT: 50,
    FieldType.PRONOUNS: 50,
    FieldType.LINK: 2048,
}
RENDERED = frozenset((FieldType.SHORT_TEXT, FieldType.PARAGRAPH))
LONGEST_RENDERED = max(LENGTHS[type_] for type_ in RENDERED)
LINK_SCHEMES = frozenset(("http", "https", "ftp", "ftps"))


class _Field(NamedTuple):
    id: int
    name: str
    type: int
    field_data: str
    editable_by_user: bool


_FIELDS = select(*columns_of(_Field, ProfileField)).where(
    ProfileField.realm_id == bindparam("realm_id")
)
_VALUES = select(ProfileValue.field_id, ProfileValue.value).where(
    ProfileValue.user_id == bindparam("user_id")
)


def set_profile_values(
    session: Session,
    actor: Actor,
    user_id: int,
    entries: Iterable[tuple[int, Value]],
    *,
    html: Mapping[str, str] = NO_TEXTS,
    now: datetime,
) -> None:
    """Set or clear fields of a user in the actor's realm, and append events of the changes. If one
    field fails, none is changed.

    `entries` are (field id, value); the last entry of a field counts. `html` maps texts among the
    values to their HTML. Raise `ProfileFieldNotFound`, `FieldNotEditable` unless the actor is an
    administrator, or an error of the type's check.
    """
    rows = read_rows(_Field, session.execute(_FIELDS, {"realm_id": actor.realm_id}))
    fields = {field.id: field for field in rows}
    wanted: dict[int, str | None] = {}
    last = dict(entries)
    named = {one for value in last.values() if isinstance(value, list) for one in value}
    people = find_named(session, actor, named) if named else {}
    for field_id, value in last.items():
        field = fields.get(field_id)
        if field is None:
            raise ProfileFieldNotFound(field_id=field_id)
        if not field.editable_by_user and not actor.is_administrator:
            raise FieldNotEditable()
        wanted[field_id] = None if not value else _check(field, value, people)
    # Serialize concurrent changes.
    session.execute(select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    known = {field_id: value for field_id, value in session.execute(_VALUES, {"user_id": user_id})}
    changed = {
        field_id: value for field_id, value in wanted.items() if value != known.get(field_id)
    }
    rendered = {
        field_id: html[value]
        for field_id, value in changed.items()
        if value is not None and fields[field_id].type in RENDERED
    }
    _store(session, user_id, changed, rendered)
    if changed:
        changes: list[PersonChange] = [
            {"custom_profile_field": _described(field_id, value, rendered.get(field_id))}
            for field_id, value in changed.items()
        ]
        notify_of_user(session, actor.realm, user_id, *changes, now=now)


def _store(
    session: Session,
    user_id: int,
    changed: Mapping[int, str | None],
    rendered: Mapping[int, str],
) -> None:
    session.execute(
        delete(ProfileValue)
        .where(ProfileValue.user_id == user_id, ProfileValue.field_id.in_(changed))
        .execution_options(synchronize_session=False)
    )
    rows = [
        {
            "user_id": user_id,
            "field_id": field_id,
            "value": value,
            "rendered_value": rendered.get(field_id),
        }
        for field_id, value in changed.items()
        if value is not None
    ]
    if rows:
        session.execute(insert(ProfileValue), rows)


def _described(field_id: int, value: str | None, rendered: str | None) -> FieldValue:
    if rendered is None:
        return {"id": field_id, "value": value}
    return {"id": field_id, "value": value, "rendered_value": rendered}


# --- checks by type -------------------------------------------------------------------------------


def _check(field: _Field, value: str | list[int], people: Mapping[int | str, UserRow]) -> str:
    """Return the value as it is stored. `people` contains the rows of all users in the values."""
    if field.type == FieldType.USERS:
        return _check_users(value, people)
    return check_text(FieldType(field.type), field.name, field.field_data, value)


def check_text(type_: FieldType, name: str, field_data: str, value: str | list[int]) -> str:
    """Return a value as it is stored, for all types except users. `name` and `field_data` belong to
    the field.

    Raise `InvalidParameter`, `NotOneLine`, `InvalidFieldChoice`.
    """
    if not isinstance(value, str):
        raise InvalidParameter(name=name, problem="is not a string")
    limit = LENGTHS.get(type_)
    if limit is not None and len(value) > limit:
        raise InvalidParameter(name=name, problem=f"is too long (limit: {limit} characters)")
    if type_ != FieldType.PARAGRAPH:
        require_one_line(name, value)
    match type_:
        case FieldType.DROPDOWN:
            if value not in orjson.loads(field_data or "{}"):
                raise InvalidFieldChoice(value=value, name=name)
        case FieldType.DATE if not _is_date(value):
            raise InvalidParameter(name=name, problem="is not a date")
        case FieldType.LINK if not _is_link(value):
            raise InvalidParameter(name=name, problem="is not a URL")
    return value


def _is_date(text: str) -> bool:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_link(text: str) -> bool:
    if re.search(r"[\s\x00-\x1f\x7f<>\"\\^`{|}]", text):
        return False
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme.lower() not in LINK_SCHEMES or not host:
        return False
    return ":" in host or _is_domain(host)


def _is_domain(host: str) -> bool:
    try:
        return is_host(host.encode("idna").decode("ascii"))
    except UnicodeError:
        return False


def _check_users(value: str | list[int], people: Mapping[int | str, UserRow]) -> str:
    """Return the ids as JSON text. All must belong to active users that the actor may see."""
    if not isinstance(value, list):
        raise InvalidParameter(name="User IDs", problem="is not a list")
    for user_id in value:
        row = people.get(user_id)
        if row is None:
            raise InvalidUserId(user_id=user_id)
        if not row.is_active:
            raise UserWithIdIsDeactivated(user_id=user_id)
        if row.bot_type is not None:
            raise UserIsABot(user_id=user_id)
    return orjson.dumps(value).decode()
