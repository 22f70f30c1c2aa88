"""Changing, deleting and ordering custom profile fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from models.chat.events.organization import CustomProfileFieldsEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.profiles.errors import (
    DefaultFieldUnchangeable,
    InvalidFieldOrder,
    LabelTaken,
    NotForMatching,
    NotForSummary,
    ProfileFieldNotFound,
    SummaryIsFull,
)
from models.chat.profiles.field_data import check_field_data, find_account
from models.chat.profiles.fields import (
    MATCHING,
    check_texts,
    find_profile_fields,
    is_taken,
    summary_is_full,
)
from models.chat.profiles.values import FieldType
from models.chat.tables import ProfileField, ProfileValue


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """The changes of a field; None: unchanged. A field's type never changes."""

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
    """Change a field, all or nothing. Values of removed choices are deleted.

    Raise `ProfileFieldNotFound` and what defining a field raises.
    """
    lock_realm(session, actor.realm_id)
    field = _access(session, actor.realm_id, field_id)
    type_ = FieldType(field.type)
    if changes.display_in_profile_summary and not field.display_in_profile_summary:
        if summary_is_full(session, actor.realm_id):
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
    name, hint = check_texts(name, hint)
    if is_known_account and (name, hint) != (field.name, field.hint):
        raise DefaultFieldUnchangeable()
    if name != field.name and is_taken(session, actor.realm_id, name):
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
    facts = {"field_id": field_id, "name": name}
    append_change(
        session, actor, "profile_field_changed", facts, CustomProfileFieldsEvent(), now=now
    )


def delete_profile_field(session: Session, actor: Actor, field_id: int, *, now: datetime) -> None:
    """Delete a field with all its values. Raise `ProfileFieldNotFound`."""
    lock_realm(session, actor.realm_id)
    field = _access(session, actor.realm_id, field_id)
    session.execute(delete(ProfileValue).where(ProfileValue.field_id == field_id))
    session.delete(field)
    session.flush()
    facts = {"field_id": field_id}
    append_change(
        session, actor, "profile_field_deleted", facts, CustomProfileFieldsEvent(), now=now
    )


def reorder_profile_fields(
    session: Session, actor: Actor, order: Sequence[int], *, now: datetime
) -> None:
    """Show the fields in this order. Raise `InvalidFieldOrder` unless every field is named."""
    lock_realm(session, actor.realm_id)
    known = {field["id"] for field in find_profile_fields(session.connection(), actor.realm_id)}
    places = {field_id: place for place, field_id in enumerate(order) if field_id in known}
    if places.keys() != known:
        raise InvalidFieldOrder()
    if places:
        rows = [{"id": field_id, "position": place} for field_id, place in places.items()]
        session.execute(update(ProfileField), rows)
    facts = {"order": list(order)}
    append_change(
        session, actor, "profile_fields_reordered", facts, CustomProfileFieldsEvent(), now=now
    )


def _access(session: Session, realm_id: int, field_id: int) -> ProfileField:
    field = session.scalars(
        select(ProfileField).where(ProfileField.id == field_id, ProfileField.realm_id == realm_id)
    ).first()
    if field is None:
        raise ProfileFieldNotFound(field_id=field_id)
    return field
