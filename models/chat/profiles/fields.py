"""Custom profile fields as administrators define them; values.py has what people fill in."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from models.chat.common.errors import InvalidParameter
from models.chat.common.one_line import require_one_line
from models.chat.events.organization import CustomProfileFieldsEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.profiles.errors import (
    BlankLabel,
    InvalidFieldType,
    LabelTaken,
    NotForMatching,
    NotForSummary,
    SummaryIsFull,
)
from models.chat.profiles.field_data import check_field_data, find_account
from models.chat.profiles.values import FieldType
from models.chat.tables import ProfileField
from models.reader import Db
from models.rows import columns_of, read_rows

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
    """Return the realm's fields in their order, as clients see them."""
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
    """Create a field, the last one in order, and return its id. A known outside service sets the
    name and the hint.

    Raise the errors of errors.py, `InvalidParameter`.
    """
    lock_realm(session, actor.realm_id)
    if display_in_profile_summary and summary_is_full(session, actor.realm_id):
        raise SummaryIsFull()
    type_ = FieldType(field_type) if field_type in NUMBERS else None
    stored = check_field_data(type_, field_data)
    account = find_account(type_, field_data)
    if account is not None:
        name, hint = account.name, account.hint
    name, hint = check_texts(name, hint)
    if type_ is None:
        raise InvalidFieldType()
    if display_in_profile_summary and type_ == FieldType.USERS:
        raise NotForSummary()
    if use_for_user_matching and type_ not in MATCHING:
        raise NotForMatching()
    if is_taken(session, actor.realm_id, name):
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
    event = CustomProfileFieldsEvent()
    append_change(session, actor, "profile_field_created", facts, event, now=now)
    return field.id


def summary_is_full(session: Session, realm_id: int) -> bool:
    """Return whether the summary has as many fields as it may have."""
    shown = select(func.count()).where(
        ProfileField.realm_id == realm_id, ProfileField.display_in_profile_summary
    )
    return session.execute(shown).scalar_one() >= SUMMARY_MAX


def check_texts(name: str, hint: str) -> tuple[str, str]:
    """Return both as they are stored. Raise `BlankLabel`, `InvalidParameter`, `NotOneLine`."""
    name = name.strip()
    if not name:
        raise BlankLabel()
    for label, text, limit in (("name", name, NAME_MAX), ("hint", hint, HINT_MAX)):
        if len(text) > limit:
            raise InvalidParameter(name=label, problem=f"is too long (limit: {limit} characters)")
        require_one_line(label, text)
    return name, hint


def is_taken(session: Session, realm_id: int, name: str) -> bool:
    """Return whether a field of the realm has the label."""
    taken = select(ProfileField.id).where(
        ProfileField.realm_id == realm_id, ProfileField.name == name
    )
    return session.execute(taken).first() is not None
