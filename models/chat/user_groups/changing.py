"""Change a user group's name, description and permissions, and reactivate it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from models.chat.access.group_settings import (
    USER_GROUP_GROUPS,
    GroupValue,
    changed_group,
    find_group_values,
)
from models.chat.access.groups import check_group_name, find_groups
from models.chat.common import audit
from models.chat.common.name_keys import key_of
from models.chat.events import log
from models.chat.events.log import or_absent
from models.chat.events.people import UserGroupUpdateEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import lock_realm
from models.chat.tables import Subgroup, UserGroup, UserGroupMember
from models.chat.user_groups.administering import access_group_to_change
from models.chat.user_groups.errors import NoNewGroupData
from models.dialects import id_in
from models.json import Json


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """Changes of a group; None means no change. If `deactivated` is False, the group is
    reactivated; True has no effect.

    `settings` are values of group settings by name, each as `{"new": value, "old": value}`.
    """

    name: str | None = None
    description: str | None = None
    deactivated: bool | None = None
    settings: Mapping[str, Json] = field(default_factory=dict)


def update_group(
    session: Session, actor: Actor, group_id: int, changes: GroupChanges, *, now: datetime
) -> None:
    """Change a group. If one change fails, none is made. The event for all users contains the
    values that changed.

    Raise `NoNewGroupData`, or an error of `access_group_to_change`, `check_group_name` or
    `changed_group`.
    """
    if changes == GroupChanges():
        raise NoNewGroupData()
    lock_realm(session, actor.realm_id)
    group = access_group_to_change(session, actor, group_id, may_be_deactivated=True)
    was_deactivated = group.is_deactivated
    old, new = _change(session, actor, group, changes, now)
    if not new:
        return
    session.flush()
    settings = find_group_values(session, [*_group_ids(old), *_group_ids(new)])
    data, before = _described(new, settings), _described(old, settings)
    for name in data:
        audit.record(
            session,
            actor.realm_id,
            "user_group_reactivated" if name == "deactivated" else "user_group_changed",
            actor_id=actor.id,
            group_id=group.id,
            facts={"property": name, "old": before[name], "new": data[name]},
            now=now,
        )
    _delete_replaced(session, _group_ids(old))
    reactivated = None
    if "deactivated" in data:
        (reactivated,) = find_groups(
            session, actor.realm_id, group_id=group.id, include_deactivated=True
        )
    event = UserGroupUpdateEvent(
        group_id=group.id,
        data=data,
        is_hidden=or_absent(was_deactivated or None),
        group=or_absent(reactivated),
    )
    log.append(session, actor.realm_id, event, now=now)


def _change(
    session: Session, actor: Actor, group: UserGroup, changes: GroupChanges, now: datetime
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Make the changes. Return the old and new values that differ, by name. Settings are ids of
    groups.
    """
    new: dict[str, Json] = {}
    if changes.name is not None:
        name = check_group_name(session, actor.realm_id, changes.name, besides=group.id)
        if name != group.name:
            new["name"] = name
    if changes.description is not None and changes.description != group.description:
        new["description"] = changes.description
    if changes.deactivated is False and group.is_deactivated:
        new["deactivated"] = False
    for setting in USER_GROUP_GROUPS.values():
        if setting.name in changes.settings:
            value, current = changes.settings[setting.name], int(getattr(group, setting.name))
            changed_id = changed_group(
                session, actor.realm_id, setting, value, current, actor=actor, now=now
            )
            if changed_id != current:
                new[setting.name] = changed_id
    columns = {name: "is_deactivated" if name == "deactivated" else name for name in new}
    old = {name: getattr(group, column) for name, column in columns.items()}
    for name, column in columns.items():
        setattr(group, column, new[name])
    if "name" in new:
        group.name_key = key_of(new["name"])
    return old, new


def _group_ids(values: Mapping[str, Json]) -> list[int]:
    return [value for name, value in values.items() if name in USER_GROUP_GROUPS]


def _described(values: Mapping[str, Json], settings: Mapping[int, GroupValue]) -> dict[str, Json]:
    """Return the values in the API's form."""
    return {
        name: settings[value] if name in USER_GROUP_GROUPS else value
        for name, value in values.items()
    }


def _delete_replaced(session: Session, group_ids: Iterable[int]) -> None:
    """Delete replaced anonymous groups. Each was the value of one setting of one user group."""
    anonymous = session.scalars(
        select(UserGroup.id).where(id_in(UserGroup.id, group_ids), UserGroup.kind == "anonymous")
    ).all()
    for column in (UserGroupMember.group_id, Subgroup.group_id, UserGroup.id):
        gone = delete(column.class_).where(id_in(column, anonymous))
        session.execute(gone.execution_options(synchronize_session=False))
