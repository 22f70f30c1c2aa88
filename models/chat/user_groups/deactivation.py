"""Deactivate user groups that are not in use."""

from collections.abc import Iterator, Mapping, Set
from datetime import datetime
from typing import TypedDict

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from models.chat.access.channels import filter_visible, find_channels
from models.chat.access.group_settings import (
    CHANNEL_GROUPS,
    REALM_GROUPS,
    USER_GROUP_GROUPS,
    GroupSetting,
)
from models.chat.events.people import UserGroupUpdateEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.tables import Channel, Realm, Subgroup, UserGroup
from models.chat.user_groups.administering import access_group_to_change
from models.chat.user_groups.errors import GroupInUse
from models.dialects import id_in


class Objection(TypedDict, total=False):
    """A use of a group. `type` is `subgroup` (with `supergroup_ids`), or `channel`, `user_group` or
    `realm` with the names of `settings`. A channel that the actor may not see has no id.
    """

    type: str
    supergroup_ids: list[int]
    channel_id: int
    group_id: int
    settings: list[str]


def deactivate_group(session: Session, actor: Actor, group_id: int, *, now: datetime) -> None:
    """Deactivate a group. Raise `GroupInUse`, or an error of `access_group_to_change`."""
    lock_realm(session, actor.realm_id)
    group = access_group_to_change(session, actor, group_id)
    objections = list(_find_objections(session, actor, group.id))
    if objections:
        raise GroupInUse(objections=objections)
    group.is_deactivated = True
    event = UserGroupUpdateEvent(group_id=group.id, data={"deactivated": True}, is_hidden=True)
    kind = "user_group_deactivated"
    append_change(session, actor, kind, {}, event, group_id=group.id, now=now)


def _find_objections(session: Session, actor: Actor, group_id: int) -> Iterator[Objection]:
    """Yield the uses of the group, directly or as a subgroup of a setting's anonymous group."""
    supergroups = session.execute(
        select(UserGroup.id, UserGroup.kind)
        .join(Subgroup, Subgroup.group_id == UserGroup.id)
        .where(Subgroup.subgroup_id == group_id, ~UserGroup.is_deactivated)
        .order_by(UserGroup.id)
    ).all()
    named = [row.id for row in supergroups if row.kind != "anonymous"]
    if named:
        yield {"type": "subgroup", "supergroup_ids": named}
    group_ids = {group_id, *(row.id for row in supergroups if row.kind == "anonymous")}
    realm_id = actor.realm_id
    channels = _find_settings(session, Channel, CHANNEL_GROUPS, realm_id, group_ids)
    visible = filter_visible(session, actor, find_channels(session, actor, channel_ids=channels))
    visible_ids = {channel.id for channel in visible}
    for channel_id, settings in channels.items():
        objection: Objection = {"type": "channel", "settings": settings}
        if channel_id in visible_ids:
            objection["channel_id"] = channel_id
        yield objection
    groups = _find_settings(session, UserGroup, USER_GROUP_GROUPS, realm_id, group_ids)
    for other_id, settings in groups.items():
        yield {"type": "user_group", "group_id": other_id, "settings": settings}
    for settings in _find_settings(session, Realm, REALM_GROUPS, realm_id, group_ids).values():
        yield {"type": "realm", "settings": settings}


_IN_USE = {
    Channel: (Channel.realm_id, ~Channel.is_archived),
    UserGroup: (UserGroup.realm_id, ~UserGroup.is_deactivated),
    Realm: (Realm.id, ~Realm.is_deactivated),
}
"""Tables with settings: the column of the realm, and the condition on rows that count."""


def _find_settings(
    session: Session,
    table: type[Channel | UserGroup | Realm],
    settings: Mapping[str, GroupSetting],
    realm_id: int,
    group_ids: Set[int],
) -> dict[int, list[str]]:
    """Return row id -> the settings whose value is one of the groups, ordered by id."""
    columns = {name: getattr(table, name) for name in settings}
    of_realm, counts = _IN_USE[table]
    rows = session.execute(
        select(table.id, *columns.values())
        .where(
            of_realm == realm_id,
            counts,
            or_(*(id_in(column, group_ids) for column in columns.values())),
        )
        .order_by(table.id)
    )
    return {row.id: [name for name in columns if getattr(row, name) in group_ids] for row in rows}
