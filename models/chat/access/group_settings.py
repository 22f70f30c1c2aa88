"""Group settings: the groups that each permission accepts, and the values of settings.

In the API a value is a group's id, or an object of direct members and direct subgroups, which
becomes an anonymous group. In the database it is always a group id.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.errors import (
    ExpectedValueMismatch,
    GroupNotAllowed,
    InvalidUserGroup,
    InvalidUserId,
    UserGroupDeactivated,
)
from models.chat.access.membership import add_to_group
from models.chat.access.naming import find_named
from models.chat.access.people import only_visible
from models.chat.common.errors import InvalidParameter
from models.chat.identity.actors import Actor
from models.chat.identity.roles import (
    ADMINISTRATORS,
    EVERYONE,
    INTERNET,
    MEMBERS,
    MODERATORS,
    NOBODY,
    OWNERS,
)
from models.chat.tables import Subgroup, User, UserGroup, UserGroupMember
from models.dialects import id_in, ids_as_array, in_parameter
from models.json import Json
from models.rows import columns_of, read_rows
from specd.db import Db, Query

GroupValue = int | dict[str, list[int]]
"""A group id, or `{"direct_members": [user ids], "direct_subgroups": [group ids]}`, sorted."""


@dataclass(frozen=True, slots=True)
class GroupSetting:
    """A permission with its default and the system groups that it accepts."""

    name: str
    default: str
    everyone: bool = True
    nobody: bool = True
    only: tuple[str, ...] = ()

    def allows(self, group: str) -> bool:
        """Return whether the permission may be given to the system group."""
        if self.only:
            return group in self.only
        if group == INTERNET:
            return False
        return (group != EVERYONE or self.everyone) and (group != NOBODY or self.nobody)


def _table(*settings: GroupSetting) -> dict[str, GroupSetting]:
    return {setting.name: setting for setting in settings}


REALM_GROUPS = _table(
    GroupSetting("can_access_all_users_group", EVERYONE, only=(EVERYONE, MEMBERS)),
    GroupSetting("can_add_custom_emoji_group", MEMBERS, everyone=False),
    GroupSetting("can_add_subscribers_group", MEMBERS, everyone=False),
    GroupSetting("can_create_bots_group", MEMBERS, everyone=False),
    GroupSetting("can_create_groups", MEMBERS, everyone=False),
    GroupSetting("can_create_private_channel_group", MEMBERS, everyone=False),
    GroupSetting("can_create_public_channel_group", MEMBERS, everyone=False),
    GroupSetting(
        "can_create_web_public_channel_group",
        OWNERS,
        only=(MODERATORS, ADMINISTRATORS, OWNERS, NOBODY),
    ),
    GroupSetting("can_create_write_only_bots_group", MEMBERS, everyone=False),
    GroupSetting("can_delete_any_message_group", ADMINISTRATORS),
    GroupSetting("can_delete_own_message_group", EVERYONE),
    GroupSetting("can_invite_users_group", MEMBERS, everyone=False),
    GroupSetting("can_manage_all_groups", OWNERS, everyone=False, nobody=False),
    GroupSetting("can_mention_many_users_group", ADMINISTRATORS),
    GroupSetting("can_move_messages_between_channels_group", MEMBERS),
    GroupSetting("can_move_messages_between_topics_group", EVERYONE),
    GroupSetting("can_resolve_topics_group", EVERYONE),
    GroupSetting("can_set_delete_message_policy_group", MODERATORS, everyone=False),
    GroupSetting("can_set_topics_policy_group", MEMBERS, everyone=False),
    GroupSetting("create_multiuse_invite_group", ADMINISTRATORS, everyone=False),
    GroupSetting("direct_message_initiator_group", EVERYONE),
    GroupSetting("direct_message_permission_group", EVERYONE),
)
CREATOR = "creator"
"""The default of settings that begin with the creator of the channel or the group."""

CHANNEL_GROUPS = _table(
    GroupSetting("can_add_subscribers_group", NOBODY, everyone=False),
    GroupSetting("can_administer_channel_group", CREATOR, everyone=False),
    GroupSetting("can_create_topic_group", EVERYONE),
    GroupSetting("can_delete_any_message_group", NOBODY),
    GroupSetting("can_delete_own_message_group", NOBODY),
    GroupSetting("can_move_messages_out_of_channel_group", NOBODY),
    GroupSetting("can_move_messages_within_channel_group", NOBODY),
    GroupSetting("can_remove_subscribers_group", ADMINISTRATORS),
    GroupSetting("can_resolve_topics_group", NOBODY),
    GroupSetting("can_send_message_group", EVERYONE),
    GroupSetting("can_subscribe_group", NOBODY, everyone=False),
)
USER_GROUP_GROUPS = _table(
    GroupSetting("can_add_members_group", CREATOR, everyone=False),
    GroupSetting("can_join_group", NOBODY, everyone=False),
    GroupSetting("can_leave_group", EVERYONE),
    GroupSetting("can_manage_group", CREATOR, everyone=False),
    GroupSetting("can_mention_group", EVERYONE),
    GroupSetting("can_remove_members_group", NOBODY, everyone=False),
)


def describe_group_settings() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the groups that each permission accepts, as in the API."""
    return {
        "realm": {name: _described(setting) for name, setting in REALM_GROUPS.items()},
        "stream": {
            name: _described(setting, creator="channel_creator")
            for name, setting in CHANNEL_GROUPS.items()
        },
        "group": {
            name: _described(setting, creator="group_creator", of_system_groups=NOBODY)
            for name, setting in USER_GROUP_GROUPS.items()
        },
    }


def _described(
    setting: GroupSetting, *, creator: str = CREATOR, of_system_groups: str | None = None
) -> dict[str, Any]:
    return {
        "require_system_group": False,
        "allow_internet_group": setting.allows(INTERNET),
        "allow_nobody_group": setting.allows(NOBODY),
        "allow_everyone_group": setting.allows(EVERYONE),
        "default_group_name": creator if setting.default == CREATOR else setting.default,
        "default_for_system_groups": of_system_groups,
        "allowed_system_groups": list(setting.only),
    }


def store_group_value(
    session: Session,
    realm_id: int,
    setting: GroupSetting,
    value: int | str | Mapping[str, Any],
    *,
    actor: Actor | None = None,
    now: datetime,
) -> int:
    """Return the id of the group for a value. An anonymous group is created if necessary.

    `actor` is None for the operator. Raise an error of `check_group_value`.
    """
    checked = check_group_value(session, realm_id, setting, value, actor=actor)
    return store_checked_value(session, realm_id, checked, now=now)


def changed_group(
    session: Session,
    realm_id: int,
    setting: GroupSetting,
    value: Json,
    current_id: int,
    *,
    actor: Actor | None,
    now: datetime,
) -> int:
    """Return the id of the group for a setting's new value, or `current_id` if the value is the
    same.

    `value` is a group value, a system group's name, or `{"new": value, "old": value}`. Raise
    `ExpectedValueMismatch`, `InvalidParameter` or an error of `check_group_value`.
    """
    current = find_group_values(session, [current_id])[current_id]
    if isinstance(value, Mapping) and "new" in value:
        if "old" in value and _in_order(value["old"]) != _in_order(current):
            raise ExpectedValueMismatch()
        value = value["new"]
    if isinstance(value, bool) or not isinstance(value, int | str | Mapping):
        raise InvalidParameter(name=setting.name, problem="is not a group setting value")
    checked = check_group_value(session, realm_id, setting, value, actor=actor)
    if isinstance(checked, AnonymousGroup) and checked.value == current:
        return current_id
    return store_checked_value(session, realm_id, checked, now=now)


def _in_order(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: sorted(items) for key, items in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class AnonymousGroup:
    """A checked value without a group. Its ids are ascending and unique."""

    members: tuple[int, ...]
    subgroups: tuple[int, ...]

    @property
    def value(self) -> GroupValue:
        """The value in the API."""
        return {"direct_members": list(self.members), "direct_subgroups": list(self.subgroups)}


def check_group_value(
    session: Session,
    realm_id: int,
    setting: GroupSetting,
    value: int | str | Mapping[str, Any],
    *,
    actor: Actor | None,
) -> int | AnonymousGroup:
    """Return a setting's value as it can be stored. `actor` is None for the operator.

    A value may be a system group's name (`role:members`). An object with one subgroup and no
    members becomes that group. An empty object becomes the group `nobody`. Raise
    `InvalidUserGroup`, `UserGroupDeactivated`, `InvalidUserId`, `GroupNotAllowed`.
    """
    if isinstance(value, Mapping):
        members = sorted(set(value.get("direct_members", ())))
        subgroups = sorted(set(value.get("direct_subgroups", ())))
        if members or len(subgroups) > 1:
            if subgroups:
                _check_groups(session, realm_id, setting, subgroups)
            check_members(session, realm_id, members, actor=actor)
            return AnonymousGroup(tuple(members), tuple(subgroups))
        value = subgroups[0] if subgroups else NOBODY
    return _check_groups(session, realm_id, setting, [value])[0]


class _GroupRow(NamedTuple):
    id: int
    kind: str
    name: str | None
    is_deactivated: bool


def _check_groups(
    session: Session, realm_id: int, setting: GroupSetting, groups: Sequence[int | str]
) -> list[int]:
    """Return the ids of groups, given by ids or by one name. Raise an error for the first group
    that the setting does not accept.
    """
    ids = [group for group in groups if isinstance(group, int)]
    is_given = id_in(UserGroup.id, ids) if ids else UserGroup.name == groups[0]
    wanted = select(*columns_of(_GroupRow, UserGroup)).where(
        UserGroup.realm_id == realm_id, is_given
    )
    rows = read_rows(_GroupRow, session.execute(wanted))
    by_key = {row.id if ids else row.name: row for row in rows}
    for group in groups:
        row = by_key.get(group)
        if row is None or row.kind == "anonymous":
            raise InvalidUserGroup()
        if row.is_deactivated:
            raise UserGroupDeactivated()
        if row.kind == "system" and not setting.allows(str(row.name)):
            raise GroupNotAllowed(setting=setting.name, group=row.name)
    return [row.id for row in rows]


def store_checked_value(
    session: Session, realm_id: int, checked: int | AnonymousGroup, *, now: datetime
) -> int:
    """Return the id of the group for a checked value. An anonymous group is created if
    necessary.
    """
    if isinstance(checked, int):
        return checked
    group = UserGroup(realm_id=realm_id, kind="anonymous", date_created=now)
    session.add(group)
    session.flush()
    add_to_group(session, group.id, members=checked.members, subgroups=checked.subgroups)
    return group.id


def check_members(
    session: Session, realm_id: int, user_ids: Iterable[int], *, actor: Actor | None
) -> None:
    """Raise `InvalidUserId` for the first id that is not an active user of the realm or that the
    actor may not see. System bots cannot be group members. `actor` is None for the operator, who
    may see all users.
    """
    wanted = set(user_ids)
    if not wanted:
        return
    if actor is None:
        active_ids = set(
            session.scalars(
                select(User.id).where(
                    User.realm_id == realm_id,
                    id_in(User.id, wanted),
                    User.is_active,
                    ~User.is_system_bot,
                )
            )
        )
    else:
        rows = find_named(session, actor, wanted)
        active_ids = {row.id for row in rows.values() if row.is_active}
    for missing in sorted(wanted - active_ids):
        raise InvalidUserId(user_id=missing)


_MEMBER_IDS = select(ids_as_array(UserGroupMember.user_id))
_SUBGROUP_IDS = select(ids_as_array(Subgroup.subgroup_id))
_ANONYMOUS: Query[int, list[int], list[int]] = Query(
    select(
        UserGroup.id,
        _MEMBER_IDS.where(UserGroupMember.group_id == UserGroup.id).scalar_subquery(),
        _SUBGROUP_IDS.where(Subgroup.group_id == UserGroup.id).scalar_subquery(),
    ).where(in_parameter(UserGroup.id, "group_ids"), UserGroup.kind == "anonymous")
)
"""The anonymous groups in `:group_ids`, with their direct members and subgroups."""


def find_group_values(
    db: Db, group_ids: Iterable[int], *, visible_ids: Container[int] | None = None
) -> dict[int, GroupValue]:
    """Return group id -> value in the API, with one statement.

    `visible_ids` are the users that the reader may see, or None for all users.
    """
    values: dict[int, GroupValue] = {group_id: group_id for group_id in group_ids}
    for group_id, member_ids, subgroup_ids in _ANONYMOUS.all(db, {"group_ids": list(values)}):
        values[group_id] = {
            "direct_members": only_visible(member_ids, visible_ids),
            "direct_subgroups": subgroup_ids,
        }
    return values
