"""Events of users and user groups."""

from collections.abc import Sequence
from typing import Required, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject


class RealmUserAddEvent(ClientEvent, type="realm_user", op="add"):
    """A user was created. Sent to all users who may see the user.

    `person` comes from `models.chat.people.view.describe_new_user`.
    """

    person: WireObject


class FieldValue(TypedDict, total=False):
    """A user's value of a custom profile field; null clears the value.

    `rendered_value` is HTML and comes only with text fields.
    """

    id: Required[int]
    value: Required[str | None]
    rendered_value: str


class PersonChange(TypedDict, total=False):
    """One change of a user: a single field, or the four avatar fields.

    `delivery_email` is null for users who may no longer see the real email.
    """

    full_name: str
    role: int
    is_active: bool
    is_deleted: bool
    timezone: str
    bot_owner_id: int
    delivery_email: str | None
    new_email: str
    avatar_source: str
    avatar_url: str
    avatar_url_medium: str
    avatar_version: int
    custom_profile_field: FieldValue


class Person(PersonChange):
    """A user and the change."""

    user_id: Required[int]


class RealmUserUpdateEvent(ClientEvent, type="realm_user", op="update"):
    """A user has changed. Sent to all users who may see the user and the change."""

    person: Person


class RealmBotAddEvent(ClientEvent, type="realm_bot", op="add"):
    """A bot was created, or got new managers. Sent to those managers: its owner and the
    administrators.

    `bot` comes from `models.chat.people.bots.describe_bot`.
    """

    bot: WireObject


class BotService(TypedDict):
    """The address of an outgoing webhook. `interface` is 1 for the service's format and 2 for
    Slack's.
    """

    base_url: str
    interface: int


class BotChange(TypedDict, total=False):
    """The changed properties of a bot."""

    full_name: str
    email: str
    avatar_url: str
    is_active: bool
    owner_id: int
    services: Sequence[BotService]


class ChangedBot(BotChange):
    """A bot and the change."""

    user_id: Required[int]


class RealmBotUpdateEvent(ClientEvent, type="realm_bot", op="update"):
    """A bot has changed. Sent to the users who manage it."""

    bot: ChangedBot


class BotId(TypedDict):
    """The id of a bot."""

    user_id: int


class RealmBotDeleteEvent(ClientEvent, type="realm_bot", op="delete"):
    """Users no longer manage a bot, because it has a new owner or they are no longer
    administrators. Sent to those users. The bot may still exist.
    """

    bot: BotId


class UserGroupAddEvent(ClientEvent, type="user_group", op="add"):
    """A user group was created. Sent to all users.

    `group` comes from `models.chat.access.groups.find_groups`.
    """

    group: WireObject


class UserGroupAddMembersEvent(ClientEvent, type="user_group", op="add_members"):
    """Users were added to a named or system group. Sent to all users."""

    group_id: int
    user_ids: Sequence[int]


class UserGroupRemoveMembersEvent(ClientEvent, type="user_group", op="remove_members"):
    """Users were removed from a named or system group. Sent to all users."""

    group_id: int
    user_ids: Sequence[int]


class UserGroupAddSubgroupsEvent(ClientEvent, type="user_group", op="add_subgroups"):
    """Groups became subgroups of a named group. Sent to all users."""

    group_id: int
    direct_subgroup_ids: Sequence[int]


class UserGroupRemoveSubgroupsEvent(ClientEvent, type="user_group", op="remove_subgroups"):
    """Groups are no longer subgroups of a named group. Sent to all users."""

    group_id: int
    direct_subgroup_ids: Sequence[int]


class UserGroupUpdateEvent(
    ClientEvent, type="user_group", op="update", internal=("is_hidden", "group")
):
    """A named group was changed, deactivated or reactivated. Sent to all users.

    `data` contains the new values by name. `is_hidden` is set if the group is or was deactivated,
    so that older clients do not have it. `group` is the reactivated group, which older clients get
    as a new group.
    """

    group_id: int
    data: WireObject
    is_hidden: bool | Absent = ABSENT
    group: WireObject | Absent = ABSENT


class UserGroupRemoveEvent(ClientEvent, type="user_group", op="remove"):
    """A named group was deactivated. Sent to clients without support for deactivated groups,
    instead of `UserGroupUpdateEvent`.
    """

    group_id: int


class UserStatusEvent(ClientEvent, type="user_status"):
    """A user changed their status. Sent to all users. Unchanged fields are absent.

    An empty `status_text` clears the text. Three empty strings clear the emoji.
    """

    user_id: int
    away: bool | Absent = ABSENT
    status_text: str | Absent = ABSENT
    emoji_name: str | Absent = ABSENT
    emoji_code: str | Absent = ABSENT
    reaction_type: str | Absent = ABSENT
