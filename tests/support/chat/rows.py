"""Reads and writes rows directly, for tests of people."""

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import select, update

from models.chat.tables import AuditLog, Event, ProfileField, User, UserGroup, UserGroupMember
from specd.db import Database


def change_user(database: Database, user_id: int, **values: Any) -> None:
    """Set columns of a user, like an operator."""
    database.run(lambda s: s.execute(update(User).where(User.id == user_id).values(**values)))


def user_row(database: Database, user_id: int) -> Any:
    """Return the complete row of a user."""
    with database.reading() as reader:
        return reader.execute(select(User.__table__).where(User.id == user_id)).one()


def events_of(database: Database, *types: str) -> list[dict[str, Any]]:
    """Return events of these types (or all), oldest first; `to` has the recipients, or None for
    all.
    """
    with database.reading() as reader:
        rows = reader.execute(select(Event.__table__).order_by(Event.id)).all()
    return [
        {
            "type": row.type,
            **orjson.loads(row.payload),
            "to": None if row.user_ids is None else orjson.loads(row.user_ids),
        }
        for row in rows
        if not types or row.type in types
    ]


def audited(
    database: Database, kind: str
) -> list[tuple[int | None, int | None, Mapping[str, Any]]]:
    """Return (actor id, user id, facts) of each audit row of a kind, oldest first."""
    entries = select(AuditLog.__table__).where(AuditLog.kind == kind).order_by(AuditLog.id)
    with database.reading() as reader:
        rows = reader.execute(entries).all()
    return [(row.actor_id, row.user_id, orjson.loads(row.facts)) for row in rows]


def system_groups_of(database: Database, user_id: int) -> set[str | None]:
    """Return the names of the system groups with the user as a direct member."""
    with database.reading() as reader:
        return set(
            reader.execute(
                select(UserGroup.name)
                .join(UserGroupMember, UserGroupMember.group_id == UserGroup.id)
                .where(UserGroupMember.user_id == user_id, UserGroup.kind == "system")
            ).scalars()
        )


def make_fields(database: Database, realm_id: int) -> dict[str, int]:
    """Create profile fields of each type, and one only for administrators. Return their ids by
    name.
    """
    choices = orjson.dumps({"0": {"text": "Vim", "order": "1"}}).decode()
    fields = [
        ProfileField(realm_id=realm_id, name=name, type=number, field_data=data)
        for number, (name, data) in enumerate(
            [
                ("Job", ""),
                ("About", ""),
                ("Editor", choices),
                ("Birthday", ""),
                ("Site", ""),
                ("Mentor", ""),
                ("Forge", '{"subtype": "github"}'),
                ("Pronouns", ""),
            ],
            start=1,
        )
    ]
    rank = ProfileField(realm_id=realm_id, name="Rank", type=1, editable_by_user=False)

    def work(session: Any) -> dict[str, int]:
        session.add_all([*fields, rank])
        session.flush()
        return {field.name: field.id for field in [*fields, rank]}

    return database.run(work)
