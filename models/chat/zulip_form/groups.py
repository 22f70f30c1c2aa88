"""User groups of Zulip's export, and permissions of groups."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from models.chat.access.group_settings import CREATOR, USER_GROUP_GROUPS, GroupSetting
from models.chat.identity.roles import (
    ADMINISTRATORS,
    DIRECT_GROUPS,
    EVERYONE,
    FULL_MEMBERS,
    MEMBERS,
    MODERATORS,
    NOBODY,
    OWNERS,
    SYSTEM_GROUPS,
    Role,
)
from models.chat.zulip_form.fitting import Changes, UniqueNames
from models.chat.zulip_form.people import People
from models.chat.zulip_form.rows import Source, ZulipRow, rows_of
from models.json import Json

GROUPS, NAMED = "zerver_usergroup", "zerver_namedusergroup"
POLICY: Mapping[int, str] = {
    1: MEMBERS, 2: ADMINISTRATORS, 3: FULL_MEMBERS, 4: MODERATORS, 5: EVERYONE, 6: NOBODY,
    7: OWNERS,
}  # fmt: skip
"""Groups by the numbers of the older permission settings."""
WILDCARD_POLICY: Mapping[int, str] = {
    1: EVERYONE, 2: MEMBERS, 3: FULL_MEMBERS, 5: ADMINISTRATORS, 6: NOBODY, 7: MODERATORS,
}  # fmt: skip
BOT_POLICY: Mapping[int, str] = {1: MEMBERS, 2: ADMINISTRATORS, 3: ADMINISTRATORS}
POST_POLICY: Mapping[int, str] = {1: EVERYONE, 2: ADMINISTRATORS, 3: FULL_MEMBERS, 4: MODERATORS}
OLDER: Mapping[str, tuple[str, Mapping[int, str]]] = {
    "can_add_custom_emoji_group": ("add_custom_emoji_policy", POLICY),
    "can_add_subscribers_group": ("invite_to_stream_policy", POLICY),
    "can_create_bots_group": ("bot_creation_policy", BOT_POLICY),
    "can_create_groups": ("user_group_edit_policy", POLICY),
    "can_delete_own_message_group": ("delete_own_message_policy", POLICY),
    "can_invite_users_group": ("invite_to_realm_policy", POLICY),
    "can_mention_many_users_group": ("wildcard_mention_policy", WILDCARD_POLICY),
    "can_move_messages_between_channels_group": ("move_messages_between_streams_policy", POLICY),
    "can_move_messages_between_topics_group": ("edit_topic_policy", POLICY),
    "can_send_message_group": ("stream_post_policy", POST_POLICY),
}
"""Permission -> the older field for it, and the groups by the field's numbers."""
_HIGHEST = 1 << 62


class Groups:
    """All groups by id. Groups for roles exist in every organization; missing ones get new ids."""

    def __init__(self, source: Source, changes: Changes, people: People) -> None:
        self._source, self._changes, self._people = source, changes, people
        self._names: dict[int, str] = {}
        self.system: dict[str, int] = {}
        """Name -> id of the groups for roles."""
        ids = set()
        for row in rows_of(source, GROUPS):
            group_id = row.integer("id")
            if not 0 < group_id < _HIGHEST:
                raise row.refuse("id is no id")
            ids.add(group_id)
        for row in rows_of(source, NAMED):
            group_id = row.integer("usergroup_ptr")
            if group_id not in ids:
                raise row.refuse("usergroup_ptr refers to no group")
            name = row.text("name")
            self._names[group_id] = name
            if name in SYSTEM_GROUPS and row.flag("is_system_group", False):
                if name in self.system:
                    raise row.refuse("the group of a role is there twice")
                self.system[name] = group_id
        self._made = [name for name in SYSTEM_GROUPS if name not in self.system]
        for number, name in enumerate(self._made, max(ids, default=0) + 1):
            self.system[name] = number
        self._system_names = {group_id: name for name, group_id in self.system.items()}
        self._ids = ids | self._system_names.keys()

    def permission(self, row: ZulipRow, setting: GroupSetting) -> int:
        """Return the group that has a permission."""
        if row.has(setting.name):
            group_id = row.integer(setting.name)
            if group_id not in self._ids:
                raise row.refuse(f"{setting.name} refers to group {group_id}, which is not there")
            name = self._system_names.get(group_id)
            if name is None or setting.allows(name):
                return group_id
            self._changes.note(row.table, f"{setting.name} cannot be {name} here")
        elif setting.name in OLDER:
            field, groups = OLDER[setting.name]
            name = groups.get(row.integer(field, 0))
            if name is not None and setting.allows(name):
                return self.system[name]
        return self.system[NOBODY if setting.default == CREATOR else setting.default]

    # --- rows of the archive ----------------------------------------------------------------------

    def groups(self, realm_id: int, founded: str) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `user_group`."""
        named = {row.integer("usergroup_ptr"): row for row in rows_of(self._source, NAMED)}
        names = UniqueNames(self._changes, NAMED, 100)
        for name in SYSTEM_GROUPS:
            names.take(name)
        for group_id in sorted(self._ids):
            common = {
                "id": group_id,
                "realm_id": realm_id,
                "description": "",
                "creator_id": None,
                "date_created": founded,
                "is_deactivated": False,
            }
            role = self._system_names.get(group_id)
            row = named.get(group_id)
            if role is not None:
                yield {
                    **common,
                    "kind": "system",
                    "name": role,
                    "description": SYSTEM_GROUPS[role],
                    **dict.fromkeys(USER_GROUP_GROUPS, self.system[NOBODY]),
                    "can_mention_group": self.system[EVERYONE],
                }
            elif row is None:
                yield {
                    **common, "kind": "anonymous", "name": None,
                    **dict.fromkeys(USER_GROUP_GROUPS, 0),
                }  # fmt: skip
            else:
                description = row.text("description", "")
                yield {
                    **common,
                    "kind": "named",
                    "name": names.take(row.text("name")),
                    "description": self._changes.short(NAMED, description, 1024),
                    "creator_id": self._people.find_or_none(row, "creator"),
                    "date_created": row.time_or_none("date_created") or founded,
                    "is_deactivated": row.flag("deactivated", False),
                    **{
                        name: self.permission(row, setting)
                        for name, setting in USER_GROUP_GROUPS.items()
                    },
                }

    def members(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `user_group_member`. Members of the groups for roles follow from the
        roles.
        """
        for row in rows_of(self._source, "zerver_usergroupmembership"):
            group_id = self._find(row, "user_group")
            user_id = self._people.find(row, "user_profile")
            if group_id not in self._system_names and self._people.is_own(user_id):
                yield {"group_id": group_id, "user_id": user_id}
        roles = {user_id: person.role for user_id, person in self._people.by_id.items()}
        for user_id, role in sorted({**roles, self._people.bot_id: Role.MEMBER}.items()):
            for name in DIRECT_GROUPS.get(Role(role), ()):
                yield {"group_id": self.system[name], "user_id": user_id}

    def subgroups(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `subgroup`. Each group for a role contains the next group."""
        for row in rows_of(self._source, "zerver_groupgroupmembership"):
            group_id, subgroup_id = self._find(row, "supergroup"), self._find(row, "subgroup")
            if group_id == subgroup_id:
                raise row.refuse("the group is in itself")
            if group_id not in self._system_names:
                yield {"group_id": group_id, "subgroup_id": subgroup_id}
        chain = [group_id for name, group_id in self._in_order() if name != NOBODY]
        for wider, narrower in pairwise(chain):
            yield {"group_id": wider, "subgroup_id": narrower}

    def _in_order(self) -> Iterator[tuple[str, int]]:
        for name in SYSTEM_GROUPS:
            yield name, self.system[name]

    def _find(self, row: ZulipRow, name: str) -> int:
        group_id = row.integer(name)
        if group_id not in self._ids:
            raise row.refuse(f"{name} refers to group {group_id}, which is not there")
        return group_id

    def names(self) -> Mapping[int, str]:
        """Return the names of user-defined groups, by id."""
        return {
            group_id: name
            for group_id, name in self._names.items()
            if group_id not in self._system_names
        }
