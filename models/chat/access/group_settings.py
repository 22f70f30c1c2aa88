"""Group settings: which groups each permission takes, and values between wire and database.

A value on the wire is a group's id, or an object of direct members and direct subgroups, which
becomes an anonymous group. In the database it is always one group id.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.errors import (
    GroupNotAllowed,
    InvalidUserGroup,
    InvalidUserId,
    UserGroupDeactivated,
)
from models.chat.access.membership import add_to_group
from models.chat.access.naming import find_named
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
from models.dialects import bound_in, gathered_ids, id_in
from models.prepared import Query
from models.reader import Db
from models.rows import columns_of, read_row, read_rows

GroupValue = int | dict[str, list[int]]
"""A group id, or `{"direct_members": [user ids], "direct_subgroups": [group ids]}`, sorted."""


@dataclass(frozen=True, slots=True)
class GroupSetting:
    """One permission: the system group it starts with and those it refuses or is limited to."""

    name: str
    default: str
    everyone: bool = True
    nobody: bool = True
    only: tuple[str, ...] = ()

    def allows(self, group: str) -> bool:
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
"""Default of settings that start with whoever made the channel or the group."""

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
    """Which groups each permission takes, for clients: of realms, of channels, of groups."""
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
    """The id of the group a setting's value stands for; made now if it is an anonymous one.

    `actor`: whose wish it is; None: the operator's. Raises what `check_group_value` raises.
    """
    checked = check_group_value(session, realm_id, setting, value, actor=actor)
    if isinstance(checked, int):
        return checked
    return store_anonymous_group(session, realm_id, checked, now=now)


@dataclass(frozen=True, slots=True)
class AnonymousGroup:
    """A checked value that no group holds yet; ids in order, none twice."""

    members: tuple[int, ...]
    subgroups: tuple[int, ...]


def check_group_value(
    session: Session,
    realm_id: int,
    setting: GroupSetting,
    value: int | str | Mapping[str, Any],
    *,
    actor: Actor | None,
) -> int | AnonymousGroup:
    """A setting's value, good to be stored. `actor` None: the operator, who knows everybody.

    Also takes a system group's name (`role:members`). An object of nothing but one subgroup is that
    group; an empty one is nobody. Raises `InvalidUserGroup`, `UserGroupDeactivated`,
    `InvalidUserId`, `GroupNotAllowed`.
    """
    if isinstance(value, Mapping):
        members = sorted(set(value.get("direct_members", ())))
        subgroups = sorted(set(value.get("direct_subgroups", ())))
        if members or len(subgroups) > 1:
            _check_named(session, realm_id, setting, subgroups)
            check_members(session, realm_id, members, actor=actor)
            return AnonymousGroup(tuple(members), tuple(subgroups))
        value = subgroups[0] if subgroups else NOBODY
    return check_group(session, realm_id, setting, value)


def check_group(session: Session, realm_id: int, setting: GroupSetting, group: int | str) -> int:
    """The id of a group that a setting may be set to, named by id or by name."""
    key = UserGroup.id == group if isinstance(group, int) else UserGroup.name == group
    wanted = select(*_FACTS).where(UserGroup.realm_id == realm_id, key)
    return _check_facts(setting, read_row(_Facts, session.execute(wanted)))


def _check_named(
    session: Session, realm_id: int, setting: GroupSetting, group_ids: Sequence[int]
) -> None:
    """The same for many groups, by one statement; the first one's fault is raised."""
    if not group_ids:
        return
    found = session.execute(
        select(*_FACTS).where(UserGroup.realm_id == realm_id, id_in(UserGroup.id, group_ids))
    )
    rows = {row.id: row for row in read_rows(_Facts, found)}
    for group_id in group_ids:
        _check_facts(setting, rows.get(group_id))


class _Facts(NamedTuple):
    """A group as far as it decides whether a setting may be set to it."""

    id: int
    kind: str
    name: str | None
    is_deactivated: bool


_FACTS = columns_of(_Facts, UserGroup)


def _check_facts(setting: GroupSetting, row: _Facts | None) -> int:
    """The id of a group; raises where a setting may not be set to it."""
    if row is None or row.kind == "anonymous":
        raise InvalidUserGroup()
    if row.is_deactivated:
        raise UserGroupDeactivated()
    if row.kind == "system" and not setting.allows(str(row.name)):
        raise GroupNotAllowed(setting=setting.name, group=row.name)
    return row.id


def store_anonymous_group(
    session: Session, realm_id: int, checked: AnonymousGroup, *, now: datetime
) -> int:
    """The id of a new group that holds a checked value."""
    group = UserGroup(realm_id=realm_id, kind="anonymous", date_created=now)
    session.add(group)
    session.flush()
    add_to_group(session, group.id, members=checked.members, subgroups=checked.subgroups)
    return group.id


def check_members(
    session: Session, realm_id: int, user_ids: Iterable[int], *, actor: Actor | None
) -> None:
    """Raises `InvalidUserId` for the first id that is no active user of the realm whom the actor
    may know. System bots are in no group. `actor` None: the operator, who knows everybody.
    """
    wanted = set(user_ids)
    if not wanted:
        return
    if actor is None:
        found = set(
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
        known = find_named(session, actor, wanted)
        found = {row.id for row in known.values() if row.is_active}
    for missing in sorted(wanted - found):
        raise InvalidUserId(user_id=missing)


_MEMBER_IDS = select(gathered_ids(UserGroupMember.user_id))
_SUBGROUP_IDS = select(gathered_ids(Subgroup.subgroup_id))
_ANONYMOUS: Query[int, list[int], list[int]] = Query(
    select(
        UserGroup.id,
        _MEMBER_IDS.where(UserGroupMember.group_id == UserGroup.id).scalar_subquery(),
        _SUBGROUP_IDS.where(Subgroup.group_id == UserGroup.id).scalar_subquery(),
    ).where(bound_in(UserGroup.id, "group_ids"), UserGroup.kind == "anonymous")
)
"""Those of the groups that are anonymous, with their direct members and subgroups."""


def find_group_values(
    db: Db, group_ids: Iterable[int], *, known_ids: Container[int] | None = None
) -> dict[int, GroupValue]:
    """Group id -> value on the wire, for as many settings as one likes, in one statement.

    `known_ids`: the only users that its reader may know; None: everybody.
    """
    values: dict[int, GroupValue] = {group_id: group_id for group_id in group_ids}
    asked = {"group_ids": list(values)}
    for group_id, member_ids, subgroup_ids in _ANONYMOUS.all(db, asked):
        values[group_id] = {
            "direct_members": [
                user_id for user_id in member_ids if known_ids is None or user_id in known_ids
            ],
            "direct_subgroups": subgroup_ids,
        }
    return values
