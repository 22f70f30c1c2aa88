"""Custom profile fields, as administrators define them. values.py contains the values of users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from models.chat.common.errors import InvalidParameter
from models.chat.common.one_line import require_one_line
from models.chat.events.organization import CustomProfileFieldsEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.profiles.errors import (
    BlankLabel,
    DefaultFieldUnchangeable,
    InvalidFieldOrder,
    InvalidFieldType,
    LabelTaken,
    NotForMatching,
    NotForSummary,
    ProfileFieldNotFound,
    SummaryIsFull,
)
from models.chat.profiles.field_data import check_field_data, find_account
from models.chat.profiles.values import FieldType
from models.chat.tables import ProfileField, ProfileValue
from models.rows import columns_of, read_rows
from specd.db import Db

SUMMARY_MAX = 2
NAME_MAX, HINT_MAX = 40, 80
NUMBERS = frozenset(FieldType)
MATCHING = frozenset((FieldType.SHORT_TEXT, FieldType.EXTERNAL_ACCOUNT))


class _Field(NamedTuple):
    id: int
    name: str
    type: int
    hint: str
    field_data: str
    position: int
    is_required: bool
    editable_by_user: bool
    display_in_profile_summary: bool
    use_for_user_matching: bool


_ALL = (
    select(*columns_of(_Field, ProfileField))
    .where(ProfileField.realm_id == bindparam("realm_id"))
    .order_by(ProfileField.position, ProfileField.id)
)


def find_profile_fields(db: Db, realm_id: int) -> list[dict[str, Any]]:
    """Return the realm's fields in order, in the API's form."""
    fields = read_rows(_Field, db.execute(_ALL, {"realm_id": realm_id}))
    return [*map(_describe, fields)]


def _describe(row: _Field) -> dict[str, Any]:
    field: dict[str, Any] = {
        "id": row.id,
        "name": row.name,
        "type": row.type,
        "order": row.position,
        "hint": row.hint,
        "field_data": row.field_data,
        "required": row.is_required,
        "editable_by_user": row.editable_by_user,
    }
    if row.display_in_profile_summary:
        field["display_in_profile_summary"] = True
    if row.use_for_user_matching:
        field["use_for_user_matching"] = True
    return field


def create_profile_field(
    session: Session,
    actor: Actor,
    *,
    name: str,
    hint: str,
    field_type: int,
    field_data: Mapping[str, Any],
    display_in_profile_summary: bool,
    required: bool,
    editable_by_user: bool,
    use_for_user_matching: bool,
    now: datetime,
) -> int:
    """Create a field in the last position and return its id. A known outside service sets the name
    and the hint.

    Raise an error of errors.py, or `InvalidParameter`.
    """
    lock_realm(session, actor.realm_id)
    if display_in_profile_summary and _summary_is_full(session, actor.realm_id):
        raise SummaryIsFull()
    type_ = FieldType(field_type) if field_type in NUMBERS else None
    stored = check_field_data(type_, field_data)
    account = find_account(type_, field_data)
    if account is not None:
        name, hint = account.name, account.hint
    name, hint = _check_texts(name, hint)
    if type_ is None:
        raise InvalidFieldType()
    if display_in_profile_summary and type_ == FieldType.USERS:
        raise NotForSummary()
    if use_for_user_matching and type_ not in MATCHING:
        raise NotForMatching()
    if _is_taken(session, actor.realm_id, name):
        raise LabelTaken()
    field = ProfileField(
        realm_id=actor.realm_id,
        name=name,
        type=type_,
        hint=hint,
        field_data=stored,
        is_required=required,
        editable_by_user=editable_by_user,
        display_in_profile_summary=display_in_profile_summary,
        use_for_user_matching=use_for_user_matching,
    )
    session.add(field)
    session.flush()
    field.position = field.id
    session.flush()
    facts = {"field_id": field.id, "name": name, "type": int(type_)}
    _append(session, actor, "profile_field_created", facts, now)
    return field.id


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """Changes of a field; None means no change. The type of a field cannot change."""

    name: str | None = None
    hint: str | None = None
    field_data: Mapping[str, Any] | None = None
    display_in_profile_summary: bool | None = None
    required: bool | None = None
    editable_by_user: bool | None = None
    use_for_user_matching: bool | None = None


def update_profile_field(
    session: Session, actor: Actor, field_id: int, changes: FieldChanges, *, now: datetime
) -> None:
    """Change a field. If one change fails, none is made. Values of removed choices are deleted.

    Raise `ProfileFieldNotFound`, or an error of creating a field.
    """
    lock_realm(session, actor.realm_id)
    field = _access(session, actor.realm_id, field_id)
    type_ = FieldType(field.type)
    if changes.display_in_profile_summary and not field.display_in_profile_summary:
        if _summary_is_full(session, actor.realm_id):
            raise SummaryIsFull()
        if type_ == FieldType.USERS:
            raise NotForSummary()
    if changes.use_for_user_matching and type_ not in MATCHING:
        raise NotForMatching()
    known = orjson.loads(field.field_data or "{}")
    is_known_account = find_account(type_, known) is not None
    if changes.field_data is not None:
        stored = check_field_data(type_, changes.field_data)
        if is_known_account and orjson.loads(stored or "{}") != known:
            raise DefaultFieldUnchangeable()
        if type_ == FieldType.DROPDOWN:
            removed = known.keys() - changes.field_data.keys()
            if removed:
                chosen = (ProfileValue.field_id == field_id) & ProfileValue.value.in_(removed)
                session.execute(delete(ProfileValue).where(chosen))
        field.field_data = stored
    name = field.name if changes.name is None else changes.name
    hint = field.hint if changes.hint is None else changes.hint
    name, hint = _check_texts(name, hint)
    if is_known_account and (name, hint) != (field.name, field.hint):
        raise DefaultFieldUnchangeable()
    if name != field.name and _is_taken(session, actor.realm_id, name):
        raise LabelTaken()
    field.name, field.hint = name, hint
    for column, value in (
        ("display_in_profile_summary", changes.display_in_profile_summary),
        ("is_required", changes.required),
        ("editable_by_user", changes.editable_by_user),
        ("use_for_user_matching", changes.use_for_user_matching),
    ):
        if value is not None:
            setattr(field, column, value)
    session.flush()
    _append(session, actor, "profile_field_changed", {"field_id": field_id, "name": name}, now)


def delete_profile_field(session: Session, actor: Actor, field_id: int, *, now: datetime) -> None:
    """Delete a field with all its values. Raise `ProfileFieldNotFound`."""
    lock_realm(session, actor.realm_id)
    field = _access(session, actor.realm_id, field_id)
    session.execute(delete(ProfileValue).where(ProfileValue.field_id == field_id))
    session.delete(field)
    session.flush()
    _append(session, actor, "profile_field_deleted", {"field_id": field_id}, now)


def reorder_profile_fields(
    session: Session, actor: Actor, order: Sequence[int], *, now: datetime
) -> None:
    """Set the order of fields. Unknown ids are ignored. Raise `InvalidFieldOrder` unless all fields
    are in the list.
    """
    lock_realm(session, actor.realm_id)
    known = {field["id"] for field in find_profile_fields(session.connection(), actor.realm_id)}
    places = {field_id: place for place, field_id in enumerate(order) if field_id in known}
    if places.keys() != known:
        raise InvalidFieldOrder()
    if places:
        rows = [{"id": field_id, "position": place} for field_id, place in places.items()]
        session.execute(update(ProfileField), rows)
    _append(session, actor, "profile_fields_reordered", {"order": list(order)}, now)


def _access(session: Session, realm_id: int, field_id: int) -> ProfileField:
    field = session.scalars(
        select(ProfileField).where(ProfileField.id == field_id, ProfileField.realm_id == realm_id)
    ).first()
    if field is None:
        raise ProfileFieldNotFound(field_id=field_id)
    return field


def _summary_is_full(session: Session, realm_id: int) -> bool:
    """Return whether the summary contains the maximum number of fields."""
    shown = select(func.count()).where(
        ProfileField.realm_id == realm_id, ProfileField.display_in_profile_summary
    )
    return session.execute(shown).scalar_one() >= SUMMARY_MAX


def _check_texts(name: str, hint: str) -> tuple[str, str]:
    """Return both as they are stored. Raise `BlankLabel`, `InvalidParameter`, `NotOneLine`."""
    name = name.strip()
    if not name:
        raise BlankLabel()
    for label, text, limit in (("name", name, NAME_MAX), ("hint", hint, HINT_MAX)):
        if len(text) > limit:
            raise InvalidParameter(name=label, problem=f"is too long (limit: {limit} characters)")
        require_one_line(label, text)
    return name, hint


def _is_taken(session: Session, realm_id: int, name: str) -> bool:
    """Return whether a field of the realm has the label."""
    taken = select(ProfileField.id).where(
        ProfileField.realm_id == realm_id, ProfileField.name == name
    )
    return session.execute(taken).first() is not None


def _append(
    session: Session, actor: Actor, kind: str, facts: Mapping[str, Any], now: datetime
) -> None:
    append_change(session, actor, kind, facts, CustomProfileFieldsEvent(), now=now)
